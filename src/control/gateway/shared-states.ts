import type { Knex } from "knex";
import {
  CallerTurns,
  currentCaller,
  forAllCallers,
  type Caller,
  type RefusedTurn,
} from "../../storage/index.ts";
import type { SerializedData } from "../platform/frame/serialized.ts";
import { parseCursor, type ParsedCursor } from "./cursor.ts";
import { parsePageCursor } from "./page-cursor.ts";
import {
  PAGE_CHANGES,
  readChanges,
  readCompletePage,
  readCompleteState,
  type GatewayState,
} from "./read-state.ts";
import { serializeState } from "./serialize-state.ts";

/** A serialized state for any number of gateways. */
export interface SharedState extends Pick<GatewayState, "cursor" | "complete" | "more" | "end"> {
  readonly data: SerializedData;
}

export interface SharedStatesOptions {
  readonly db: Knex;
  /** Unix ms. */
  readonly clock: () => number;
  /** Maximum number of changes per response, and of entries per page of the complete state. */
  readonly pageChanges?: number;
  /** Called for each read that gets no turn. Default: nobody hears of it. */
  readonly onRefusedTurn?: (refused: RefusedTurn) => void;
  /** Maximum time that a read waits for its turn, in milliseconds. Default: 30 s. */
  readonly longestTurnMs?: number;
}

/** The limits of states kept for gateways that poll a little later. States that are still being read do not count. */
const KEPT_BYTES = 16 * 1024 * 1024;
const KEPT_ANSWERS = 100;

/** Reads at once, of which one caller has at most two: none of its requests can keep changes from the others. */
const READS_AT_ONCE = 3;
/** As long as a statement may take. */
const LONGEST_TURN_MS = 30_000;
/** For reads that no request asks for. */
const NOBODY: Caller = { id: "", signal: new AbortController().signal };

/** The keys of the complete state, and of its first page, in place of a cursor. */
const COMPLETE = "";
const FIRST_PAGE = "p";

interface Entry {
  readonly state: Promise<SharedState | undefined>;
  /** 0 while it is being read. */
  bytes: number;
  /** A full page, which later commits do not change. */
  isFull: boolean;
  /** Counts reads in the order in which they began. */
  readonly number: number;
}

type Read = () => Promise<GatewayState | undefined>;

/**
 * Reads and serializes each state once for all gateways that ask for it. A response depends only on the position in the
 * cursor: keys that are limited to one customer cannot use the feed, and each environment has its own object. The rest of a
 * cursor only decides whether a response is new enough, and is not part of the key. Whoever invents cursors of pages, or asks for
 * many positions, causes reads that nobody shares: so callers take turns to begin one.
 *
 * Sharing never moves a gateway back in time. Changes after a cursor are read after the cursor was issued. The last page,
 * or an empty one, may be out of date after a commit, so it is kept only for its generation. The complete state is always
 * read after it was requested.
 */
export class SharedStates {
  readonly #db: Knex;
  readonly #clock: () => number;
  readonly #pageChanges: number;
  readonly #entries = new Map<string, Entry>();
  readonly #turns: CallerTurns;
  #generation = 0;
  /** How many reads have begun. */
  #begun = 0;

  constructor({ db, clock, pageChanges = PAGE_CHANGES, ...turns }: SharedStatesOptions) {
    const { onRefusedTurn, longestTurnMs = LONGEST_TURN_MS } = turns;
    this.#turns = new CallerTurns({
      atOnce: READS_AT_ONCE,
      longestMs: longestTurnMs,
      // many gateways may have one key, and most of those that wait share what the first of them reads
      mostWaiting: Number.POSITIVE_INFINITY,
      ...(onRefusedTurn !== undefined && { onRefused: onRefusedTurn }),
    });
    this.#db = db;
    this.#clock = clock;
    this.#pageChanges = pageChanges;
  }

  /**
   * @param after - the cursor of the gateway's last response
   * @param generation - of `ChangeSignal`: a new number if there may be changes
   * @param options.fresh - uses no state whose reading began before this call
   * @param options.pages - whether a complete state may come in pages
   * @returns the changes after the cursor; the complete state if they cannot be determined
   */
  async read(
    after: string | undefined,
    generation: number,
    { fresh, pages }: { readonly fresh: boolean; readonly pages: boolean },
  ): Promise<SharedState> {
    if (generation !== this.#generation) this.#begins(generation);
    const cursor = after === undefined ? undefined : parseCursor(after);
    const found =
      (cursor && (await this.#changes(cursor, fresh))) ?? (pages && after && (await this.#page(after)));
    if (found) return found;
    const now = new Date(this.#clock());
    const state = pages
      ? await this.#once(FIRST_PAGE, true, () =>
          readCompletePage(this.#db, now, undefined, this.#pageChanges),
        )
      : await this.#once(COMPLETE, true, () => readCompleteState(this.#db, now));
    if (state === undefined) throw new Error("there is always a complete state");
    return state;
  }

  /** A page that was read before serves as well: what has changed since the first one is read after the last. */
  async #page(after: string): Promise<SharedState | undefined> {
    const place = parsePageCursor(after);
    if (place === undefined) return undefined;
    const now = new Date(this.#clock());
    return this.#once(after, false, () => readCompletePage(this.#db, now, place, this.#pageChanges));
  }

  async #changes({ place, seenThrough }: ParsedCursor, fresh: boolean): Promise<SharedState | undefined> {
    const key = `${place.seq}.${place.tag}`;
    const read = () => readChanges(this.#db, place, this.#pageChanges);
    let changes = await this.#once(key, fresh, read);
    // read before what the gateway has already seen
    if (changes !== undefined && changes.end < seenThrough && !fresh)
      changes = await this.#once(key, true, read);
    // the database has fewer changes than the gateway has seen: it was restored, or the cursor is made up
    return changes !== undefined && changes.end >= seenThrough ? changes : undefined;
  }

  #begins(generation: number): void {
    this.#generation = generation;
    for (const [key, { isFull }] of this.#entries) if (!isFull) this.#entries.delete(key);
  }

  async #once(key: string, fresh: boolean, read: Read): Promise<SharedState | undefined> {
    const since = fresh ? this.#begun : -1;
    for (;;) {
      const known = this.#entries.get(key);
      if (known !== undefined && known.number > since) return known.state;
      if (known?.bytes === 0) {
        // all that ask while it is being read share the next one
        await known.state.catch(() => undefined);
        continue;
      }
      const end = await this.#turns.take(currentCaller() ?? NOBODY);
      try {
        // unless another one has begun to read it meanwhile
        if (this.#entries.get(key) === known) return await this.#begin(key, read);
      } finally {
        end();
      }
    }
  }

  #begin(key: string, read: Read): Promise<SharedState | undefined> {
    this.#begun += 1;
    // others wait for it, and not for what else its caller has asked for
    const state = forAllCallers(read).then(sharedOf);
    const entry: Entry = { state, bytes: 0, isFull: false, number: this.#begun };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.state.then(
      (state) => {
        // a position that cannot be resumed from must not displace others
        if (state === undefined) {
          this.#forget(key, entry);
          return;
        }
        entry.bytes = key.length + bytesOf(state);
        entry.isFull = state.more === true;
        // another generation may have begun meanwhile
        if (entry.isFull && !this.#entries.has(key)) this.#entries.set(key, entry);
        this.#forgetOldest();
      },
      () => {
        // a failed read is repeated
        this.#forget(key, entry);
      },
    );
    return entry.state;
  }

  #forget(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  #forgetOldest(): void {
    let bytes = 0;
    let answers = 0;
    for (const [key, entry] of [...this.#entries].reverse()) {
      if (entry.bytes === 0) continue;
      bytes += entry.bytes;
      answers += 1;
      if (bytes > KEPT_BYTES || answers > KEPT_ANSWERS) this.#entries.delete(key);
    }
  }
}

async function sharedOf(state: GatewayState | undefined): Promise<SharedState | undefined> {
  if (state === undefined) return undefined;
  const { cursor, complete, more, end } = state;
  return { cursor, complete, end, ...(more && { more }), data: await serializeState(state) };
}

function bytesOf({ data }: SharedState): number {
  return data.json.length + (data.gzip?.length ?? 0);
}

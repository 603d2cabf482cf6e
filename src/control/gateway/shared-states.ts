import type { Knex } from "knex";
import type { SerializedData } from "../platform/frame/serialized.ts";
import { parseCursor, type ParsedCursor } from "./cursor.ts";
import { PAGE_CHANGES, readChanges, readCompleteState, type GatewayState } from "./read-state.ts";
import { serializeState } from "./serialize-state.ts";

/** A serialized state for any number of gateways. */
export interface SharedState extends Pick<GatewayState, "cursor" | "complete" | "more" | "end"> {
  readonly data: SerializedData;
}

export interface SharedStatesOptions {
  readonly db: Knex;
  /** Unix ms. */
  readonly clock: () => number;
  /** Maximum number of changes per response. */
  readonly pageChanges?: number;
}

/** The limits of states kept for gateways that poll a little later. States that are still being read do not count. */
const KEPT_BYTES = 16 * 1024 * 1024;
const KEPT_ANSWERS = 100;

/** The key of the complete state, in place of a cursor. */
const COMPLETE = "";

interface Entry {
  readonly state: Promise<SharedState | undefined>;
  /** 0 while it is being read. */
  bytes: number;
  /** A full page, which later commits do not change. */
  isFull: boolean;
  /** The read that begins when this one has ended. */
  next?: Promise<SharedState | undefined>;
}

type Read = () => Promise<GatewayState | undefined>;

/**
 * Reads and serializes each state once for all gateways that ask for it. A response depends only on the position in the
 * cursor: keys that are limited to one customer cannot use the feed, and each environment has its own object. The rest of a
 * cursor only decides whether a response is new enough, and is not part of the key: made-up cursors cause no more reads.
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
  #generation = 0;

  constructor({ db, clock, pageChanges = PAGE_CHANGES }: SharedStatesOptions) {
    this.#db = db;
    this.#clock = clock;
    this.#pageChanges = pageChanges;
  }

  /**
   * @param after - the cursor of the gateway's last response
   * @param generation - of `ChangeSignal`: a new number if there may be changes
   * @param fresh - uses no state whose reading began before this call
   * @returns the changes after the cursor; the complete state if they cannot be determined
   */
  async read(after: string | undefined, generation: number, fresh: boolean): Promise<SharedState> {
    if (generation !== this.#generation) this.#begins(generation);
    const cursor = after === undefined ? undefined : parseCursor(after);
    const changes = cursor && (await this.#changes(cursor, fresh));
    if (changes !== undefined) return changes;
    const state = await this.#once(COMPLETE, true, () =>
      readCompleteState(this.#db, new Date(this.#clock())),
    );
    if (state === undefined) throw new Error("there is always a complete state");
    return state;
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

  #once(key: string, fresh: boolean, read: Read): Promise<SharedState | undefined> {
    const known = this.#entries.get(key);
    if (known === undefined) return this.#begin(key, read);
    if (!fresh) return known.state;
    if (known.bytes > 0) return this.#begin(key, read);
    // all that ask while this one is being read share the next one
    const begin = () => this.#begin(key, read);
    return (known.next ??= known.state.then(begin, begin));
  }

  #begin(key: string, read: Read): Promise<SharedState | undefined> {
    const entry: Entry = { state: read().then(sharedOf), bytes: 0, isFull: false };
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

import type { Knex } from "knex";
import type { SerializedData } from "../platform/frame/serialized.ts";
import { parseCursor, type ParsedCursor } from "./cursor.ts";
import { PAGE_CHANGES, readChanges, readCompleteState, type GatewayState } from "./read-state.ts";
import { serializeState } from "./serialize-state.ts";

/** A state as any number of followers are told it. */
export interface SharedState extends Pick<GatewayState, "cursor" | "complete" | "more" | "end"> {
  readonly data: SerializedData;
}

export interface SharedStatesOptions {
  readonly db: Knex;
  /** Unix ms. */
  readonly clock: () => number;
  /** Changes in one answer. */
  readonly pageChanges?: number;
}

/** What is kept for followers that come a little later; what is being read for some that wait is not bounded by it. */
const KEPT_BYTES = 16 * 1024 * 1024;
const KEPT_ANSWERS = 100;

/** In place of a cursor. */
const COMPLETE = "";

interface Entry {
  readonly state: Promise<SharedState | undefined>;
  /** 0 while it is being read. */
  bytes: number;
  /** A page that others follow stays what it is, whatever is committed. */
  isFull: boolean;
  /** The read that begins when this one has ended. */
  next?: Promise<SharedState | undefined>;
}

type Read = () => Promise<GatewayState | undefined>;

/**
 * Reads and serializes once what any number of followers ask. An answer depends on nothing but the place of the cursor: keys that
 * are limited to one customer do not get here, and each environment has an object of its own. What else a cursor says decides
 * whether an answer is new enough, and has no entry of its own: inventing cursors causes no additional reads.
 *
 * Sharing takes nobody back in time. What came after a cursor was read when it had been given out. Where a page ends what there is,
 * or there is nothing, that may have become wrong: it is kept no longer than its generation. The complete state is always read
 * after it was asked for.
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
   * @param after - the cursor of the follower's last answer
   * @param generation - of {@link ChangeSignal}: another number where there may be something new
   * @param fresh - takes no answer whose reading began before this question
   * @returns what came after the cursor; the complete state where that cannot be told
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
    // read before what the follower has seen
    if (changes !== undefined && changes.end < seenThrough && !fresh)
      changes = await this.#once(key, true, read);
    // the database holds less than the follower says: it was restored, or the cursor is none
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
    // all who ask while it is being read share the next one
    const begin = () => this.#begin(key, read);
    return (known.next ??= known.state.then(begin, begin));
  }

  #begin(key: string, read: Read): Promise<SharedState | undefined> {
    const entry: Entry = { state: read().then(sharedOf), bytes: 0, isFull: false };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.state.then(
      (state) => {
        // a place that nobody can go on from takes no room from those where others do
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
        // what failed is read again
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

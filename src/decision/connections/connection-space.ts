import type { AccessRequest } from "../types.ts";

/** What the handshake of one connection may take on average; most take less than 4 KiB. */
const MEAN_BYTES = 8_192;
/** However few connections may be open, each may have long cookies. */
const LEAST_BYTES = 1_048_576;
/** Of each header and of the rest, besides its text. */
const OVERHEAD_BYTES = 64;

/** @returns about how many bytes of memory a handshake takes that is kept to be evaluated again */
export function bytesOf({ raw }: AccessRequest): number {
  let bytes = OVERHEAD_BYTES + raw.target.length + raw.host.length + (raw.body?.bytes.length ?? 0);
  for (const [name, value] of raw.headers) bytes += OVERHEAD_BYTES + name.length + value.length;
  return bytes;
}

/**
 * The memory that handshakes take, of all connections and of each holder: as many as may be open, with 8 KiB each on
 * average. Any header may be read by the next policy set, so all of them are kept.
 */
export class ConnectionSpace {
  readonly #most: number;
  readonly #mostOfHolder: number;
  readonly #ofHolder = new Map<string, number>();
  #taken = 0;

  /**
   * @param capacity - connections
   * @param ofHolder - of one holder; absent: no bound
   */
  constructor(capacity: number, ofHolder = Infinity) {
    this.#most = Math.max(LEAST_BYTES, capacity * MEAN_BYTES);
    this.#mostOfHolder = Math.max(LEAST_BYTES, ofHolder * MEAN_BYTES);
  }

  hasRoomFor(bytes: number): boolean {
    return this.#taken + bytes <= this.#most;
  }

  /** Whether the holder's part has room. */
  isWithinLimit(holder: string, bytes: number): boolean {
    return (this.#ofHolder.get(holder) ?? 0) + bytes <= this.#mostOfHolder;
  }

  /** @param bytes - negative where they are given back */
  add(holder: string | undefined, bytes: number): void {
    this.#taken += bytes;
    if (holder === undefined) return;
    const ofHolder = (this.#ofHolder.get(holder) ?? 0) + bytes;
    if (ofHolder > 0) this.#ofHolder.set(holder, ofHolder);
    else this.#ofHolder.delete(holder);
  }
}

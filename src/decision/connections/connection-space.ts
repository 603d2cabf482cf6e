import type { AccessRequest } from "../types.ts";

/** Average memory per connection's handshake; most take less than 4 KiB. */
const MEAN_BYTES = 8_192;
/** The minimum, because each connection may have long cookies, however few may be open. */
const LEAST_BYTES = 1_048_576;
/** Overhead per header and for the rest, besides the text. */
const OVERHEAD_BYTES = 64;

/** @returns the approximate memory, in bytes, of a handshake that is kept for reevaluation */
export function bytesOf({ raw, ofConnection }: AccessRequest): number {
  let bytes = OVERHEAD_BYTES + raw.target.length + raw.host.length + (raw.body?.bytes.length ?? 0);
  if (ofConnection !== undefined && "token" in ofConnection)
    bytes += OVERHEAD_BYTES + ofConnection.token.length;
  for (const [name, value] of raw.headers) bytes += OVERHEAD_BYTES + name.length + value.length;
  return bytes;
}

/**
 * Limits the memory for handshakes, in total and per holder: the maximum number of connections at 8 KiB each on
 * average. All headers are kept, because the next policy set may read any of them.
 */
export class ConnectionSpace {
  readonly #most: number;
  readonly #mostOfHolder: number;
  readonly #ofHolder = new Map<string, number>();
  #taken = 0;

  /**
   * @param capacity - connections
   * @param ofHolder - of one holder; absent: no limit
   */
  constructor(capacity: number, ofHolder = Infinity) {
    this.#most = Math.max(LEAST_BYTES, capacity * MEAN_BYTES);
    this.#mostOfHolder = Math.max(LEAST_BYTES, ofHolder * MEAN_BYTES);
  }

  hasRoomFor(bytes: number): boolean {
    return this.#taken + bytes <= this.#most;
  }

  /** Whether the holder's share has room. */
  isWithinLimit(holder: string, bytes: number): boolean {
    return (this.#ofHolder.get(holder) ?? 0) + bytes <= this.#mostOfHolder;
  }

  /** @param bytes - negative to release memory */
  add(holder: string | undefined, bytes: number): void {
    this.#taken += bytes;
    if (holder === undefined) return;
    const ofHolder = (this.#ofHolder.get(holder) ?? 0) + bytes;
    if (ofHolder > 0) this.#ofHolder.set(holder, ofHolder);
    else this.#ofHolder.delete(holder);
  }
}

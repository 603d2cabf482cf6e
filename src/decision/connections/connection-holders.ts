import type { AccessRequest } from "../types.ts";
import type { ConnectionCounts } from "./connection-counts.ts";
import { bytesOf, ConnectionSpace } from "./connection-space.ts";

/** Limits the connections of each holder by number, and all of them by the memory for their handshakes. */
export class ConnectionHolders {
  readonly #space: ConnectionSpace;
  readonly #perHolder: { readonly limit: number; readonly counts: ConnectionCounts } | undefined;

  /** @param capacity - connections */
  constructor(capacity: number, perHolder?: { readonly limit: number; readonly counts: ConnectionCounts }) {
    this.#space = new ConnectionSpace(capacity, perHolder?.limit);
    this.#perHolder = perHolder;
  }

  hasRoomFor(bytes: number): boolean {
    return this.#space.hasRoomFor(bytes);
  }

  /** Whether the holder may have one more. */
  isWithinLimit(holder: string | undefined, access?: AccessRequest): boolean {
    if (this.#perHolder === undefined || holder === undefined) return true;
    if (access !== undefined && !this.#space.isWithinLimit(holder, bytesOf(access))) return false;
    return this.#perHolder.counts.of(holder) < this.#perHolder.limit;
  }

  /** One connection more, or less. */
  count(holder: string | undefined, change: 1 | -1, bytes: number): void {
    this.#space.add(holder, change * bytes);
    if (holder !== undefined) this.#perHolder?.counts.add(holder, change);
  }
}

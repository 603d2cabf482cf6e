/** Remembers the most recent ids in bounded memory. */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #most: number;

  /** @param most - the maximum number; the oldest is evicted first */
  constructor(most: number) {
    this.#most = most;
  }

  add(id: string): void {
    // move a repeated id to the end: a Set keeps insertion order
    this.#ids.delete(id);
    this.#ids.add(id);
    if (this.#ids.size <= this.#most) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}

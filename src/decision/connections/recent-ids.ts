/** Remembers the last ids that it was given, in bounded memory. */
export class RecentIds {
  readonly #ids = new Set<string>();
  readonly #most: number;

  /** @param most - how many; the oldest gives way to one more */
  constructor(most: number) {
    this.#most = most;
  }

  add(id: string): void {
    // what is named again is new again: a Set keeps the order of insertion
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

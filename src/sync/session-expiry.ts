const BUCKET_MS = 60_000;

/** When sessions may be dropped, indexed by minute, so that finding the due ones does not scan the others. */
export class SessionExpiry {
  readonly #buckets = new Map<number, string[]>();

  add(session: string, at: number): void {
    const bucket = Math.ceil(at / BUCKET_MS);
    const sessions = this.#buckets.get(bucket);
    if (sessions === undefined) this.#buckets.set(bucket, [session]);
    else sessions.push(session);
  }

  /** Removes and returns the sessions that are due. */
  takeDue(now: number): string[] {
    const due = [...this.#buckets.keys()].filter((bucket) => bucket * BUCKET_MS <= now);
    return due.flatMap((bucket) => {
      const sessions = this.#buckets.get(bucket) ?? [];
      this.#buckets.delete(bucket);
      return sessions;
    });
  }

  clear(): void {
    this.#buckets.clear();
  }
}

/** Followers that are answered before whatever else waits in the event loop has its turn. */
const AT_ONCE = 8;

/** Lets callers go on in the order in which they came, a few in each turn of the event loop. */
export class TurnQueue {
  #waiting: (() => void)[] = [];

  take(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#next);
    });
  }

  readonly #next = (): void => {
    const now = this.#waiting.slice(0, AT_ONCE);
    this.#waiting = this.#waiting.slice(AT_ONCE);
    if (this.#waiting.length > 0) setImmediate(this.#next);
    for (const goOn of now) goOn();
  };
}

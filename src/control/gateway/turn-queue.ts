/** How many continue per turn of the event loop. */
const AT_ONCE = 8;

/** Lets callers continue in the order of their calls, a few per turn of the event loop. */
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

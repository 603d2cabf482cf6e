/**
 * What searches may still cost, counted in evaluations and the like. Searches that share one are bounded together: the
 * later ones are undecided once it is used up.
 */
export class Effort {
  #left: number;
  readonly #whole: Effort | undefined;

  /** @param whole - of which this is a part: what is spent here is spent there, too */
  constructor(limit: number, whole?: Effort) {
    this.#left = limit;
    this.#whole = whole;
  }

  /** @returns whether there was enough left */
  spend(cost: number): boolean {
    this.#left -= cost;
    return this.#left >= 0 && this.#whole?.spend(cost) !== false;
  }
}

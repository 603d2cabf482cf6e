import { LRUCache } from "lru-cache";
import { RateBudget, type RateBudgetOptions } from "./rate-budget.ts";

export interface SharedBudgetOptions {
  readonly total: RateBudgetOptions;
  readonly perSource: RateBudgetOptions;
}

/** Sources whose use is remembered. A forgotten one has its whole share again; the total still counts. */
const MOST_SOURCES = 10_000;

/** A budget for all sources together, of which no source gets more than its share. */
export class SharedBudget {
  readonly #total: RateBudget;
  readonly #perSource: RateBudgetOptions;
  readonly #sources = new LRUCache<string, RateBudget>({ max: MOST_SOURCES });

  constructor({ total, perSource }: SharedBudgetOptions) {
    this.#total = new RateBudget(total);
    this.#perSource = perSource;
  }

  /** @returns false if nothing is left of the source's share, or in total */
  take(source: string): boolean {
    let share = this.#sources.get(source);
    if (share === undefined) this.#sources.set(source, (share = new RateBudget(this.#perSource)));
    return share.take() && this.#total.take();
  }
}

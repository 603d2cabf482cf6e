/** Granularities of rollups, and how long each period is; days are UTC's. */
export const PERIOD_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Granularity = keyof typeof PERIOD_MS;

/** What was counted under one key. */
export interface Tallied {
  /** Start of the period, Unix ms. */
  readonly start: number;
  readonly key: readonly string[];
  readonly counts: number[];
}

/** Counts by period and key, in memory. */
export class Tally {
  readonly #periodMs: number;
  readonly #rows = new Map<string, Tallied>();

  /** @param granularity - `undefined`: all times are one period */
  constructor(granularity?: Granularity) {
    this.#periodMs = granularity === undefined ? Number.POSITIVE_INFINITY : PERIOD_MS[granularity];
  }

  /**
   * @param at - Unix ms
   * @param key - texts without U+0000
   */
  add(at: number, key: readonly string[], counts: readonly number[]): void {
    const start = periodStart(at, this.#periodMs);
    const id = `${start}\0${key.join("\0")}`;
    const row = this.#rows.get(id);
    if (row === undefined) this.#rows.set(id, { start, key, counts: [...counts] });
    else for (const [index, count] of counts.entries()) row.counts[index] = (row.counts[index] ?? 0) + count;
  }

  /** The same by a longer period. */
  by(granularity: Granularity): Tally {
    const tally = new Tally(granularity);
    for (const { start, key, counts } of this.#rows.values()) tally.add(start, key, counts);
    return tally;
  }

  /** In one order, whatever the order of the additions. */
  rows(): readonly Tallied[] {
    return [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }
}

function periodStart(at: number, periodMs: number): number {
  return Number.isFinite(periodMs) ? Math.floor(at / periodMs) * periodMs : 0;
}

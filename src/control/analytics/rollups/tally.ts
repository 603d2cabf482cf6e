/** Granularities of rollups, and how long each period is; days are UTC's. */
export const PERIOD_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Granularity = keyof typeof PERIOD_MS;

const LONGER = { minute: "hour", hour: "day", day: undefined } as const satisfies Record<
  Granularity,
  Granularity | undefined
>;

/** The counts of one key. */
export interface Tallied {
  /** Start of the period, Unix ms. */
  readonly start: number;
  readonly key: readonly string[];
  readonly counts: number[];
}

/** Counts by period and key, in memory. */
export class PeriodTally {
  readonly granularity: Granularity;
  readonly #rows = new Map<string, Tallied>();

  constructor(granularity: Granularity) {
    this.granularity = granularity;
  }

  /**
   * @param at - Unix ms
   * @param key - texts without U+0000
   */
  add(at: number, key: readonly string[], counts: readonly number[]): void {
    const period = PERIOD_MS[this.granularity];
    addTo(this.#rows, Math.floor(at / period) * period, key, counts);
  }

  /** The same per next longer period; days have none. */
  longer(): PeriodTally | undefined {
    const granularity = LONGER[this.granularity];
    if (granularity === undefined) return undefined;
    const tally = new PeriodTally(granularity);
    for (const { start, key, counts } of this.#rows.values()) tally.add(start, key, counts);
    return tally;
  }

  /** In a fixed order, whatever the order of the additions. */
  rows(): readonly Tallied[] {
    return inOrder(this.#rows);
  }

  /** The same without periods. */
  whole(): readonly Tallied[] {
    const rows = new Map<string, Tallied>();
    for (const { key, counts } of this.#rows.values()) addTo(rows, 0, key, counts);
    return inOrder(rows);
  }
}

function addTo(
  rows: Map<string, Tallied>,
  start: number,
  key: readonly string[],
  counts: readonly number[],
): void {
  const id = `${start}\0${key.join("\0")}`;
  const row = rows.get(id);
  if (row === undefined) rows.set(id, { start, key, counts: [...counts] });
  else for (const [index, count] of counts.entries()) row.counts[index] = (row.counts[index] ?? 0) + count;
}

function inOrder(rows: ReadonlyMap<string, Tallied>): readonly Tallied[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

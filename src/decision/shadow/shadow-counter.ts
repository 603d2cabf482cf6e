import { MOST_SHADOW_RULES, OTHER_RULES, type ShadowRecord } from "../../protocol/index.ts";

/** What the thread found, or why it found nothing. */
export type ShadowResult = "same" | "different" | "failed" | "dropped";

/** Differences of one kind that one rule makes. */
export interface RuleDifferences {
  readonly difference: ShadowRecord["difference"];
  /** Its id; empty if no rule decided, {@link OTHER_RULES} for all beyond {@link MOST_SHADOW_RULES}. */
  readonly rule: string;
  readonly count: number;
}

/** Counts of what a candidate would have decided. JSON: workers send them to the supervisor. */
export interface ShadowCounts extends Readonly<Record<ShadowResult, number>> {
  readonly rules: readonly RuleDifferences[];
}

/** From a worker to the supervisor: its counts since the last report. */
export interface ShadowCountsMessage {
  readonly type: "shadow_counts";
  /** Digest of the candidate. */
  readonly candidate: string;
  readonly counts: ShadowCounts;
}

export function isShadowCountsMessage(message: unknown): message is ShadowCountsMessage {
  return (
    typeof message === "object" && message !== null && "type" in message && message.type === "shadow_counts"
  );
}

/** Adds up counts for one candidate at a time. */
export class ShadowCounter {
  #candidate: string | undefined;
  #results: Record<ShadowResult, number> = nothing();
  readonly #rules = new Map<string, RuleDifferences>();
  readonly #names = new Set<string>();

  /** The candidate that is counted, by its digest. */
  get candidate(): string | undefined {
    return this.#candidate;
  }

  get counts(): ShadowCounts {
    return { ...this.#results, rules: [...this.#rules.values()] };
  }

  /** Counts tasks with one result. What was counted for another candidate is dropped. */
  count(candidate: string, result: ShadowResult, count: number): void {
    this.#turnTo(candidate);
    this.#results[result] += count;
  }

  /** Counts differences by rule, in addition to the result. */
  difference(candidate: string, { difference, rule, count }: RuleDifferences): void {
    this.#turnTo(candidate);
    if (!this.#names.has(rule) && this.#names.size < MOST_SHADOW_RULES) this.#names.add(rule);
    const name = this.#names.has(rule) ? rule : OTHER_RULES;
    const key = `${difference} ${name}`;
    this.#rules.set(key, { difference, rule: name, count: count + (this.#rules.get(key)?.count ?? 0) });
  }

  /** Adds what a worker has counted. */
  add({ candidate, counts: { rules, ...results } }: ShadowCountsMessage): void {
    for (const [result, count] of Object.entries(results) as [ShadowResult, number][])
      this.count(candidate, result, count);
    for (const rule of rules) this.difference(candidate, rule);
  }

  /** @returns what was counted since the last call, if anything */
  take(): ShadowCountsMessage | undefined {
    const { counts } = this;
    const candidate = this.#candidate;
    this.clear();
    return candidate === undefined ? undefined : { type: "shadow_counts", candidate, counts };
  }

  clear(): void {
    this.#candidate = undefined;
    this.#results = nothing();
    this.#rules.clear();
    this.#names.clear();
  }

  #turnTo(candidate: string): void {
    if (this.#candidate === candidate) return;
    this.clear();
    this.#candidate = candidate;
  }
}

function nothing(): Record<ShadowResult, number> {
  return { same: 0, different: 0, failed: 0, dropped: 0 };
}

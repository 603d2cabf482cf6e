import { LRUCache } from "lru-cache";
import { isList } from "../../json/index.ts";
import {
  readAttribute,
  type Attributes,
  type ConditionIR,
  type Value,
  type Verdict,
} from "../../policy/evaluation.ts";
import type { CacheName, Metrics } from "../../telemetry/metrics.ts";

/** Verdicts are stored wrapped, because *unknown* is a verdict and not a cache miss. */
interface Entry {
  readonly verdict: Verdict;
}

/** Longer keys are not cached, so that long headers or paths cannot fill the memory. */
const MAX_KEY = 4_096;

/** Memory of a space per allowed entry; far more than most need. */
const BYTES_PER_ENTRY = 1_024;

/** Overhead of an entry besides its key. */
const OVERHEAD = 200;

/** Verdicts for one kind of caller. */
interface Spaces {
  readonly permits: LRUCache<string, Entry>;
  readonly denials: LRUCache<string, Entry>;
}

/**
 * Caches verdicts by rule and by the values that the condition read: two requests that a rule cannot distinguish share
 * one entry. Permits and other verdicts have separate spaces, so that a flood of denials evicts no permit. Callers with
 * and without an identity are also separate, so that anonymous requests evict no entries of signed-in users. Each space
 * is limited in entries and bytes.
 */
export class VerdictCache {
  readonly #identified: Spaces | undefined;
  readonly #anonymous: Spaces | undefined;
  readonly #hit: Record<"decisions" | "denials", () => void>;
  readonly #miss: () => void;

  /** @param options.size - entries per space, 0 to switch the cache off; `ttlMs` - the lifetime of an entry */
  constructor(options: { readonly size: number; readonly ttlMs: number }, metrics: Metrics) {
    const space = (cache: CacheName) =>
      new LRUCache<string, Entry>({
        max: options.size,
        ttl: options.ttlMs,
        maxSize: Math.max(options.size * BYTES_PER_ENTRY, 4 * MAX_KEY),
        // two bytes per character: one character beyond Latin-1 is enough for that
        sizeCalculation: (_entry, key) => 2 * key.length + OVERHEAD,
        dispose: (_entry, _key, reason) => {
          if (reason === "evict") metrics.cacheEvictions.inc({ cache });
        },
      });
    const spaces = () =>
      options.size === 0 || options.ttlMs === 0
        ? undefined
        : { permits: space("decisions"), denials: space("denials") };
    this.#identified = spaces();
    this.#anonymous = spaces();
    const permitHits = metrics.cacheHits.labels("decisions");
    const denialHits = metrics.cacheHits.labels("denials");
    const misses = metrics.cacheMisses.labels("decisions");
    this.#hit = {
      decisions: () => {
        permitHits.inc();
      },
      denials: () => {
        denialHits.inc();
      },
    };
    this.#miss = () => {
      misses.inc();
    };
  }

  /**
   * @param identified - whether the caller has an identity
   * @returns the cached verdict of `rule` for these attributes, or the result of `evaluate`, which is then cached
   */
  verdict(
    rule: string,
    condition: ConditionIR,
    attributes: Attributes,
    identified: boolean,
    evaluate: () => Verdict,
  ): Verdict {
    const spaces = identified ? this.#identified : this.#anonymous;
    if (spaces === undefined) return evaluate();
    const key = keyOf(rule, condition, attributes);
    if (key.length > MAX_KEY) {
      this.#miss();
      return evaluate();
    }
    const permit = spaces.permits.get(key);
    if (permit !== undefined) {
      this.#hit.decisions();
      return permit.verdict;
    }
    const denial = spaces.denials.get(key);
    if (denial !== undefined) {
      this.#hit.denials();
      return denial.verdict;
    }
    this.#miss();
    const verdict = evaluate();
    (verdict === true ? spaces.permits : spaces.denials).set(key, { verdict });
    return verdict;
  }
}

/** Every part contains its type and end, so that no two sets of values share a key. */
function keyOf(rule: string, condition: ConditionIR, attributes: Attributes): string {
  let key = `${rule}|`;
  for (const path of condition.reads) key += keyPart(readAttribute(path, attributes));
  return key;
}

/** Not JSON, which writes `null` for non-finite numbers and for unavailable values inside a list. */
function keyPart(value: Value | symbol | undefined): string {
  switch (typeof value) {
    case "string":
      return `s${value.length}:${value}`;
    case "number":
      return `n${value};`;
    case "boolean":
      return value ? "t" : "f";
    case "undefined":
      return "m";
    case "symbol":
      return "u";
    default: {
      if (value === null) return "0";
      if (isList(value)) return `[${value.map(keyPart).join("")}]`;
      return `{${Object.entries(value)
        .map(([name, member]) => keyPart(name) + keyPart(member))
        .join("")}}`;
    }
  }
}

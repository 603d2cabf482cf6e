import { LRUCache } from "lru-cache";
import {
  readAttribute,
  type Attributes,
  type ConditionIR,
  type Value,
  type ValueList,
  type ValueObject,
  type Verdict,
} from "../policy/index.ts";
import type { CacheName, Metrics } from "../telemetry/metrics.ts";

/** Verdicts are stored wrapped: *unknown* is an answer, not a miss. */
interface Entry {
  readonly verdict: Verdict;
}

/** Longer keys are not kept: whoever sends long headers or paths must not fill the memory with them. */
const MAX_KEY = 4_096;

/**
 * Remembers what a condition came to, by rule and by the values it read: two requests that a rule cannot tell apart
 * share one entry. Permits and everything else have their own space, so that a flood of denials pushes out no permit.
 */
export class VerdictCache {
  readonly #permits: LRUCache<string, Entry> | undefined;
  readonly #denials: LRUCache<string, Entry> | undefined;
  readonly #hit: Record<"decisions" | "denials", () => void>;
  readonly #miss: () => void;

  /** @param options.size - entries a space, 0 to switch the cache off; `ttlMs` - how long one may be used */
  constructor(options: { readonly size: number; readonly ttlMs: number }, metrics: Metrics) {
    const space = (cache: CacheName) =>
      options.size === 0 || options.ttlMs === 0
        ? undefined
        : new LRUCache<string, Entry>({
            max: options.size,
            ttl: options.ttlMs,
            dispose: (_entry, _key, reason) => {
              if (reason === "evict") metrics.cacheEvictions.inc({ cache });
            },
          });
    this.#permits = space("decisions");
    this.#denials = space("denials");
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

  /** @returns the remembered verdict of `rule` for these attributes, or what `evaluate` says, which is then remembered. */
  verdict(rule: string, condition: ConditionIR, attributes: Attributes, evaluate: () => Verdict): Verdict {
    if (this.#permits === undefined || this.#denials === undefined) return evaluate();
    const key = keyOf(rule, condition, attributes);
    if (key.length > MAX_KEY) {
      this.#miss();
      return evaluate();
    }
    const permit = this.#permits.get(key);
    if (permit !== undefined) {
      this.#hit.decisions();
      return permit.verdict;
    }
    const denial = this.#denials.get(key);
    if (denial !== undefined) {
      this.#hit.denials();
      return denial.verdict;
    }
    this.#miss();
    const verdict = evaluate();
    (verdict === true ? this.#permits : this.#denials).set(key, { verdict });
    return verdict;
  }
}

/** Every part carries its type and where it ends, so that no two sets of values share a key. */
function keyOf(rule: string, condition: ConditionIR, attributes: Attributes): string {
  let key = `${rule}|`;
  for (const path of condition.reads) key += keyPart(readAttribute(path, attributes));
  return key;
}

/** Not JSON, which writes `null` for what is not finite and for what is unavailable inside a list. */
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

function isList(value: ValueList | ValueObject): value is ValueList {
  return Array.isArray(value);
}

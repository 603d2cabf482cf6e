import { createHash } from "node:crypto";
import {
  canonicalContent,
  createMatcher,
  type Matcher,
  type PathRuleIR,
  type PolicySetIR,
} from "../policy/index.ts";

/** What one rule needs to be judged, worked out once so that a request builds nothing that its rule does not read. */
export interface RuleNeeds {
  readonly roots: ReadonlySet<string>;
  /** The rule reads who is asking: without an identity the answer is 401, not 403. */
  readonly identity: boolean;
  readonly headers: boolean;
  readonly query: boolean;
  readonly body: boolean;
  /** Attribute roots to look up, each with its source and the path of its key. */
  readonly sources: readonly {
    readonly root: string;
    readonly source: string;
    readonly key: readonly string[];
  }[];
  /** False where an answer is stale the moment it is given (the rule reads the time). */
  readonly cacheable: boolean;
  /** `digest#id`: tells a rule of one policy set from every other rule ever loaded. */
  readonly cacheKey: string;
}

/** One policy set, ready to decide with. Immutable: a request takes it once and keeps it to its end. */
export interface Snapshot {
  readonly ir: PolicySetIR;
  /** `name@version`, as audit records name it. */
  readonly label: string;
  /** sha256 of the set's canonical content, hex. */
  readonly digest: string;
  readonly matcher: Matcher;
  readonly needs: ReadonlyMap<PathRuleIR, RuleNeeds>;
}

/** @returns sha256 (hex) over the set's meaning: comments, layout and positions in files do not count. */
export function digestOf(ir: PolicySetIR): string {
  return createHash("sha256").update(canonicalContent(ir)).digest("hex");
}

/** Makes a snapshot of a compiled set. `caseSensitive` takes paths that differ only in letter case as different. */
export function createSnapshot(ir: PolicySetIR, options: { readonly caseSensitive: boolean }): Snapshot {
  const digest = digestOf(ir);
  return {
    ir,
    label: `${ir.name}@${ir.version}`,
    digest,
    matcher: createMatcher(ir, { caseSensitive: options.caseSensitive }),
    needs: new Map(ir.rules.map((rule) => [rule, needsOf(rule, ir, digest)])),
  };
}

function needsOf(rule: PathRuleIR, ir: PolicySetIR, digest: string): RuleNeeds {
  const read = rule.condition.reads;
  const sources = [...new Set(read.map(([root]) => root ?? ""))].flatMap((root) => {
    const source = Object.hasOwn(ir.attributes, root) ? ir.attributes[root]?.source : undefined;
    return source === undefined ? [] : [{ root, source: source.name, key: source.key }];
  });
  const all = [...read, ...sources.map((source) => source.key)];
  const roots = new Set(all.map(([root]) => root ?? ""));
  const readsRequest = (member: string) =>
    all.some(([root, second]) => root === "request" && (second === undefined || second === member));
  return {
    roots,
    identity: roots.has("user") || roots.has("customer"),
    headers: readsRequest("headers"),
    query: readsRequest("query"),
    body: readsRequest("body"),
    sources,
    cacheable: !roots.has("env") && !readsRequest("body"),
    cacheKey: `${digest}#${rule.id}`,
  };
}

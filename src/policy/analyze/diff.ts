import { canonicalContent } from "../compile/canonical-content.ts";
import type { Expression, PathRuleIR, PolicySetIR } from "../ir.ts";
import { compareConditions } from "./compare.ts";
import type { Finding } from "./find-attributes.ts";
import { headChanges } from "./head-changes.ts";
import { keyedChanges } from "./keyed-changes.ts";
import { requestDomains } from "./request-domains.ts";
import { routePairs, type Decider, type RoutePair } from "./routes.ts";
import { placed, reasons, witnesses, type RuleChange, type Witness } from "./rule-change.ts";

/** Lists every rule whose meaning or text differs between two sets, in the order of the sets. */
export function diffPolicySets(before: PolicySetIR, after: PolicySetIR): RuleChange[] {
  if (canonicalContent(before) === canonicalContent(after)) return [];
  return [
    ...headChanges(before, after),
    ...[...routePairs(before, after)].flatMap((pair) => routeChange(pair, before, after)),
    ...keyedChanges(before, after),
  ];
}

function routeChange(pair: RoutePair, setBefore: PolicySetIR, setAfter: PolicySetIR): RuleChange[] {
  const before = ruleOf(pair.before);
  const after = ruleOf(pair.after);
  const old = conditionOf(pair.before, setBefore);
  const now = conditionOf(pair.after, setAfter);
  const positions = new Map(
    [before, after].flatMap((rule) =>
      (rule?.segments ?? []).flatMap((segment, index) =>
        segment.kind === "param" ? [[positionName(index), index] as const] : [],
      ),
    ),
  );
  const domains = requestDomains({
    methods: pair.methods,
    path: `/${pair.path.join("/")}`,
    parameter: (name) => {
      const index = positions.get(name);
      return index === undefined ? undefined : pair.segment(index);
    },
    ...(pair.spelled && { incomplete: `not every spelling of \`${resourceOf(pair.spelled)}\` is tried` }),
  });
  const { change, gained, lost } = compareConditions(old, now, domains);
  const isRewritten =
    before !== undefined && before.method === after?.method && before.pattern === after.pattern;
  const isSame = isRewritten && before.condition.source === after.condition.source;
  if (change === "equivalent" && (isSame || !isRewritten)) return [];
  const moved =
    before !== undefined && after !== undefined && !isRewritten
      ? [`these requests move from \`${resourceOf(before)}\` to \`${resourceOf(after)}\``]
      : [];
  const denied = pair.spelled
    ? [
        `denied ${pair.after === "spelling" ? "after" : "before"} the change: the path differs from \`${resourceOf(pair.spelled)}\` only in spelling`,
      ]
    : [];
  const named = after ?? before ?? pair.spelled;
  const isDecidedElsewhere = [gained, lost].some(
    (finding) => finding.kind === "found" && routeWitness(finding, pair) === undefined,
  );
  return [
    {
      section: named?.section ?? "policies",
      resource: resourceOf(named),
      ...placed(before, after),
      change: isDecidedElsewhere ? "undecided" : change,
      ...witnesses(gained, lost, (finding) => routeWitness(finding, pair)),
      notes: [
        ...moved,
        ...denied,
        ...(isDecidedElsewhere ? ["an example was found, but another rule decides for it"] : []),
        ...reasons(gained, lost),
      ],
    },
  ];
}

function ruleOf(decider: Decider): PathRuleIR | undefined {
  return typeof decider === "object" ? decider : undefined;
}

function resourceOf(rule: PathRuleIR | undefined): string {
  return rule === undefined ? "" : `${rule.method} ${rule.pattern}`;
}

function conditionOf(decider: Decider, set: PolicySetIR): Expression {
  const rule = ruleOf(decider);
  if (rule === undefined) return { op: "literal", value: decider === "default" && set.default === "allow" };
  const names = new Map(
    rule.segments.flatMap((segment, index) =>
      segment.kind === "param" ? [[segment.name, positionName(index)] as const] : [],
    ),
  );
  return renamed(rule.condition.expression, names);
}

function positionName(index: number): string {
  return `{${index}}`;
}

/** Path parameters by position, so that rules that name them differently can be compared. */
function renamed(expression: Expression, names: ReadonlyMap<string, string>): Expression {
  return JSON.parse(JSON.stringify(expression), (_, value: unknown) => {
    const node = value as { op?: unknown; path?: readonly string[] } | null;
    const isRead =
      node !== null && typeof node === "object" && (node.op === "attribute" || node.op === "exists");
    const [root, name = ""] = isRead ? (node.path ?? []) : [];
    const position = root === "path" ? names.get(name) : undefined;
    return position === undefined
      ? value
      : { ...node, path: ["path", position, ...(node?.path ?? []).slice(2)] };
  }) as Expression;
}

function routeWitness(finding: Finding, { complete }: RoutePair): Witness | undefined {
  if (finding.kind !== "found") return undefined;
  const { path, request } = finding.attributes as Readonly<
    Record<string, Readonly<Record<string, unknown>> | undefined>
  >;
  const segments = Object.entries(path ?? {}).flatMap(([name, value]) =>
    typeof value === "string" ? [[Number(name.slice(1, -1)), value] as const] : [],
  );
  const method = request?.["method"];
  const completed = complete(new Map(segments), typeof method === "string" ? method : undefined);
  return completed && { attributes: finding.attributes, ...completed };
}

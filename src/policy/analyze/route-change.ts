import type { Expression, PathRuleIR } from "../ir.ts";
import { compareConditions } from "./compare.ts";
import type { Finding } from "./find-attributes.ts";
import { requestDomains } from "./request-domains.ts";
import { signedInFacts } from "./signed-in.ts";
import type { Decider, RoutedSet, RoutePair } from "./routes.ts";
import { placed, reasons, witnesses, type RuleChange, type Witness } from "./rule-change.ts";

/** @returns what a change means for requests that two deciders decide; nothing if both decide the same */
export function routeChange(pair: RoutePair, setBefore: RoutedSet, setAfter: RoutedSet): RuleChange[] {
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
  const given = signedInFacts([before, after].flatMap((rule) => rule?.condition ?? []));
  const { change, gained, lost } = compareConditions(old, now, domains, given);
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

function conditionOf(decider: Decider, set: RoutedSet): Expression {
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
  if (names.size === 0) return expression;
  const inner = (part: Expression) => renamed(part, names);
  switch (expression.op) {
    case "attribute":
    case "exists": {
      const [root, name = "", ...below] = expression.path;
      const position = root === "path" ? names.get(name) : undefined;
      return position === undefined ? expression : { ...expression, path: ["path", position, ...below] };
    }
    case "literal":
      return expression;
    case "and":
    case "or":
      return { ...expression, args: expression.args.map(inner) };
    case "not":
      return { ...expression, arg: inner(expression.arg) };
    case "list":
      return { ...expression, items: expression.items.map(inner) };
    case "in":
      return { ...expression, value: inner(expression.value), list: inner(expression.list) };
    case "startsWith":
    case "endsWith":
      return { ...expression, target: inner(expression.target), arg: inner(expression.arg) };
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return { ...expression, left: inner(expression.left), right: inner(expression.right) };
  }
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

import type {
  GraphqlRuleIR,
  PathRuleIR,
  PolicySetIR,
  ResponseRuleIR,
  WebsocketConnectionIR,
  WebsocketMessageIR,
} from "../ir.ts";
import type { RuleChange } from "./rule-change.ts";

/** Parts of the head that can change verdicts. What they mean depends on more than conditions. */
export function headChanges(before: PolicySetIR, after: PolicySetIR): RuleChange[] {
  const parts = [
    ["default", before.default, after.default, "the verdict where no rule matches"],
    ["preflight", before.preflight, after.preflight, "whether CORS preflights are forwarded"],
    ["cors", before.cors, after.cors, "which pages may read answers"],
    [
      "attributes",
      before.attributes,
      after.attributes,
      "what declared attributes are, and where they come from",
    ],
    [
      "graphql",
      before.graphql.settings,
      after.graphql.settings,
      "which operations are evaluated, and their limits",
    ],
    [
      "response rules",
      readResponses(before),
      readResponses(after),
      "which responses are read, and refused if they are not JSON",
    ],
    [
      "on_deny",
      ...shared(onDeny(before), onDeny(after)),
      "whether a denial ends the operation or the connection",
    ],
    [
      "audit",
      ...shared(audits(before), audits(after)),
      "which decisions must be recorded before they take effect",
    ],
  ] as const;
  return parts.flatMap(([name, old, now, meaning]): RuleChange[] =>
    JSON.stringify(old) === JSON.stringify(now)
      ? []
      : [
          {
            section: "head",
            resource: name,
            change: "undecided",
            notes: [`\`${name}\` changed: ${meaning}; requests to rules are compared as if it had not`],
          },
        ],
  );
}

function readResponses({ responses }: PolicySetIR): readonly string[] {
  return responses.map((rule) => JSON.stringify([rule.method, rule.pattern, rule.otherTypes])).sort();
}

/** What a rule is for. */
function ruleAs(rule: PathRuleIR | ResponseRuleIR | GraphqlRuleIR | WebsocketConnectionIR): string {
  const { section } = rule;
  const resource =
    "operation" in rule
      ? [rule.operation, rule.type, rule.field]
      : ["method" in rule ? rule.method : "", rule.pattern];
  return JSON.stringify([section, ...resource]);
}

type Entry = readonly [key: string, value: unknown];

function onDeny({ graphql, websocket }: PolicySetIR): Entry[] {
  return [
    ...graphql.rules.map((rule): Entry => [ruleAs(rule), rule.onDeny]),
    ...websocket.connections.flatMap(({ messages }) =>
      messages.map((rule): Entry => [messageAs(rule), rule.onDeny]),
    ),
  ];
}

function audits({ auditRequired, rules, responses, graphql, websocket }: PolicySetIR): Entry[] {
  const { connections } = websocket;
  return [
    ["", auditRequired],
    ...[...rules, ...responses, ...graphql.rules, ...connections].map((rule): Entry => [
      ruleAs(rule),
      rule.auditRequired,
    ]),
    ...connections.flatMap(({ messages }) =>
      messages.map((rule): Entry => [messageAs(rule), rule.auditRequired]),
    ),
  ];
}

/** @returns what two lists have for the keys that are in both */
function shared(before: readonly Entry[], after: readonly Entry[]): readonly [unknown, unknown] {
  const old = Map.groupBy(before, ([key]) => key);
  const now = Map.groupBy(after, ([key]) => key);
  const keys = [...old.keys()].filter((key) => now.has(key));
  return [keys.map((key) => old.get(key)), keys.map((key) => now.get(key))];
}

function messageAs({ pattern, direction, type }: WebsocketMessageIR): string {
  return JSON.stringify([pattern, direction, type]);
}

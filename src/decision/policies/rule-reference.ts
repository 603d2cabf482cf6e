import type {
  GraphqlRuleIR,
  PathRuleIR,
  ResponseRuleIR,
  WebsocketConnectionIR,
  WebsocketMessageIR,
} from "../../policy/index.ts";

/** A rule as named in an explanation. */
export interface RuleReference {
  readonly id: string;
  readonly name?: string;
  /** Its target: `METHOD /pattern`, `query customer`, `message subscribe`. */
  readonly resource: string;
  /** `file:line`. */
  readonly at: string;
}

type Rule = PathRuleIR | ResponseRuleIR | GraphqlRuleIR | WebsocketConnectionIR | WebsocketMessageIR;

export function ruleReference(rule: Rule): RuleReference {
  return {
    id: rule.id,
    ...(rule.name !== undefined && { name: rule.name }),
    resource: resourceOf(rule),
    at: `${rule.at.file}:${rule.at.line}`,
  };
}

function resourceOf(rule: Rule): string {
  switch (rule.section) {
    case "graphql_policies":
      return `${rule.operation} ${rule.type === undefined ? "" : `${rule.type}.`}${rule.field}`;
    case "websocket_policies":
      return "type" in rule ? `${rule.direction} ${rule.type}` : `WebSocket ${rule.pattern}`;
    default:
      return `${rule.method} ${rule.pattern}`;
  }
}

import { GRAPHQL } from "../../graphql/index.ts";
import type { PolicySetIR } from "../../policy/evaluation.ts";
import type { Reason } from "../../reasons.ts";
import { explainExchange, type Exchange, type ExplainedExchange } from "./explain-exchange.ts";
import type { GatewaySettings } from "./gateway-settings.ts";
import { REQUEST_REFUSALS } from "./through-envoy.ts";

/** The fields that are read from a record. */
export interface PastDecision {
  readonly timestamp: string;
  readonly request_id: string;
  readonly decision_id: string;
  readonly user_id: string;
  readonly action: string;
  readonly resource: string;
  readonly raw_path: string;
  readonly host: string;
  readonly client_ip: string;
  readonly decision: string;
  readonly reason: Reason;
  readonly rule: string | null;
  readonly policy_set: string;
  readonly customer_policy_set?: string;
  readonly policy_digest: string;
  readonly detail?: string;
}

/**
 * Reasons that follow from the request and the rules. Most others depend on what no record holds (a token or cookie, the
 * state of the session, of keys or of the gateway); for those, the rules alone would give an answer that was never given.
 */
const GIVEN_BY_RULES: ReadonlySet<Reason> = new Set([
  "CONDITION_TRUE",
  "CONDITION_FALSE",
  "CONDITION_UNKNOWN",
  "CLAIM_OMITTED",
  "IDENTITY_REQUIRED",
  "DEFAULT_ALLOW",
  "NO_MATCHING_RULE",
  "AMBIGUOUS_PATH",
  "AMBIGUOUS_QUERY",
  "AMBIGUOUS_HEADERS",
  "AMBIGUOUS_METHOD",
  "AMBIGUOUS_BODY",
  "AMBIGUOUS_CASE",
  "AMBIGUOUS_FORWARDING",
  "UNKNOWN_BACKEND",
  "UNTRUSTED_PROXY_HEADER",
  "PREFLIGHT_ALLOWED",
  "PREFLIGHT_ANSWERED",
  "PREFLIGHT_ORIGIN_NOT_ALLOWED",
  "PREFLIGHT_DENIED",
  "PREFLIGHT_MALFORMED",
  "GRAPHQL_CONNECTION",
  "GRAPHQL_ALLOWED",
  "GRAPHQL_DENIED",
  GRAPHQL.GRAPHQL_MALFORMED,
  GRAPHQL.GRAPHQL_LIMIT_EXCEEDED,
  GRAPHQL.PERSISTED_QUERY_NOT_SUPPORTED,
  GRAPHQL.PERSISTED_QUERY_NOT_FOUND,
] as const satisfies readonly Reason[]);

/** Reasons for which Envoy itself refuses a request because of its content. */
const GIVEN_BY_ENVOY: ReadonlySet<Reason> = new Set(REQUEST_REFUSALS);

/** A recorded request, evaluated again. */
export interface RepeatedDecision {
  readonly kind: "repeated";
  readonly outcome: string;
  /** Verdict, reason and rule are those of the record. */
  readonly same: boolean;
  readonly exchange: ExplainedExchange;
}

/** Why a request is not evaluated again. */
export interface NotInRecord {
  readonly kind: "not in record";
  readonly text: string;
}

function notInRecord({ reason }: PastDecision): NotInRecord {
  const text = GIVEN_BY_ENVOY.has(reason)
    ? "not evaluated again: the record does not contain what Envoy refused (a header, the body, the original target, or the " +
      "protocol); pass a header with --header, a body with --body"
    : `not evaluated again: the record does not contain what decided: ${MISSING[reason] ?? OF_CALLER_OR_GATEWAY}`;
  return { kind: "not in record", text };
}

const OF_CALLER_OR_GATEWAY =
  "a token or cookie and its origin headers, the state of the session, or the state of the gateway";
const OF_CONNECTION = "what the client did on its connection, and when it did it";
/** What decided, for reasons that neither the caller nor the connection explains. */
const MISSING: Partial<Record<Reason, string>> = {
  PRECONDITION_NOT_SUPPORTED: "a header such as If-Match, which is not allowed where response rules apply",
  BODY_TOO_LARGE: "the body, which the decision needs and which was larger than the service accepts",
  UPGRADE_REQUIRED: "the protocol version, which was older than HTTP/1.1",
  REQUEST_TIMEOUT: OF_CONNECTION,
  CLIENT_GONE: OF_CONNECTION,
  POLICY_SETS_CONFLICT:
    "another policy set (the gateway's, or the customer's own); only one set is evaluated here",
};

/**
 * Evaluates a recorded request again. A record holds no headers, bodies, query values or attributes: the exchange has what is
 * known of them.
 *
 * @param exchange - called if the record has a request
 * @returns `undefined` if the record has no path
 */
export async function repeatRecord(
  record: PastDecision,
  ir: PolicySetIR,
  gateway: GatewaySettings,
  exchange: () => Exchange,
): Promise<RepeatedDecision | NotInRecord | undefined> {
  const { reason, action, raw_path: target } = record;
  const byEnvoy = GIVEN_BY_ENVOY.has(reason);
  if (byEnvoy ? action === "" : !GIVEN_BY_RULES.has(reason)) return notInRecord(record);
  if (!byEnvoy && !target.startsWith("/")) return undefined;
  const explained = await explainExchange(ir, gateway, exchange());
  if (explained.kind === "refused") {
    const same = explained.reason === record.reason;
    return { kind: "repeated", outcome: `DENY ${explained.reason}`, same, exchange: explained };
  }
  // the rules were not evaluated
  if (byEnvoy) return notInRecord(record);
  const { verdict, reason: given, connection, rule } = explained.explained.decision;
  return {
    kind: "repeated",
    outcome: `${verdict} ${given}`,
    same:
      verdict === record.decision &&
      given === record.reason &&
      ((connection ?? rule)?.id ?? null) === record.rule,
    exchange: explained,
  };
}

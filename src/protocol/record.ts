import type { Reason } from "../reasons.ts";

/** The record of one decision: the fields of specification 2.8 first, then ours. */
export interface AuditRecord {
  /** Time of the decision: ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly request_id: string;
  /** Empty if nobody was identified. */
  readonly user_id: string;
  /** Canonical path without query, or the sanitized raw path if there is no canonical one. */
  readonly resource: string;
  readonly action: string;
  readonly decision: "ALLOW" | "DENY";
  /** `name@version`. */
  readonly policy_set: string;
  /** Whole milliseconds, rounded down. */
  readonly evaluation_time_ms: number;
  readonly client_ip: string;
  /** Our own id, sortable by time. Response, GraphQL and WebSocket events refer to it. */
  readonly decision_id: string;
  readonly reason: Reason;
  /** Id of the rule that decided, or null. */
  readonly rule: string | null;
  readonly rule_name?: string;
  /** The rule's resource as written in the policy set: `GET /api/customers/{customer_id}`. Dashboards group by it. */
  readonly rule_resource?: string;
  /** sha256 of the set's canonical content, hex. */
  readonly policy_digest: string;
  /** Whether the stable set or its candidate decided, while a candidate is enforced for a part of the callers. */
  readonly rollout_arm?: "stable" | "candidate";
  readonly customer_id?: string;
  /** `name@version`, if one of the customer's own policy sets denied what the gateway's set permits. */
  readonly customer_policy_set?: string;
  readonly host: string;
  /** The path as received, query values redacted, sanitized. */
  readonly raw_path: string;
  readonly evaluation_time_us: number;
  readonly trace_id?: string;
  /** Why a request or token was refused. */
  readonly detail?: string;
  /** With `CONDITION_UNKNOWN` and `CLAIM_OMITTED`: the attributes that made it unknown, and why. No values. */
  readonly unknown?: readonly string[];
  /** Names of checks that would have refused the request and are switched off. */
  readonly accepted_ambiguities?: readonly string[];
  /** With `audit.inputs`: what the rules read. */
  readonly inputs?: RecordInputs;
  /** At level `debug`: the explanation. */
  readonly trace?: unknown;
}

/** What a decision depended on besides the policy set: enough to repeat it with another set (`gatehouse replay`). */
export type RecordInputs =
  | RulesInputs
  /** The request was refused before any policy set had a say. */
  | { readonly before_rules: true }
  /** The inputs were longer than a record may be, or the path or operation contains what looks like a credential. */
  | { readonly left_out: "size" | "credential" };

/**
 * The inputs of rules. Attributes are named by their path as a condition writes it (`request.headers["x-team"]`). `path.*`
 * and `env.*` are not listed: they follow from the members here.
 */
export interface RulesInputs {
  /** The time that `env` is about. Unix ms. */
  readonly at: number;
  readonly environment: string;
  readonly method: string;
  /** The canonical path. */
  readonly path: string;
  /** Empty if it cannot be determined. */
  readonly host: string;
  readonly scheme: string;
  readonly protocol: string;
  /** `identified`, `none`, or the reason why a caller with credentials was not identified. */
  readonly caller: string;
  /** The id of the key of `hashes`. */
  readonly key?: string;
  /** Attributes whose values are kept. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Attributes of which a keyed hash is kept: `string:...`, or one for each entry of a list; `object` without a hash. */
  readonly hashes?: Readonly<Record<string, string | readonly string[]>>;
  /** Attributes that the request, the caller or the source did not have. */
  readonly missing?: readonly string[];
  /** Attributes that could not be determined. */
  readonly unavailable?: readonly string[];
  /** Attributes that had a value, which is not kept. */
  readonly redacted?: readonly string[];
  /** Look-ups by attribute root: the source, and the key that was looked up, by its path. */
  readonly lookups?: Readonly<Record<string, readonly [source: string, key: string]>>;
  /** Other paths that the request may be read as. */
  readonly variants?: readonly { readonly path: string; readonly by: "format_suffix" | "as_sent" }[];
  /** The number of other readings, which are not recorded. */
  readonly other_readings?: number;
  /** The number of the customer's own policy sets, which also decide. */
  readonly customer_sets?: number;
  /** The request is a WebSocket handshake. */
  readonly websocket?: { readonly graphql?: true; readonly carries_operation?: true };
  /** The request is a CORS preflight. */
  readonly preflight?: { readonly well_formed: boolean; readonly origin?: string };
  /** What was sent to a GraphQL endpoint. */
  readonly graphql?: GraphqlInputs;
  /** What was left to do after a permit, by field, type of message or operation; absent: nothing. */
  readonly plan?: Readonly<Record<string, string>>;
}

/** Operations sent to a GraphQL endpoint, or why they were refused. */
export type GraphqlInputs =
  /** A browser loaded the page at the endpoint. */
  | { readonly page: true }
  | { readonly refused: string }
  | {
      /** The documents, in which `$_` stands for every argument that is not kept. */
      readonly documents: readonly { readonly query: string; readonly operation?: string }[];
      readonly batch: boolean;
      readonly kinds: readonly ("query" | "mutation" | "subscription")[];
      readonly nullable: boolean;
    };

/** The outcome of a request after it was allowed, in a record of its own. Envoy reports it when the request ends. */
export interface OutcomeRecord {
  /** Time at which the request ended: ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly event: "response" | "connection";
  /** Id of the decision's record; empty if only `request_id` identifies it. */
  readonly decision_id: string;
  /** Present if Envoy did not forward the request. */
  readonly request_id?: string;
  /** 0 if there was no response. */
  readonly response_code: number;
  /** Whole milliseconds, rounded down. */
  readonly duration_ms: number;
  /** The result for a response; for a connection, whether the gateway `closed` it or it `ended` otherwise. */
  readonly result:
    | "masked"
    | "unchanged"
    | "headers_only"
    | "passed"
    | "refused"
    | "unfinished"
    | "not_forwarded"
    | "delivered"
    | "failed"
    | "closed"
    | "ended";
  /** Why a response was refused, or a request not forwarded. */
  readonly reason?: string;
  /** Number of values masked in a response, or of messages changed on a connection. */
  readonly masked_count: number;
  /** Paths of the masked values; never the values. */
  readonly masked_paths: readonly string[];
  /** Number of a stream's documents that were not delivered. */
  readonly documents_dropped?: number;
  readonly response_bytes: number;
  /** Envoy's response flags for a failure of the application: `UF`. */
  readonly response_flags?: string;
  /** The application that received the request, as named in the configuration. */
  readonly upstream?: string;
  /** The status of its response; absent if there was none. */
  readonly upstream_status?: number;
  /** From the first byte sent to it to the last byte received; whole milliseconds, rounded down. */
  readonly upstream_ms?: number;
  /** Messages from the client. */
  readonly sent_delivered?: number;
  readonly sent_dropped?: number;
  /** Messages from the server. */
  readonly received_delivered?: number;
  readonly received_dropped?: number;
  readonly denied_messages?: readonly DeniedMessagesRecord[];
  /**
   * Digests of the sets that evaluated the connection after that of its decision, in this order: where rules for its messages
   * changed, or it was no longer permitted.
   */
  readonly policy_digests?: readonly string[];
  readonly close_code?: number;
  readonly close_reason?: string;
  readonly closed_by?: string;
  /** Envoy's response code details. */
  readonly detail: string;
}

export interface DeniedMessagesRecord {
  readonly direction: string;
  /** Id of the rule; empty if there is no rule for the type. */
  readonly rule: string;
  readonly type: string;
  /** Digest of the rule's set; absent: that of the decision's record. */
  readonly policy_digest?: string;
  readonly count: number;
}

/** A decision that the candidate of a rollout in shadow mode would have made differently. It had no effect. */
export interface ShadowRecord {
  /** Time of the decision that had effect: ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly event: "shadow_decision";
  /** That of the decision's record. */
  readonly request_id: string;
  readonly user_id: string;
  readonly customer_id?: string;
  readonly resource: string;
  readonly action: string;
  /** What the candidate would do: deny what is allowed, allow what is denied, or do something else with the response or connection. */
  readonly difference: "denies" | "allows" | "plan";
  readonly policy_set: string;
  readonly policy_digest: string;
  readonly decision: "ALLOW" | "DENY";
  readonly reason: Reason;
  readonly rule: string | null;
  readonly candidate_policy_set: string;
  readonly candidate_digest: string;
  readonly candidate_decision: "ALLOW" | "DENY";
  readonly candidate_reason: Reason;
  readonly candidate_rule: string | null;
  /** Why the candidate would deny. */
  readonly candidate_detail?: string;
}

/** A change of a gateway's rollout. */
export interface RolloutRecord {
  readonly timestamp: string;
  readonly event: "rollout";
  /** An id of its own. */
  readonly decision_id: string;
  readonly change: "started" | "changed" | "rolled_back" | "stopped";
  /** That of the control plane, if it is from there. */
  readonly rollout_id?: string;
  /** The candidate. */
  readonly policy_set: string;
  readonly policy_digest: string;
  readonly mode: "shadow" | "enforce";
  /** The part of the callers for whom the candidate decides after the change. */
  readonly percentage: number;
  /** Why it was rolled back. */
  readonly cause?: string;
  readonly detail?: string;
}

/** A record that follows decisions. */
export type EventRecord = OutcomeRecord | ShadowRecord | RolloutRecord;

/**
 * Every member that a record can have. Anything else that the control plane read from records would be written by no
 * gateway.
 */
export type RecordMember = keyof AuditRecord | keyof OutcomeRecord | keyof ShadowRecord | keyof RolloutRecord;

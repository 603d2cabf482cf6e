import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { decideOffline, explainOffline, renderExplanation } from "../decision/explain/index.ts";
import { createSnapshot, digestOf } from "../decision/policies/snapshot.ts";
import type { PolicySetIR, ValueObject } from "../policy/index.ts";
import { REASONS, type Reason } from "../reasons.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compilePublished, type ExplainedGateway } from "./explained-gateway.ts";
import { compileSet } from "./policy-sets.ts";
import { rawRequest } from "./raw-request.ts";
import { REQUEST_REFUSALS } from "./through-envoy.ts";
import { errorMessage } from "../text/index.ts";

export interface PastOptions {
  readonly requestId: string;
  readonly auditFile?: string;
  readonly directory?: string;
  readonly header: readonly string[];
  readonly body?: string;
  readonly user?: ValueObject;
  readonly customer?: ValueObject;
  readonly attributes?: ValueObject;
  readonly json?: true;
}

/** The fields that are read from a record. */
interface PastDecision {
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

/** The policy set that made the decision, and where it was found. */
interface FoundSet {
  readonly ir: PolicySetIR;
  readonly where: string;
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
  "GRAPHQL_MALFORMED",
  "GRAPHQL_LIMIT_EXCEEDED",
  "PERSISTED_QUERY_NOT_SUPPORTED",
  "PERSISTED_QUERY_NOT_FOUND",
] as const satisfies readonly Reason[]);

/** Reasons for which Envoy itself refuses a request because of its content. */
const GIVEN_BY_ENVOY: ReadonlySet<Reason> = new Set(REQUEST_REFUSALS);

/** The outcome of evaluating a recorded request again with the policy set that decided it. */
interface Repeated {
  readonly kind: "repeated";
  readonly outcome: string;
  readonly same: boolean;
  readonly text: string;
}

/**
 * Explains past decisions from their records. A record holds no headers, bodies, query values or attributes. The request is
 * evaluated again with what the caller adds; if the outcome differs from the recorded one, the text says so.
 *
 * @throws ExitError if there is no record
 */
export async function explainPast(gateway: ExplainedGateway, options: PastOptions): Promise<string> {
  const found = await recordsOf(gateway, options);
  const explained = [];
  for (const record of found) {
    const set = await setOf(record, gateway, options);
    const again = set && (await decideAgain(record, set, gateway, options));
    explained.push({ record, set, again });
  }
  if (options.json) {
    const all = explained.map(({ record, set, again }) => ({
      record,
      policy_set_found: set?.where ?? null,
      ...(again?.kind === "repeated" && { again: { outcome: again.outcome, same: again.same } }),
      ...(again?.kind === "not in record" && { not_in_record: again.text }),
    }));
    return `${JSON.stringify(all, null, 2)}\n`;
  }
  return explained.map(({ record, set, again }) => render(record, set, again)).join("\n");
}

async function recordsOf(
  { controlPlane, config }: ExplainedGateway,
  { requestId, auditFile }: PastOptions,
): Promise<readonly PastDecision[]> {
  const ofConfig = config.audit.destination === "file" ? config.audit.path : undefined;
  const file =
    auditFile ?? (controlPlane === undefined || config.audit.destination === "file" ? ofConfig : undefined);
  if (file === undefined && controlPlane === undefined) {
    throw new ExitError(
      "no source for the record: pass --audit-file, --from, or the --config of a gateway with `audit.destination: file` or a control plane",
      EXIT_USAGE,
    );
  }
  const found =
    file === undefined
      ? ((await controlPlane?.decisions(requestId)) ?? [])
      : await recordsInFile(file, requestId);
  if (found.length === 0) {
    throw new ExitError(
      `${file ?? controlPlane?.url ?? ""} has no decision record for request \`${requestId}\`` +
        (file === undefined ? "" : "; if the file was rotated, pass an older one with --audit-file"),
    );
  }
  return found.map(pastDecision);
}

async function recordsInFile(file: string, id: string): Promise<Readonly<Record<string, unknown>>[]> {
  const found: Readonly<Record<string, unknown>>[] = [];
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      // parse only lines that can match
      if (!line.includes(JSON.stringify(id))) continue;
      const record = parsed(line);
      if (record?.["event"] !== undefined) continue;
      if (record?.["request_id"] === id || record?.["decision_id"] === id) found.push(record);
    }
  } catch (error) {
    const why = errorMessage(error);
    throw new ExitError(`cannot read the audit file \`${file}\`: ${why}`, EXIT_USAGE);
  }
  return found;
}

/** The last line may be incomplete while the gateway is writing. */
function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function pastDecision(record: Readonly<Record<string, unknown>>): PastDecision {
  const reason = String(record["reason"]);
  if (!Object.hasOwn(REASONS, reason))
    throw new ExitError(`unknown reason \`${reason}\` in the record; it was written by another version`);
  const text = (name: string) => {
    const value = record[name];
    return typeof value === "string" ? value : "";
  };
  return {
    ...{ timestamp: text("timestamp"), request_id: text("request_id"), decision_id: text("decision_id") },
    ...{ user_id: text("user_id"), action: text("action"), resource: text("resource") },
    ...{ raw_path: text("raw_path"), host: text("host"), client_ip: text("client_ip") },
    ...{ decision: text("decision"), reason: reason as Reason, policy_set: text("policy_set") },
    rule: typeof record["rule"] === "string" ? record["rule"] : null,
    policy_digest: text("policy_digest"),
    ...(text("customer_policy_set") !== "" && { customer_policy_set: text("customer_policy_set") }),
    ...(text("detail") !== "" && { detail: text("detail") }),
  };
}

/** @returns the policy set with the record's digest; `undefined` if it is no longer available */
async function setOf(
  record: PastDecision,
  { config, controlPlane }: ExplainedGateway,
  { directory }: PastOptions,
): Promise<FoundSet | undefined> {
  const digest = record.policy_digest;
  if (digest === "") return undefined;
  // a label is `name@version`
  const label = record.customer_policy_set ?? record.policy_set;
  const names = new Set([label.replace(/@[^@]*$/, ""), config.policies.policy_set]);
  for (const name of names) {
    const folder = directory ?? config.policies.directory;
    const { ir } = await compileSet(folder, name);
    if (ir !== undefined && digestOf(ir) === digest) return { ir, where: `folder ${folder}` };
    const published = await controlPlane?.setOfDigest(name, digest);
    if (published !== undefined) {
      return {
        ir: compilePublished(name, published),
        where: `version ${published.version} of ${controlPlane?.url ?? ""}`,
      };
    }
  }
  return undefined;
}

/** Why a request is not evaluated again. */
interface NotInRecord {
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

async function decideAgain(
  record: PastDecision,
  { ir }: FoundSet,
  gateway: ExplainedGateway,
  options: PastOptions,
): Promise<Repeated | NotInRecord | undefined> {
  const { reason, action, raw_path: target } = record;
  const byEnvoy = GIVEN_BY_ENVOY.has(reason);
  if (byEnvoy ? action === "" : !GIVEN_BY_RULES.has(reason)) return notInRecord(record);
  if (!byEnvoy && !target.startsWith("/")) return undefined;
  const names = options.header.map((header) => header.split(":", 1)[0]?.trim().toLowerCase());
  const headers = names.includes("host") ? options.header : [`host: ${record.host}`, ...options.header];
  // CONNECT has no path
  const sent = rawRequest(`${action} ${target || "/"}`, headers, options.body);
  const through = gateway.receive(sent, record.client_ip);
  if (!through.ok) {
    const outcome = `DENY ${through.reason}`;
    return {
      kind: "repeated",
      outcome,
      same: through.reason === record.reason,
      text: "refused by Envoy before any rule was evaluated\n",
    };
  }
  // the rules were not evaluated
  if (byEnvoy) return notInRecord(record);
  const user = options.user ?? (record.user_id === "" ? undefined : { id: record.user_id });
  const offline = await decideOffline(createSnapshot(ir, { caseSensitive: gateway.caseSensitive }), {
    raw: through.raw,
    ...(user && { user }),
    ...(options.customer && { customer: options.customer }),
    lookup: (root, key) => gateway.lookup(options.attributes, ir, root, key),
    now: Date.parse(record.timestamp),
    clientIp: record.client_ip,
    settings: gateway.settings,
  });
  const { decision } = offline;
  const { explanation } = await explainOffline(offline);
  const rule = (decision.connection ?? decision.rule)?.id ?? null;
  return {
    kind: "repeated",
    outcome: `${decision.verdict} ${decision.reason}`,
    same: decision.verdict === record.decision && decision.reason === record.reason && rule === record.rule,
    text: renderExplanation(decision, explanation),
  };
}

function render(
  record: PastDecision,
  set: FoundSet | undefined,
  again: Repeated | NotInRecord | undefined,
): string {
  const { status, message } = REASONS[record.reason];
  const { decision, reason, detail, rule } = record;
  const lines = [
    `${decision} ${decision === "ALLOW" ? "" : `(${status}) `}${reason}: ${message}${detail === undefined ? "" : ` (${detail})`}`,
    `${record.action || "-"} ${record.raw_path || "-"} at ${record.timestamp}, by ${record.user_id || "nobody"}`,
    `request ${record.request_id || "-"}, decision ${record.decision_id}, rule ${rule ?? "-"}`,
    `policy set ${record.customer_policy_set ?? (record.policy_set || "-")}, digest ${record.policy_digest || "-"}`,
  ];
  if (set === undefined) {
    lines.push(
      record.policy_digest === ""
        ? "no policy set was in force"
        : "that policy set is no longer available: neither the folder nor the control plane has its digest",
    );
    return `${lines.join("\n")}\n`;
  }
  lines.push(`found in ${set.where}`);
  if (again?.kind === "not in record") lines.push("", again.text);
  if (again?.kind === "repeated") {
    lines.push(
      "",
      again.same
        ? "evaluated again with that set, same outcome:"
        : `evaluated again with that set, the outcome is ${again.outcome}: the record holds no headers, bodies, query values ` +
            "or attributes; pass the ones that matter with --header, --body, --user, --customer and --attributes",
      "",
      again.text.trimEnd(),
    );
  }
  return `${lines.join("\n")}\n`;
}

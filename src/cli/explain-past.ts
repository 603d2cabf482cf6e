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

/** What is read of a record. */
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

/** A policy set of the content that decided, and where it was found. */
interface FoundSet {
  readonly ir: PolicySetIR;
  readonly where: string;
}

/**
 * Reasons that the request and the rules give. Most others come from what no record holds - a token or cookie, the state of the
 * session, of keys, of the gateway itself -, and the rules would answer something else that never was the answer.
 */
const GIVEN_BY_RULES: ReadonlySet<Reason> = new Set([
  "CONDITION_TRUE",
  "CONDITION_FALSE",
  "CONDITION_UNKNOWN",
  "IDENTITY_REQUIRED",
  "DEFAULT_ALLOW",
  "NO_MATCHING_RULE",
  "AMBIGUOUS_PATH",
  "AMBIGUOUS_HEADERS",
  "AMBIGUOUS_METHOD",
  "AMBIGUOUS_BODY",
  "AMBIGUOUS_CASE",
  "UNKNOWN_BACKEND",
  "UNTRUSTED_PROXY_HEADER",
  "PREFLIGHT_ALLOWED",
  "PREFLIGHT_DENIED",
  "PREFLIGHT_MALFORMED",
  "GRAPHQL_CONNECTION",
  "GRAPHQL_ALLOWED",
  "GRAPHQL_DENIED",
  "GRAPHQL_MALFORMED",
  "GRAPHQL_LIMIT_EXCEEDED",
] as const satisfies readonly Reason[]);

/** Reasons that Envoy gives for what the request is. */
const GIVEN_BY_ENVOY: ReadonlySet<Reason> = new Set(REQUEST_REFUSALS);

/** What was decided, with the policy set that decided it; and the same request decided once more by that set. */
interface Repeated {
  readonly kind: "repeated";
  readonly outcome: string;
  readonly same: boolean;
  readonly text: string;
}

/**
 * Explains past decisions by their records. A record holds neither headers and bodies nor values of the query nor attributes:
 * what is decided once more, with what the caller adds, may come out otherwise, and then that is said.
 *
 * @throws ExitError where there is no record
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
      "say where the record is: --audit-file, --from, or --config of a gateway with `audit.destination: file` or a control plane",
      EXIT_USAGE,
    );
  }
  const found =
    file === undefined
      ? ((await controlPlane?.decisions(requestId)) ?? [])
      : await recordsInFile(file, requestId);
  if (found.length === 0) {
    throw new ExitError(
      `${file ?? controlPlane?.url ?? ""} has no record of a decision about request \`${requestId}\`` +
        (file === undefined ? "" : "; where the file was rotated, name an older one by --audit-file"),
    );
  }
  return found.map(pastDecision);
}

async function recordsInFile(file: string, id: string): Promise<Readonly<Record<string, unknown>>[]> {
  const found: Readonly<Record<string, unknown>>[] = [];
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      // most lines are others', and not worth parsing
      if (!line.includes(JSON.stringify(id))) continue;
      const record = parsed(line);
      if (record?.["event"] !== undefined) continue;
      if (record?.["request_id"] === id || record?.["decision_id"] === id) found.push(record);
    }
  } catch (error) {
    const why = errorMessage(error);
    throw new ExitError(`the audit file ${file} cannot be read: ${why}`, EXIT_USAGE);
  }
  return found;
}

/** A last line may be cut short, where the gateway is writing. */
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
    throw new ExitError(`the record's reason \`${reason}\` is not known to this version`);
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

/** @returns the set of the record's digest; `undefined` where it is no longer to be had */
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

/** Why a request is not decided again. */
interface NotInRecord {
  readonly kind: "not in record";
  readonly text: string;
}

function notInRecord({ reason }: PastDecision): NotInRecord {
  const text = GIVEN_BY_ENVOY.has(reason)
    ? "what Envoy refused is not in the record, so it is not decided once more: a header, the body, the target as it was sent, or " +
      "the protocol; give a header by --header, a body by --body"
    : `what decided is not in the record, so it is not decided once more: ${MISSING[reason] ?? OF_CALLER_OR_GATEWAY}`;
  return { kind: "not in record", text };
}

const OF_CALLER_OR_GATEWAY =
  "a token or cookie and the headers of its origin, the state of the session, or that of the gateway";
const OF_CONNECTION = "what the client did on its connection, and when";
/** What decided where it was neither. */
const MISSING: Partial<Record<Reason, string>> = {
  PRECONDITION_NOT_SUPPORTED:
    "a header such as If-Match, which the request may not have where response rules apply to its answer",
  BODY_TOO_LARGE: "the body, which the decision needs and the service takes only up to a certain size",
  UPGRADE_REQUIRED: "the protocol, which was older than HTTP/1.1",
  REQUEST_TIMEOUT: OF_CONNECTION,
  CLIENT_GONE: OF_CONNECTION,
  POLICY_SETS_CONFLICT:
    "what another set asks for, the gateway's or one of the customer's own: one alone is asked here",
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
      text: "it is refused by Envoy, before any rule\n",
    };
  }
  // the rules were never asked
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
        : "that policy set is no longer to be had: neither the folder nor the control plane has its digest",
    );
    return `${lines.join("\n")}\n`;
  }
  lines.push(`found in ${set.where}`);
  if (again?.kind === "not in record") lines.push("", again.text);
  if (again?.kind === "repeated") {
    lines.push(
      "",
      again.same
        ? "decided once more by that set, with the same outcome:"
        : `decided once more by that set, it comes to ${again.outcome}: the record holds no headers, bodies, values of the query ` +
            "and attributes; give those that count by --header, --body, --user, --customer and --attributes",
      "",
      again.text.trimEnd(),
    );
  }
  return `${lines.join("\n")}\n`;
}

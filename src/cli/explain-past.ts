import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import {
  renderExchange,
  repeatRecord,
  type NotInRecord,
  type PastDecision,
  type RepeatedDecision,
} from "../decision/explain/index.ts";
import { digestOf } from "../decision/policies/snapshot.ts";
import type { PolicySetIR, ValueObject } from "../policy/index.ts";
import { REASONS, type Reason } from "../reasons.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { compilePublished, type ExplainedGateway } from "./explained-gateway.ts";
import { compileSet } from "./policy-sets.ts";
import { rawRequest } from "./raw-request.ts";
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

/** The policy set that made the decision, and where it was found. */
interface FoundSet {
  readonly ir: PolicySetIR;
  readonly where: string;
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

async function decideAgain(
  record: PastDecision,
  { ir }: FoundSet,
  gateway: ExplainedGateway,
  options: PastOptions,
): Promise<RepeatedDecision | NotInRecord | undefined> {
  const names = options.header.map((header) => header.split(":", 1)[0]?.trim().toLowerCase());
  const headers = names.includes("host") ? options.header : [`host: ${record.host}`, ...options.header];
  const user = options.user ?? (record.user_id === "" ? undefined : { id: record.user_id });
  return repeatRecord(record, ir, gateway.settings, () => ({
    // CONNECT has no path
    sent: rawRequest(`${record.action} ${record.raw_path || "/"}`, headers, options.body),
    ...(user && { user }),
    ...(options.customer && { customer: options.customer }),
    lookup: (root, key) => gateway.lookup(options.attributes, ir, root, key),
    now: Date.parse(record.timestamp),
    clientIp: record.client_ip,
    messages: [],
  }));
}

/** The outcome and its reasons. */
function textOf({ exchange }: RepeatedDecision): string {
  return exchange.kind === "refused"
    ? "refused by Envoy before any rule was evaluated"
    : renderExchange(exchange).trimEnd();
}

function render(
  record: PastDecision,
  set: FoundSet | undefined,
  again: RepeatedDecision | NotInRecord | undefined,
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
      textOf(again),
    );
  }
  return `${lines.join("\n")}\n`;
}

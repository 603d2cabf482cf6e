import { EMPTY_EXAMPLE, type Example, type PastDecision } from "../core/explain-protocol.ts";

type Members = Readonly<Record<string, unknown>>;

/** What a record says, as an example to start from. */
export interface RecordedExample {
  readonly record: PastDecision;
  readonly example: Example;
  /** Attributes that rules read, whose values the record does not hold. */
  readonly notKept: readonly string[];
}

/** The example of a decision's record, with the inputs that the gateway has sent with it. */
export function exampleOfRecord(entry: Members): RecordedExample {
  const record = pastDecision(entry);
  const inputs = membersOf(entry["inputs"]);
  const values = membersOf(inputs["values"]);
  const user: Record<string, unknown> = record.user_id === "" ? {} : { id: record.user_id };
  const customer: Record<string, unknown> = {};
  const attributes: Record<string, unknown> = {};
  const headers = record.host === "" ? [] : [`host: ${record.host}`];
  for (const [name, value] of Object.entries(values)) {
    const header = /^request\.headers(?:\.([\w-]+)|\["([^"\\]+)"\])$/.exec(name);
    const path = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(name) ? name.split(".") : [];
    const [root = "", ...members] = path;
    if (header !== null)
      for (const one of Array.isArray(value) ? value : [value])
        headers.push(`${header[1] ?? header[2] ?? ""}: ${String(one)}`);
    else if (root === "user") put(user, members, value);
    else if (root === "customer") put(customer, members, value);
    else if (path.length > 1 && !OF_REQUEST.includes(root)) put(attributes, path, value);
  }
  return {
    record,
    example: {
      ...EMPTY_EXAMPLE,
      line: `${record.action} ${record.raw_path || "/"}`,
      headers: headers.join("\n"),
      user: textOf(user),
      customer: textOf(customer),
      attributes: textOf(attributes),
      client_ip: record.client_ip,
      time: record.timestamp,
      environment: stringOf(inputs["environment"]),
    },
    notKept: [...Object.keys(membersOf(inputs["hashes"])), ...namesIn(inputs["redacted"])],
  };
}

const OF_REQUEST = ["request", "path", "env", "item", "response", "message", "args"];

function put(into: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = "", ...rest] = path;
  if (rest.length === 0) {
    into[first] = value;
    return;
  }
  const below = into[first];
  const next: Record<string, unknown> = typeof below === "object" && below !== null ? { ...below } : {};
  into[first] = next;
  put(next, rest, value);
}

function pastDecision(entry: Members): PastDecision {
  const text = (name: string) => stringOf(entry[name]);
  return {
    ...{ timestamp: text("timestamp"), request_id: text("request_id"), decision_id: text("decision_id") },
    ...{ user_id: text("user_id"), action: text("action"), resource: text("resource") },
    ...{ raw_path: text("raw_path"), host: text("host"), client_ip: text("client_ip") },
    ...{ decision: text("decision"), policy_set: text("policy_set"), policy_digest: text("policy_digest") },
    reason: text("reason") as PastDecision["reason"],
    rule: typeof entry["rule"] === "string" ? entry["rule"] : null,
    ...(text("customer_policy_set") !== "" && { customer_policy_set: text("customer_policy_set") }),
    ...(text("detail") !== "" && { detail: text("detail") }),
  };
}

function textOf(value: Members): string {
  return Object.keys(value).length === 0 ? "" : JSON.stringify(value, null, 2);
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

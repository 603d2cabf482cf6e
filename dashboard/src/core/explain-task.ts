import {
  createRawRequest,
  explainExchange,
  plainExplanation,
  renderExchange,
  repeatRecord,
  UnsupportedSample,
  USUAL_GATEWAY,
  wireText,
  type Exchange,
  type ExplainedExchange,
} from "../../../src/decision/explain/index.ts";
import { digestOf } from "../../../src/decision/policies/snapshot.ts";
import { isObject, parseJson } from "../../../src/json/index.ts";
import { compilePolicySet, type ValueObject } from "../../../src/policy/index.ts";
import { REASONS } from "../../../src/reasons.ts";
import type {
  Example,
  ExampleField,
  ExplainAsked,
  ExplainGiven,
  RequestReading,
} from "./explain-protocol.ts";

/** Something of an example that cannot be read. */
class InvalidExample extends Error {
  readonly field: ExampleField;

  constructor(field: ExampleField, message: string) {
    super(message);
    this.field = field;
  }
}

/** Explains an example with the code that the gateway and `policy explain` run. */
export async function explainTask({ set, example, record }: ExplainAsked): Promise<ExplainGiven> {
  const compiled = compile(set);
  if (compiled.ir === undefined) return { kind: "invalid_set", diagnostics: compiled.diagnostics };
  const { ir } = compiled;
  const digest = digestOf(ir);
  if (set.digest !== undefined && digest !== set.digest) return { kind: "other_digest", digest };
  try {
    const of = (exchange: ExplainedExchange, same?: boolean): ExplainGiven => ({
      kind: "explained",
      set: `${ir.name}@${ir.version}`,
      digest,
      explanation: plain(plainExplanation(exchange)),
      meaning:
        REASONS[exchange.kind === "refused" ? exchange.reason : exchange.explained.decision.reason].message,
      ...readingOf(exchange),
      text: renderExchange(exchange),
      ...(same !== undefined && { same }),
    });
    if (record === undefined) return of(await explainExchange(ir, USUAL_GATEWAY, exchangeOf(example)));
    const repeated = await repeatRecord(record, ir, USUAL_GATEWAY, () => exchangeOf(example));
    if (repeated?.kind === "repeated") return of(repeated.exchange, repeated.same);
    return { kind: "not_in_record", text: repeated?.text ?? "the record has no path" };
  } catch (error) {
    if (error instanceof InvalidExample)
      return { kind: "invalid_example", field: error.field, message: error.message };
    if (error instanceof UnsupportedSample)
      return { kind: "invalid_example", field: "response", message: error.message };
    throw error;
  }
}

type Compiled = Pick<ReturnType<typeof compilePolicySet>, "ir" | "diagnostics">;
let last: { readonly key: string; readonly compiled: Compiled } | undefined;

/** The same set is explained several times in a row, while somebody changes the example. */
function compile({ name, files }: ExplainAsked["set"]): Compiled {
  const key = JSON.stringify([name, files]);
  if (last?.key !== key) last = { key, compiled: compilePolicySet([...files], { name }) };
  return last.compiled;
}

/** What a message between threads can hold. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function readingOf(exchange: ExplainedExchange): { readonly reading?: RequestReading } {
  if (exchange.kind === "refused") return {};
  const { request, accepted, alsoRead = [] } = exchange.explained.decision;
  if (request === undefined) return {};
  const { method, path, segments, host, scheme, query, headers } = request;
  return {
    reading: {
      ...{ method, path, segments, host, scheme, accepted },
      query: Object.entries(query),
      headers: Object.entries(headers),
      others: alsoRead.map((other) => ({ method: other.method, path: other.path })),
    },
  };
}

/** @throws InvalidExample */
export function exchangeOf(example: Example): Exchange {
  const [, method, target] = /^(\S+)[ \t]+(\S.*)$/.exec(example.line.trim()) ?? [];
  if (method === undefined || target === undefined)
    throw new InvalidExample("line", "is not a method and a path such as `GET /api/orders`");
  const user = objectIn(example, "user");
  const customer = objectIn(example, "customer");
  const attributes = objectIn(example, "attributes");
  if (example.by_cookie !== "" && user === undefined)
    throw new InvalidExample("by_cookie", "needs a caller: the owner of the cookie");
  const sent = createRawRequest({
    method,
    target: target.trim(),
    headers: headersIn(example, "headers"),
    body: example.body === "" ? undefined : example.body,
  });
  return {
    sent,
    ...(user && { user }),
    ...(customer && { customer }),
    ...(example.by_cookie !== "" && { byCookie: { trustedOrigins: [] } }),
    lookup(root) {
      if (attributes === undefined || !Object.hasOwn(attributes, root))
        throw new Error(`${root} is not given`);
      const found = attributes[root];
      return isObject(found) ? found : undefined;
    },
    now: timeIn(example),
    ...(example.environment !== "" && { environment: example.environment }),
    clientIp: example.client_ip,
    ...answerIn(example),
    messages: messagesIn(example),
  };
}

const MAX_DEPTH = 64;

/** Read as the gateway reads claims and bodies: a number that is not exact is unknown here, too. */
function objectIn(example: Example, field: ExampleField): ValueObject | undefined {
  if (example[field].trim() === "") return undefined;
  try {
    const { value, duplicateMember } = parseJson(example[field], { depth: MAX_DEPTH });
    if (isObject(value) && !duplicateMember) return value;
  } catch {
    // reported below, together with JSON that is not an object
  }
  throw new InvalidExample(field, "is not a JSON object");
}

function headersIn(example: Example, field: ExampleField): (readonly [string, string])[] {
  return linesOf(example[field]).map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new InvalidExample(field, `\`${line}\` is not a header such as \`x-tier: gold\``);
    return [line.slice(0, colon).trim().toLowerCase(), wireText(line.slice(colon + 1).trim())];
  });
}

function timeIn({ time }: Example): number {
  const at = time === "" ? Date.now() : Date.parse(time);
  if (Number.isNaN(at)) throw new InvalidExample("time", "is not a time such as 2026-01-31T12:00:00Z");
  return at;
}

function answerIn(example: Example): Pick<Exchange, "answer"> {
  if (example.response === "") return {};
  if (!/^[2-5]\d\d$/.test(example.response_status))
    throw new InvalidExample("response_status", "is not a status from 200 to 599");
  return {
    answer: {
      status: Number(example.response_status),
      headers: headersIn(example, "response_headers"),
      text: example.response,
    },
  };
}

function messagesIn(example: Example): Exchange["messages"] {
  return linesOf(example.messages).map((line) => {
    const text = line.slice(1).trim();
    if (line.startsWith(">")) return { direction: "send", text };
    if (line.startsWith("<")) return { direction: "receive", text };
    throw new InvalidExample("messages", "begin a client's message with `>`, a server's with `<`");
  });
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

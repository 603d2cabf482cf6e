import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import {
  explainExchange,
  plainExplanation,
  renderExchange,
  UnsupportedSample,
  type Direction,
} from "../decision/explain/index.ts";
import { isObject, parseJson, type JsonObject } from "../json/index.ts";
import type { PolicySetIR, ValueObject } from "../policy/index.ts";
import { HANDSHAKE_HEADERS, type SampleAnswer } from "../policy/suite/index.ts";
import { readOrigin, type RawRequest } from "../request/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { explainPast } from "./explain-past.ts";
import { openGateway, type ExplainedGateway } from "./explained-gateway.ts";
import { rawRequest } from "./raw-request.ts";
import { errorMessage } from "../text/index.ts";

interface ExplainOptions {
  readonly config?: string;
  readonly directory?: string;
  readonly policySet?: string;
  readonly from?: string;
  readonly apiKeyFile?: string;
  readonly requestId?: string;
  readonly auditFile?: string;
  readonly request?: string;
  readonly graphql?: string;
  readonly endpoint?: string;
  readonly variables?: ValueObject;
  readonly operationName?: string;
  readonly websocket?: string;
  readonly header: readonly string[];
  readonly body?: string;
  readonly user?: ValueObject;
  readonly cookie?: true;
  readonly trustedOrigin: readonly string[];
  readonly customer?: ValueObject;
  readonly attributes?: ValueObject;
  readonly clientIp: string;
  readonly time?: string;
  readonly response?: string;
  readonly responseStatus: number;
  readonly responseHeader: readonly string[];
  readonly json?: true;
}

interface Message {
  readonly direction: Direction;
  readonly text: string;
}

/**
 * `gatehouse policy explain`: shows how a request would be decided, and why.
 *
 * @param write - receives the explanation
 */
export function policyExplainCommand(
  write: (text: string) => void = (text) => void process.stdout.write(text),
): Command {
  const messages: Message[] = []; // of both options, in command-line order
  const add = (direction: Direction) => (text: string) => messages.push({ direction, text });
  return new Command("explain")
    .description(
      "show how a request, a GraphQL operation or a WebSocket handshake would be decided, and why; " +
        "exit code 0 for any decision",
    )
    .option("-r, --request <line>", 'method and path, e.g. "GET /api/customers/c-1?page=2"')
    .option("--graphql <document>", 'explain a GraphQL operation instead, e.g. "{ customers { id } }"')
    .option("--variables <json>", "its variables", jsonObject)
    .option("--operation-name <name>", "its operationName")
    .option("--endpoint <path>", "path of the GraphQL endpoint (default: the set's first GraphQL path)")
    .option("--websocket <path>", "explain a WebSocket handshake instead")
    .option("--message <json>", "a message from the client after the handshake; repeatable", add("send"))
    .option("--receive <json>", "a message from the server after the handshake; repeatable", add("receive"))
    .option("-H, --header <line>", "a header, e.g. 'x-tier: gold'; repeatable", collect, [])
    .option("--body <json>", "the request's JSON body")
    .option("--response <json>", "the application's response: JSON, or a file name")
    .option("--response-status <number>", "status of the response", status, 200)
    .option("--response-header <line>", "a header of the response; repeatable", collect, [])
    .option("-u, --user <json>", "attributes of the caller (default: not signed in)", jsonObject)
    .option("--customer <json>", "attributes of the caller's customer", jsonObject)
    .option(
      "--cookie",
      "the caller is identified by `identity.cookie`, so the headers sec-fetch-site and origin are checked; " +
        "implied if a `cookie` header contains that cookie",
    )
    .option("--trusted-origin <origin>", "one of `identity.trusted_origins`; repeatable", trustedOrigin, [])
    .option(
      "--attributes <json>",
      'attributes that a source would return, by root, e.g. {"target_user":{"department":"sales"}}',
      jsonObject,
    )
    .option("--time <iso>", "env.time (default: now)")
    .option("--client-ip <address>", "the client's address", "127.0.0.1")
    .option("-c, --config <file>", "gateway configuration to use: settings, attribute sources and policies")
    .option("-s, --policy-set <name>", 'the policy set (default: from the configuration, or "default")')
    .option(
      "-d, --directory <folder>",
      'folder with the policy sets (default: from the configuration, or "policies")',
    )
    .option("--from <url>", "use the active policy set and the records of this control plane")
    .option("--api-key-file <file>", "file with its API key (default: from the configuration)")
    .option("--request-id <id>", "explain a past decision instead, by request id or decision id")
    .option(
      "--audit-file <file>",
      "file with its record (default: from the configuration, or the control plane)",
    )
    .option("--json", "print the explanation as JSON")
    .action(async (options: ExplainOptions) => {
      checkOptions(options, messages);
      const gateway = await openGateway(options);
      try {
        const past = options.requestId;
        write(
          past === undefined
            ? await explain(await gateway.policySet(), gateway, options, messages)
            : await explainPast(gateway, { ...options, requestId: past }),
        );
        gateway.checkLookups();
      } finally {
        gateway.close();
      }
    });
}

async function explain(
  ir: PolicySetIR,
  gateway: ExplainedGateway,
  options: ExplainOptions,
  messages: readonly Message[],
): Promise<string> {
  const answer = await sampleOf(options);
  const explained = await explainExchange(ir, gateway.settings, {
    sent: requestOf(options, ir),
    ...(options.user && { user: options.user }),
    ...(options.customer && { customer: options.customer }),
    ...(options.cookie && { byCookie: { trustedOrigins: options.trustedOrigin } }),
    lookup: (root, key) => gateway.lookup(options.attributes, ir, root, key),
    now: timeOf(options.time),
    clientIp: options.clientIp,
    ...(answer && { answer }),
    messages,
  }).catch(unsupported);
  return options.json
    ? `${JSON.stringify(plainExplanation(explained), null, 2)}\n`
    : renderExchange(explained);
}

/** Rejects options that have no effect together, so that nobody takes the output for an answer that considers them. */
function checkOptions(options: ExplainOptions, messages: readonly Message[]): void {
  const { requestId } = options;
  const asked = [options.request, options.graphql, options.websocket, requestId];
  if (asked.filter((one) => one !== undefined).length !== 1)
    throw usage("pass exactly one of --request, --graphql, --websocket and --request-id");
  if (requestId === undefined && options.auditFile !== undefined)
    throw usage("--audit-file needs --request-id");
  if (requestId !== undefined && options.response !== undefined)
    throw usage("--response needs --request or --graphql");
  if (options.websocket === undefined && messages.length > 0) {
    throw usage("--message and --receive need --websocket");
  }
  if (options.cookie && options.user === undefined)
    throw usage("--cookie needs --user (the owner of the cookie)");
  if (!options.cookie && options.trustedOrigin.length > 0) throw usage("--trusted-origin needs --cookie");
  if (options.websocket !== undefined && options.response !== undefined) {
    throw usage("--response needs --request or --graphql; for a WebSocket use --receive");
  }
}

function requestOf(options: ExplainOptions, ir: PolicySetIR): RawRequest {
  const { graphql, websocket, request = "", variables, operationName } = options;
  if (graphql !== undefined) {
    const path = options.endpoint ?? ir.graphql.settings.paths[0] ?? "/graphql";
    const body = { query: graphql, ...(variables && { variables }), ...(operationName && { operationName }) };
    return rawRequest(`POST ${path}`, options.header, JSON.stringify(body));
  }
  if (websocket === undefined) return rawRequest(request, options.header, options.body);
  const handshake = rawRequest(`GET ${websocket}`, options.header, undefined);
  return { ...handshake, headers: [...HANDSHAKE_HEADERS, ...handshake.headers] };
}

async function sampleOf(options: ExplainOptions): Promise<SampleAnswer | undefined> {
  const { response, responseStatus, responseHeader } = options;
  if (response === undefined) return undefined;
  const text = /^\s*[[{"]/.test(response)
    ? response
    : await readFile(response, "utf8").catch(unreadable(response));
  const { headers } = rawRequest("GET /", responseHeader, undefined);
  return { status: responseStatus, headers, text };
}

function unreadable(name: string): (error: unknown) => never {
  return (error) => {
    throw usage(`cannot read \`${name}\`: ${errorMessage(error)}`);
  };
}

/** A sample that only a gateway can evaluate is a usage error. */
function unsupported(error: unknown): never {
  throw error instanceof UnsupportedSample ? usage(error.message) : error;
}

function timeOf(text: string | undefined): number {
  const time = text === undefined ? Date.now() : Date.parse(text);
  if (Number.isNaN(time)) throw usage(`\`${text ?? ""}\` is not a time such as 2026-01-31T12:00:00Z`);
  return time;
}

function status(text: string): number {
  if (/^[2-5]\d\d$/.test(text)) return Number(text);
  throw new InvalidArgumentError("is not a status from 200 to 599");
}

const MAX_DEPTH = 64;

/** Parsed as the gateway parses claims and bodies: a number that is not exact is unknown here, too. */
function jsonObject(text: string): JsonObject {
  try {
    const { value, duplicateMember } = parseJson(text, { depth: MAX_DEPTH });
    if (isObject(value) && !duplicateMember) return value;
  } catch {
    // reported below, together with JSON that is not an object
  }
  throw new InvalidArgumentError("is not a JSON object");
}

function trustedOrigin(text: string, before: readonly string[]): readonly string[] {
  if (readOrigin(text) !== undefined) return [...before, text];
  throw new InvalidArgumentError("is not an origin such as https://app.example.com");
}

function usage(message: string): ExitError {
  return new ExitError(message, EXIT_USAGE);
}

function collect(line: string, before: readonly string[]): readonly string[] {
  return [...before, line];
}

import { randomUUID } from "node:crypto";
import type { DecodedCheck, DoorCall, UnknownParts } from "../../decision/point/index.ts";
import { withoutAppendedPeer } from "../../decision/headers/appended-peer.ts";
import type { RawRequest } from "../../request/index.ts";
import { DESCRIPTIONS, oneAddress } from "../sub-request.ts";
import { readArn, whyNoResource, type MethodArn } from "./arn.ts";
import type { AwsEvent, Named, RequestEvent, TokenEvent } from "./event.ts";
import type { AwsSettings } from "./settings.ts";
import { encodeDecoded, pathWithin, queryOf } from "./target.ts";

/** API Gateway writes these itself, whatever the client sends. */
const WRITTEN = new Set(["x-forwarded-port", "cloudfront-forwarded-proto"]);
/**
 * Every event has these, whatever the client sent: API Gateway writes the scheme, and appends the address. About
 * X-Forwarded-Host it says nothing.
 */
const OF_EVERY_EVENT = new Set(["x-forwarded-for", "x-forwarded-proto"]);

/**
 * An event to the decision point's input. The body is absent: authorizers do not get it.
 *
 * @throws Error if parts of the event are missing or contradict each other
 */
export function decodeEvent(
  event: AwsEvent,
  settings: AwsSettings,
  { deadline, traceparent }: DoorCall,
): DecodedCheck {
  const arn = readArn(event.arn);
  const described = event.form === "token" ? ofToken(event, arn) : ofRequest(event, arn, settings);
  const unenforceable = whyUnenforceable(event, arn, settings);
  return {
    access: {
      ...described,
      requestId: randomUUID(),
      receivedAt: Date.now(),
      deadline,
      ...(traceparent !== undefined && { traceparent }),
    },
    carries: DESCRIPTIONS.carries,
    overwrites: OF_EVERY_EVENT,
    ...(unenforceable !== undefined && { unenforceable }),
  };
}

type Described = Pick<DecodedCheck["access"], "raw" | "peer" | "unknown">;

const UNKNOWN_TO_TOKEN: UnknownParts = {
  headers: "all",
  query: "all",
  // to a proxy in front, the client may have spoken plain HTTP
  members: new Set(["client_ip", "host", "protocol", "scheme"]),
};

function ofToken({ token }: TokenEvent, { method, path }: MethodArn): Described {
  return {
    raw: {
      method,
      target: encodeDecoded(path),
      scheme: "https",
      // required of every request; what rules read of it is unknown
      host: "unknown.invalid",
      protocol: "HTTP/1.1",
      headers: token === "" ? [] : [["authorization", latin1(token)]],
    },
    peer: "",
    unknown: UNKNOWN_TO_TOKEN,
  };
}

function ofRequest(event: RequestEvent, arn: MethodArn, { basePaths }: AwsSettings): Described {
  if (event.method !== arn.method) throw new Error("the event's method is not that of its ARN");
  const within = pathWithin(event, arn, basePaths);
  // it was decoded: what comes behind it would be read as the query
  if (event.form === "rest" && within.includes("?")) throw new Error("the event's path contains `?`");
  const query = queryOf(event.query);
  const { headers, unknown } = headersOf(event);
  const hosts = headers.flatMap(([name, value]) => (name === "host" ? [value] : []));
  const host = event.host ?? hosts[0];
  if (host === undefined) throw new Error("the event has no host");
  return {
    raw: {
      method: event.method,
      target: `${event.form === "rest" ? within : encodeDecoded(within)}${query.text}`,
      // API Gateway serves nothing else
      scheme: "https",
      host,
      protocol: event.protocol,
      // API Gateway has appended its peer
      headers: withoutAppendedPeer(headers, event.address).headers,
    },
    peer: oneAddress(event.address),
    unknown: {
      // it writes its own scheme over that of a proxy in front
      forwarding: "scheme",
      ...(unknown.size > 0 && { headers: unknown }),
      ...(query.unknown !== undefined && { query: query.unknown }),
    },
  };
}

interface AwsHeaders {
  readonly headers: RawRequest["headers"];
  /** Names of those whose value is not what the application gets for sure. */
  readonly unknown: ReadonlySet<string>;
}

/** Format 2.0 joins repeated headers with commas, so a value with a comma may have been several. */
function headersOf({ form, headers: named }: RequestEvent): AwsHeaders {
  const headers: (readonly [string, string])[] = [];
  const unknown = new Set<string>();
  for (const [sent, values] of lowerCased(named)) {
    for (const value of values) {
      headers.push([sent, latin1(value)]);
      // which bytes it was is not known
      if (/[^\x20-\x7e\t]/.test(value) || (form === "http-2.0" && value.includes(","))) unknown.add(sent);
    }
  }
  return { headers, unknown };
}

function lowerCased(named: Named): Named {
  return named
    .map(([name, values]) => [name.toLowerCase(), values] as const)
    .filter(([name]) => !WRITTEN.has(name));
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** @returns why a permit would not stay with this request, or was decided on something else than the application gets */
function whyUnenforceable(event: AwsEvent, arn: MethodArn, settings: AwsSettings): string | undefined {
  if (!settings.uncached && !isUncached(event))
    return "API Gateway's cache may apply the answer to other requests (`authz.aws.uncached`)";
  if (event.form === "token" && !settings.tokenAuthorizers)
    return "a TOKEN authorizer does not see the headers (`authz.aws.token_authorizers`)";
  if (event.form.startsWith("http-") && !settings.decodedPaths)
    return "an HTTP API shows only the decoded path (`authz.aws.decoded_paths`)";
  return isSimple(event, settings) ? undefined : whyNoResource(arn);
}

/** An authorizer without identity sources cannot cache. Only HTTP APIs tell. */
function isUncached(event: AwsEvent): boolean {
  return event.form !== "token" && event.hasIdentitySources === false;
}

/** Whether the answer is `isAuthorized` instead of a policy. */
export function isSimple({ form }: AwsEvent, { simpleResponses }: AwsSettings): boolean {
  return form === "http-2.0" && simpleResponses;
}

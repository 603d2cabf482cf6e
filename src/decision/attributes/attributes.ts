import type { Identity } from "../../identity/types.ts";
import {
  readAttribute,
  UNAVAILABLE,
  type Attributes,
  type Value,
  type ValueList,
  type ValueObject,
} from "../../policy/evaluation.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import { inTime } from "../../runtime/in-time.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import type { AttributeSource } from "./sources.ts";

/** What a door cannot tell of a request. What conditions read of it is unknown, not absent. */
export interface UnknownParts {
  /** Names of headers, or all. */
  readonly headers?: ReadonlySet<string> | "all";
  /** Names of query parameters, or all. */
  readonly query?: ReadonlySet<string> | "all";
  /** Other members of `request`. */
  readonly members?: ReadonlySet<"client_ip" | "host" | "protocol" | "scheme">;
  /**
   * What the peer says of its own client in headers: all of it, or only X-Forwarded-Proto. If the peer is a trusted proxy, address,
   * scheme and host of its client are unknown then, or only the scheme.
   */
  readonly forwarding?: "all" | "scheme";
  /** What is not said of the caller: somebody who may say who is calling has said only a part. */
  readonly identity?: true;
}

/** The inputs for the attributes of one request. */
export interface AttributeInput {
  readonly request: CanonicalRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly identity: Identity | undefined;
  readonly clientIp: string;
  readonly body: Value | undefined;
  readonly unknown?: UnknownParts;
  /** Unix ms. */
  readonly now: number;
  readonly environment: string;
}

/** Builds only the roots that the rule reads. Declared sources are added by {@link withSources}. */
export function attributesFor(needs: RuleNeeds, input: AttributeInput): Attributes {
  const { roots } = needs;
  const { identity } = input;
  const isPart = input.unknown?.identity === true && identity !== undefined;
  return {
    user: isPart ? withUnsaid("user", identity.user, needs) : identity?.user,
    customer: isPart ? withUnsaid("customer", identity.customer ?? {}, needs) : identity?.customer,
    path: roots.has("path") ? input.params : undefined,
    request: roots.has("request") ? requestAttributes(needs, input) : undefined,
    env: roots.has("env") ? environmentAttributes(input.now, input.environment) : undefined,
  };
}

/** Attributes that are read and were not said are unavailable. */
function withUnsaid(root: string, said: ValueObject, { reads }: RuleNeeds): ValueObject {
  const unsaid = reads.flatMap(([first, name]) =>
    first === root && name !== undefined && !Object.hasOwn(said, name) ? [[name, UNKNOWN] as const] : [],
  );
  return unsaid.length === 0 ? said : { ...said, ...Object.fromEntries(unsaid) };
}

/** Timeout of one look-up, ms. Envoy gives up on the whole decision not much later. */
const LOOKUP_MS = 250;

/**
 * Looks up the sources that a rule reads. If a source fails, times out or is not configured, its value is UNAVAILABLE,
 * which is unknown to every operator. Never rejects.
 */
export async function withSources(
  needs: RuleNeeds,
  attributes: Attributes,
  sources: ReadonlyMap<string, AttributeSource>,
  timeoutMs = LOOKUP_MS,
): Promise<Attributes> {
  const found = await Promise.all(
    needs.sources.map(async ({ root, source, key }) => {
      const at = onlyValue(readAttribute(key, attributes));
      // an inexact number could be several keys
      if (at === UNAVAILABLE || Number.isNaN(at)) return [root, UNAVAILABLE] as const;
      if (typeof at !== "string" && typeof at !== "number") return [root, undefined] as const;
      try {
        const reader = sources.get(source);
        const entry = reader === undefined ? UNAVAILABLE : reader.lookup(String(at), root);
        return [
          root,
          entry instanceof Promise ? await inTime(entry, timeoutMs, UNAVAILABLE) : entry,
        ] as const;
      } catch {
        return [root, UNAVAILABLE] as const; // the source itself counts and logs its failures
      }
    }),
  );
  return { ...attributes, ...Object.fromEntries(found) };
}

/** Headers and query parameters are lists: one sent once can be a key, a repeated one cannot. */
function onlyValue(value: Value | typeof UNAVAILABLE | undefined): Value | typeof UNAVAILABLE | undefined {
  return Array.isArray(value) && value.length === 1 ? (value as ValueList)[0] : value;
}

/** Evaluation also accepts UNAVAILABLE below a root, which the type of a plain value does not express. */
const UNKNOWN = UNAVAILABLE as unknown as Value;

function requestAttributes(
  needs: RuleNeeds,
  { request, clientIp, body, unknown }: AttributeInput,
): ValueObject {
  const known = {
    method: request.method,
    path: request.path,
    host: request.host === "" ? UNKNOWN : request.host,
    scheme: request.scheme,
    protocol: request.protocol === "" ? UNKNOWN : request.protocol,
    client_ip: clientIp,
    ...(needs.headers && { headers: knownOf(request.headers, unknown?.headers) }),
    ...(needs.query && { query: knownOf(request.query, unknown?.query) }),
    ...(needs.body && bodyAttribute(request, body)),
  };
  if (unknown?.members === undefined) return known;
  return { ...known, ...Object.fromEntries([...unknown.members].map((member) => [member, UNKNOWN])) };
}

function knownOf(
  values: Readonly<Record<string, readonly string[]>>,
  unknown: ReadonlySet<string> | "all" | undefined,
): Value {
  if (unknown === undefined) return values;
  if (unknown === "all") return UNKNOWN;
  const known = Object.create(null) as Record<string, Value>;
  for (const [name, value] of Object.entries(values)) known[name] = value;
  for (const name of unknown) known[name] = UNKNOWN;
  return known;
}

/**
 * Without a body, the attribute is missing. A body that the proxy did not send, or that is not JSON, makes it
 * unavailable: the application may find in it what `not exists(request.body.x)` rules out. Headers do not tell whether
 * there is a body: HTTP/2 needs none to announce one, and Envoy removes Transfer-Encoding before the check.
 */
function bodyAttribute(request: CanonicalRequest, json: Value | undefined): ValueObject {
  if (json !== undefined) return { body: json };
  const unread = request.body === undefined || request.body.bytes.length > 0;
  return unread ? { body: UNKNOWN } : {};
}

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

/** `env.*`: always UTC; `time` in whole seconds, so that times compare as strings. */
export function environmentAttributes(now: number, environment: string): ValueObject {
  const date = new Date(now);
  const iso = date.toISOString();
  return {
    time: `${iso.slice(0, 19)}Z`,
    date: iso.slice(0, 10),
    hour: date.getUTCHours(),
    weekday: WEEKDAYS[date.getUTCDay()] ?? "",
    environment,
  };
}

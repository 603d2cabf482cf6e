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

/** The inputs for the attributes of one request. */
export interface AttributeInput {
  readonly request: CanonicalRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly identity: Identity | undefined;
  readonly clientIp: string;
  readonly body: Value | undefined;
  /** Unix ms. */
  readonly now: number;
  readonly environment: string;
}

/** Builds only the roots that the rule reads. Declared sources are added by {@link withSources}. */
export function attributesFor(needs: RuleNeeds, input: AttributeInput): Attributes {
  const { roots } = needs;
  return {
    user: input.identity?.user,
    customer: input.identity?.customer,
    path: roots.has("path") ? input.params : undefined,
    request: roots.has("request") ? requestAttributes(needs, input) : undefined,
    env: roots.has("env") ? environmentAttributes(input.now, input.environment) : undefined,
  };
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

function requestAttributes(needs: RuleNeeds, { request, clientIp, body }: AttributeInput): ValueObject {
  return {
    method: request.method,
    path: request.path,
    host: request.host === "" ? UNKNOWN : request.host,
    scheme: request.scheme,
    protocol: request.protocol,
    client_ip: clientIp,
    ...(needs.headers && { headers: request.headers }),
    ...(needs.query && { query: request.query }),
    ...(needs.body && bodyAttribute(request, body)),
  };
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

import type { Identity } from "../../identity/types.ts";
import {
  readAttribute,
  UNAVAILABLE,
  type Attributes,
  type Value,
  type ValueList,
  type ValueObject,
} from "../../policy/index.ts";
import type { CanonicalRequest } from "../../request/index.ts";
import { inTime } from "../../runtime/in-time.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import type { AttributeSource } from "./sources.ts";

/** What the attributes of one request are made from. */
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

/** Builds the roots that the rule reads, and no others. Declared sources are added by {@link withSources}. */
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

/** How long one look-up may take, ms; Envoy gives up on the whole decision not much later. */
const LOOKUP_MS = 250;

/**
 * Looks up the sources a rule reads. A source that fails, is late, or is not configured, leaves UNAVAILABLE: unknown to
 * every operator. Rejects never.
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
      // a number that is not exact may be the key of anything
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
        return [root, UNAVAILABLE] as const; // the source counts and logs its own failures
      }
    }),
  );
  return { ...attributes, ...Object.fromEntries(found) };
}

/** Headers and query parameters are lists: one that was sent once is a key, one that was repeated is none. */
function onlyValue(value: Value | typeof UNAVAILABLE | undefined): Value | typeof UNAVAILABLE | undefined {
  return Array.isArray(value) && value.length === 1 ? (value as ValueList)[0] : value;
}

/** Evaluation knows the mark below a root, too, which the type of a plain value does not say. */
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
 * No body is a missing attribute. A body that was not handed over, or is there and was not read (it is no JSON), is
 * unavailable: an application may find in it what `not exists(request.body.x)` rules out. No header tells that there is
 * none: HTTP/2 needs none to announce a body, and Envoy removes Transfer-Encoding before it asks.
 */
function bodyAttribute(request: CanonicalRequest, json: Value | undefined): ValueObject {
  if (json !== undefined) return { body: json };
  const unread = request.body === undefined || request.body.bytes.length > 0;
  return unread ? { body: UNKNOWN } : {};
}

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

/** `env.*`: UTC throughout; `time` in whole seconds, so that times compare as strings. */
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

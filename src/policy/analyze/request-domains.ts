import type { AttributePath } from "../ir.ts";
import { MISSING, type Domain, type Domains } from "./domain.ts";
import type { Values } from "./routes.ts";
import type { TextRange } from "./text-candidates.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/** What the route of a request determines. */
export interface RouteFacts {
  readonly methods: Values;
  /** An example of the path. */
  readonly path: string;
  /** The values of a path parameter, by name; absent if the route has none of this name. */
  readonly parameter: (name: string) => Values | undefined;
  /** Why not every value of a path parameter is tried, if so. */
  readonly incomplete?: string;
}

/**
 * What requests on a route can be. Without a route: what any request can be. A text that the gateway refuses anyway, such
 * as `..` in a path, is included: to try too much finds no wrong "none".
 */
export function requestDomains(route?: RouteFacts): Domains {
  return { of: (path) => domainOf(path, route) };
}

/**
 * More than requests can be: where only some texts are possible, any text is. What holds for all of these holds for all
 * requests.
 *
 * @param method - of the rule, or `*`
 */
export function textDomains(method = "*"): Domains {
  const accepts = (text: string) =>
    method === "*" || text === method || (method === "GET" && text === "HEAD");
  const samples = method === "*" ? ["GET"] : [method];
  const methods: Domain =
    method === "*" ? TEXT : { kind: "text", range: { accepts, samples: () => samples }, missing: false };
  return {
    of(path) {
      const [root = "", member = ""] = path;
      if (root === "request" && path.length === 2 && member === "method") return methods;
      if (root === "request" && path.length === 2 && TEXTS.has(member)) return TEXT;
      if (root === "env" && path.length === 2 && (member === "date" || member === "time")) return TEXT;
      if (root === "path" && path.length === 2) return { kind: "text", range: {}, missing: true };
      return domainOf(path, undefined);
    },
  };
}

const TEXTS: ReadonlySet<string> = new Set(["path", "host", "scheme", "protocol", "client_ip"]);
const TEXT: Domain = { kind: "text", range: {}, missing: false };

function domainOf(path: AttributePath, route: RouteFacts | undefined): Domain {
  const [root = "", member = ""] = path;
  if (root === "request") return requestDomain(path, member, route);
  if (root === "env" && path.length === 2) return environmentDomain(member);
  if (root === "path" && path.length === 2 && route !== undefined) {
    const values = route.parameter(member);
    if (values === undefined) return { kind: "values", values: [MISSING] };
    const { incomplete } = route;
    return {
      kind: "text",
      range: { ...rangeOf(values), ...(incomplete !== undefined && { incomplete }) },
      missing: false,
    };
  }
  if (root === "user" && member === "id" && path.length === 2)
    return { kind: "text", range: {}, missing: true };
  return { kind: "any", unavailable: true };
}

function rangeOf({ accepts, samples, exceptions }: Values): TextRange {
  return { accepts, samples: () => samples, points: exceptions };
}

function requestDomain(path: AttributePath, member: string, route: RouteFacts | undefined): Domain {
  if (path.length === 3 && (member === "query" || member === "headers")) return { kind: "sent" };
  if (path.length === 2 && member === "method" && route !== undefined) {
    return { kind: "text", range: rangeOf(route.methods), missing: false };
  }
  if (path.length === 2 && member === "path" && route !== undefined) {
    return partly("path", { accepts: (text) => text === route.path, samples: () => [route.path] });
  }
  if (path.length === 2 && member === "client_ip") {
    return partly("client_ip", {
      samples: ({ prefixes }) => ["203.0.113.7", ...prefixes.map(completed)],
      accepts: (text) => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text),
    });
  }
  if (path.length === 2 && member === "host") {
    return partly("host", { accepts: (text) => /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(text) });
  }
  if (path.length === 2 && (member === "scheme" || member === "protocol")) {
    const value = member === "scheme" ? "http" : "HTTP/1.1";
    return partly(member, { accepts: (text) => text === value, samples: () => [value] });
  }
  return { kind: "any", unavailable: member === "body" };
}

/** `10.1.` begins the address `10.1.0.1`. */
function completed(prefix: string): string {
  const parts = prefix.split(".").filter((part) => part !== "");
  return [...parts, "0", "0", "0"].slice(0, 3).concat("1").join(".");
}

/** Only some of the values are tried. */
function partly(member: string, range: TextRange): Domain {
  const incomplete = `not every value of \`request.${member}\` is tried`;
  return { kind: "text", range: { ...range, incomplete }, missing: false };
}

function environmentDomain(member: string): Domain {
  if (member === "hour") return { kind: "values", values: HOURS };
  if (member === "weekday") return { kind: "values", values: WEEKDAYS };
  if (member !== "date" && member !== "time") return { kind: "any", unavailable: false };
  const form = member === "date" ? /^\d{4}-\d\d-\d\d$/ : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
  const isTime = (text: string) => form.test(text) && !Number.isNaN(Date.parse(text));
  return {
    kind: "text",
    range: {
      accepts: isTime,
      samples: ({ points }) => [...points, "2026-01-31"].flatMap((text) => around(text, member)),
      incomplete: `not every value of \`env.${member}\` is tried`,
    },
    missing: false,
  };
}

const DAY_MS = 86_400_000;

function around(text: string, member: string): string[] {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return [];
  return [0, 1000, -1000, DAY_MS, -DAY_MS].map((by) => {
    const iso = new Date(time + by).toISOString();
    return member === "date" ? iso.slice(0, 10) : `${iso.slice(0, 19)}Z`;
  });
}

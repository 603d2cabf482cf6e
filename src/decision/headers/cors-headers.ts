import type { CorsIR } from "../../policy/index.ts";
import { readOrigin, type RawRequest } from "../../request/index.ts";

type Headers = readonly (readonly [name: string, value: string])[];

/** The headers by which a page of another origin may read an answer of the gateway. */
export interface CorsGrant {
  /** Of a denial or an error. */
  readonly answer: Headers;
  /** Of the answer to a preflight. */
  readonly preflight: Headers;
}

/** A set's `cors`, prepared. */
export interface Cors {
  /** @returns `undefined` if the request has no origin, or another one than the set lists */
  grant(origins: readonly string[] | undefined): CorsGrant | undefined;
  /** The headers of answers by origin, as the set writes it; `*` for all others. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The headers of the gateway's own answers that pages may read besides those that CORS always shows. */
const EXPOSED = "www-authenticate, retry-after, x-request-id, grpc-status, grpc-message";

/** Prepares the `cors` of a policy set: the headers are those of the set, and none repeats what a client has sent. */
export function createCors(cors: CorsIR): Cors {
  const anyone = cors.origins.includes("*") ? grantOf("*", cors) : undefined;
  const grants = new Map(cors.origins.map((origin) => [formOf(origin), grantOf(origin, cors)]));
  return {
    answers: Object.fromEntries(
      cors.origins.map((origin) => [origin, Object.fromEntries(grantOf(origin, cors).answer)]),
    ),
    grant(origins) {
      const [text] = origins ?? [];
      if (text === undefined || origins?.length !== 1) return undefined;
      const form = formOf(text);
      return form === undefined ? undefined : (anyone ?? grants.get(form));
    },
  };
}

/** @returns every value of the request's Origin header */
export function originsOf(headers: RawRequest["headers"]): readonly string[] | undefined {
  const values = headers.flatMap(([name, value]) => (name === "origin" ? [value.trim()] : []));
  return values.length === 0 ? undefined : values;
}

/** Adds the headers of a grant; the response depends on the origin as well. */
export function withCors(headers: Headers, { answer }: CorsGrant): Headers {
  const vary = headers.filter(([name]) => name === "vary").map(([, value]) => value);
  const others = headers.filter(([name]) => name !== "vary");
  return [...others, ["vary", [...vary, "origin"].join(", ")], ...answer];
}

/** The headers of the answer to a preflight; without a grant, browsers take it for a refusal. */
export function preflightHeaders(grant: CorsGrant | undefined): Headers {
  return [...(grant?.preflight ?? []), ["vary", "origin"]];
}

/** Origins that are equal have the same form; `undefined` for what is no origin. */
function formOf(text: string): string | undefined {
  return text === "null" ? text : readOrigin(text);
}

function grantOf(origin: string, { credentials, methods, headers, maxAge }: CorsIR): CorsGrant {
  const common: Headers = [
    ["access-control-allow-origin", origin],
    ...(credentials ? ([["access-control-allow-credentials", "true"]] as const) : []),
  ];
  return {
    answer: [...common, ["access-control-expose-headers", EXPOSED]],
    preflight: [
      ...common,
      ...list("access-control-allow-methods", methods),
      ...list("access-control-allow-headers", headers),
      ["access-control-max-age", String(maxAge)],
    ],
  };
}

function list(name: string, items: readonly string[]): Headers {
  return items.length === 0 ? [] : [[name, items.join(", ")]];
}

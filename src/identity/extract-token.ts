import { trimBlanks } from "./trim-blanks.ts";

/** Where a request may carry its caller's token. */
export type ExtractedToken =
  | { readonly kind: "bearer" | "cookie" | "proxy"; readonly token: string }
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly detail: string };

export interface ExtractOptions {
  /** The request comes from a front proxy that may act for the caller (specification 2.11). */
  readonly trustedProxy: boolean;
  /** Name of a cookie that may contain the token. */
  readonly cookie?: string;
}

const NONE: ExtractedToken = { kind: "none" };

/** RFC 9110, section 11.2. */
const TOKEN68 = /^[A-Za-z0-9\-._~+/]+=*$/;
/** `Bearer` and its value; RFC 9110, section 11.1: the scheme is case-insensitive. */
const BEARER = /^bearer(?![!#$%&'*+\-.^_`|~0-9a-z])(?: +([^]*))?/i;

/**
 * Finds the token of a request: `X-User-Token` of a trusted proxy, else `Authorization: Bearer` (RFC 6750, section
 * 2.1), else the cookie. If the proxy sends its header, `Authorization` is the proxy's own and is ignored. Other schemes
 * carry no token; a Bearer value that is not exactly one token is malformed.
 *
 * @param headers values by lower-case name.
 */
export function extractToken(
  headers: Readonly<Record<string, readonly string[]>>,
  { trustedProxy, cookie }: ExtractOptions,
): ExtractedToken {
  const forwarded = trustedProxy ? headers["x-user-token"] : undefined;
  const found =
    forwarded === undefined ? fromAuthorization(headers["authorization"] ?? []) : fromProxy(forwarded);
  return found.kind === "none" && cookie !== undefined ? fromCookie(headers["cookie"] ?? [], cookie) : found;
}

function fromAuthorization(values: readonly string[]): ExtractedToken {
  const [value, ...others] = values;
  if (value === undefined) return NONE;
  if (others.length > 0) return malformed("the header `authorization` is repeated");
  return fromCredentials(value, "authorization", "bearer");
}

/** The caller's Authorization value, or only the token. */
function fromProxy(values: readonly string[]): ExtractedToken {
  const [value = "", ...others] = values;
  if (others.length > 0) return malformed("the header `x-user-token` is repeated");
  const credentials = trimBlanks(value);
  return TOKEN68.test(credentials) && !BEARER.test(credentials)
    ? { kind: "proxy", token: credentials }
    : fromCredentials(value, "x-user-token", "proxy");
}

function fromCredentials(value: string, header: string, kind: "bearer" | "proxy"): ExtractedToken {
  const credentials = BEARER.exec(trimBlanks(value));
  if (credentials === null) return NONE;
  const token = credentials[1] ?? "";
  return TOKEN68.test(token)
    ? { kind, token }
    : malformed(`the header \`${header}\` does not contain exactly one bearer token`);
}

/** RFC 6265, section 4.2.1. */
function fromCookie(values: readonly string[], name: string): ExtractedToken {
  const found = values
    .flatMap((value) => value.split(";"))
    .map(trimBlanks)
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1).replace(/^"(.*)"$/, "$1"));
  const [token, ...others] = found;
  if (others.length > 0) return malformed("the token's cookie is repeated");
  if (token === undefined || token === "") return NONE;
  return TOKEN68.test(token)
    ? { kind: "cookie", token }
    : malformed("the token's cookie does not contain exactly one token");
}

function malformed(detail: string): ExtractedToken {
  return { kind: "malformed", detail };
}

import { isForeignToken } from "./foreign-token.ts";
import { ALB_HEADER, PROTOCOL_HEADER, type TokenSources } from "./token-sources.ts";
import { trimBlanks } from "./trim-blanks.ts";
import { decodeProtocolToken, readProtocols } from "./websocket-protocol.ts";

type Headers = Readonly<Record<string, readonly string[]>>;

/** The token of a request, and where it was. */
export interface PresentedToken {
  readonly kind: "bearer" | "cookie" | "proxy" | "header" | "alb" | "websocket" | "connection";
  readonly token: string;
}

export type ExtractedToken =
  | PresentedToken
  /** A bearer token of the application's own. */
  | { readonly kind: "foreign" }
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly detail: string };

export interface ExtractOptions extends TokenSources {
  /** The request comes from a front proxy that may act for the caller (specification 2.11). */
  readonly trustedProxy: boolean;
  /** What the first message of the connection carries, which the request has opened. */
  readonly ofConnection?: ExtractedToken | undefined;
}

/**
 * Whether browsers send such a token by themselves, whatever site makes the request: in a cookie, or in a header that an
 * access proxy derives from its own cookie.
 */
export function isAmbient(kind: ExtractedToken["kind"]): boolean {
  return kind === "cookie" || kind === "header" || kind === "alb";
}

const NONE: ExtractedToken = { kind: "none" };

/** RFC 9110, section 11.2. */
const TOKEN68 = /^[A-Za-z0-9\-._~+/]+=*$/;
/** The same, padded wherever base64 ends. */
const PADDED = /^[A-Za-z0-9\-._~+/=]+$/;
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** `Bearer` and its value; RFC 9110, section 11.1: the scheme is case-insensitive. */
const BEARER = /^bearer(?![!#$%&'*+\-.^_`|~0-9a-z])(?: +([^]*))?/i;

/**
 * Finds the token of a request: `X-User-Token` of a trusted proxy, else `Authorization: Bearer` (RFC 6750, section 2.1);
 * an access proxy's header; the WebSocket subprotocol; and only if there is none of these, the cookie. If the proxy sends
 * its header, `Authorization` is the proxy's own and is ignored. Other schemes carry no token; a Bearer value that is not
 * exactly one token is malformed, and so are two sources with different tokens: nobody could say which caller is meant.
 *
 * @param headers values by lower-case name.
 */
export function extractToken(headers: Headers, options: ExtractOptions): ExtractedToken {
  const { ofConnection: later } = options;
  const handshake = ofRequest(headers, options);
  if (later === undefined || later.kind === "none" || handshake.kind === "malformed") return handshake;
  // The application has the handshake with its cookies: a page of another site must not add a token of its own
  const isSame =
    handshake.kind === "none" ||
    later.kind === "malformed" ||
    ("token" in handshake && "token" in later
      ? handshake.token === later.token
      : handshake.kind === later.kind);
  return isSame ? later : malformed("`connection_init` and the handshake carry different tokens");
}

function ofRequest(headers: Headers, options: ExtractOptions): ExtractedToken {
  const { trustedProxy, cookie, header, alb = false, websocketProtocol: prefix } = options;
  const forwarded = trustedProxy ? headers["x-user-token"] : undefined;
  const credentials =
    forwarded === undefined
      ? ownedBy(options, fromAuthorization(headers["authorization"] ?? []))
      : fromProxy(forwarded);
  const found = [
    // first what is presented on purpose: the same token elsewhere does not make it less so
    credentials,
    prefix === undefined ? NONE : fromProtocols(headers[PROTOCOL_HEADER] ?? [], prefix),
    header === undefined ? NONE : fromHeader(headers, header, "header"),
    alb ? fromHeader(headers, ALB_HEADER, "alb") : NONE,
  ];
  const malformedOne = found.find(({ kind }) => kind === "malformed");
  if (malformedOne !== undefined) return malformedOne;
  const [first, ...others] = found.filter((one) => "token" in one);
  if (first !== undefined)
    return others.every(({ token }) => token === first.token)
      ? first
      : malformed("the request carries several different tokens");
  if (credentials.kind === "foreign" || cookie === undefined) return credentials;
  return fromCookie(headers["cookie"] ?? [], cookie);
}

/** A bearer token beside which another source may name the caller. */
function ownedBy({ foreignTo }: TokenSources, found: ExtractedToken): ExtractedToken {
  if (found.kind !== "bearer" || foreignTo === undefined) return found;
  return isForeignToken(found.token, foreignTo) ? { kind: "foreign" } : found;
}

/** The token alone; a padded one only where the sender pads. */
function fromHeader(headers: Headers, name: string, kind: "header" | "alb"): ExtractedToken {
  const [value, ...others] = headers[name] ?? [];
  if (value === undefined) return NONE;
  const token = trimBlanks(value);
  if (others.length > 0) return malformed(`the header \`${name}\` is repeated`);
  const form = kind === "alb" ? PADDED : TOKEN68;
  return form.test(token)
    ? { kind, token }
    : malformed(`the header \`${name}\` does not contain exactly one token`);
}

/** Browsers require an answer to what they offer: the application must be able to choose something else. */
function fromProtocols(values: readonly string[], prefix: string): ExtractedToken {
  const { tokens, others } = readProtocols(values, prefix);
  const [encoded, ...more] = tokens;
  if (encoded === undefined) return NONE;
  if (more.length > 0) return malformed("the token's subprotocol is repeated");
  if (others.length === 0) return malformed("no subprotocol is offered besides the one with the token");
  if (!others.every((protocol) => TOKEN.test(protocol))) return malformed("a subprotocol is malformed");
  const token = decodeProtocolToken(encoded, prefix);
  return token !== undefined && TOKEN68.test(token)
    ? { kind: "websocket", token }
    : malformed("the subprotocol does not contain exactly one token");
}

function fromAuthorization(values: readonly string[]): ExtractedToken {
  const [value, ...others] = values;
  if (value === undefined) return NONE;
  if (others.length > 0) return malformed("the header `authorization` is repeated");
  return fromBearer(value, "the header `authorization`", "bearer");
}

/** The caller's Authorization value, or only the token. */
function fromProxy(values: readonly string[]): ExtractedToken {
  const [value = "", ...others] = values;
  if (others.length > 0) return malformed("the header `x-user-token` is repeated");
  return fromCredentials(value, "the header `x-user-token`", "proxy");
}

/** An Authorization value, or only the token. @param where - for messages */
export function fromCredentials(value: string, where: string, kind: "proxy" | "connection"): ExtractedToken {
  const credentials = trimBlanks(value);
  return TOKEN68.test(credentials) && !BEARER.test(credentials)
    ? { kind, token: credentials }
    : fromBearer(value, where, kind);
}

function fromBearer(value: string, where: string, kind: PresentedToken["kind"]): ExtractedToken {
  const credentials = BEARER.exec(trimBlanks(value));
  if (credentials === null) return NONE;
  const token = credentials[1] ?? "";
  return TOKEN68.test(token)
    ? { kind, token }
    : malformed(`${where} does not contain exactly one bearer token`);
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

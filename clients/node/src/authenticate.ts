import { TokenError, type AccessTokenClaims, type TokenProblem, type TokenVerifier } from "./verify-token.ts";

/** Who sends a request, according to a verified access token. */
export interface Identity {
  readonly kind: "user" | "machine";
  readonly id: string;
  readonly customerId: string | undefined;
  readonly sessionId: string | undefined;
  readonly claims: AccessTokenClaims;
}

export interface MiddlewareOptions<R = never> {
  readonly verifier: TokenVerifier;
  /** Where the token is, if it is not in `Authorization`, which is then not read. `undefined`: the request has none. */
  readonly token?: (request: R) => string | undefined;
  /** Lets requests without a token pass, as nobody's. One with a token that is not valid is refused all the same. */
  readonly optional?: boolean;
}

/** What to answer in place of the application. */
export interface Refusal {
  readonly status: 401 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: { readonly code: TokenProblem } };
}

export type Authenticated = { readonly identity: Identity | undefined } | { readonly refusal: Refusal };

/** The request, and the values of its header `Authorization`. */
export interface Received<R> {
  readonly request: R;
  readonly authorization: readonly string[];
}

/**
 * Finds out who sends a request. Only the access token counts: the gateway's identity headers (`x-user-id`, ...) are not
 * signed, and anyone who reaches the application without the gateway can send them.
 */
export async function authenticate<R>(
  received: Received<R>,
  { verifier, token: read, optional = false }: MiddlewareOptions<R>,
): Promise<Authenticated> {
  const token = read === undefined ? bearerOf(received.authorization) : read(received.request);
  if (token === undefined || token === "")
    return optional ? { identity: undefined } : refusal("TOKEN_MISSING");
  if (token === MALFORMED) return refusal("TOKEN_MALFORMED");
  try {
    return { identity: identityOf(await verifier.verify(token)) };
  } catch (error) {
    return refusal(error instanceof TokenError ? error.code : "KEYS_UNAVAILABLE");
  }
}

const MALFORMED = Symbol("malformed");

/** RFC 6750, section 2.1. */
function bearerOf([value, ...more]: readonly string[]): string | typeof MALFORMED | undefined {
  if (more.length > 0) return MALFORMED;
  if (value === undefined || value === "") return undefined;
  return /^Bearer +([\w.~+/=-]+)$/i.exec(value)?.[1] ?? MALFORMED;
}

function identityOf(claims: AccessTokenClaims): Identity {
  return {
    kind: claims.principal_type === "machine" ? "machine" : "user",
    id: claims.sub,
    customerId: claims.customer_id,
    sessionId: claims.sid,
    claims,
  };
}

/** RFC 6750, section 3. */
function refusal(code: TokenProblem): { readonly refusal: Refusal } {
  const body = { error: { code } };
  if (code === "KEYS_UNAVAILABLE") return { refusal: { status: 503, headers: { "retry-after": "5" }, body } };
  const challenge = code === "TOKEN_MISSING" ? "Bearer" : 'Bearer error="invalid_token"';
  return { refusal: { status: 401, headers: { "www-authenticate": challenge }, body } };
}

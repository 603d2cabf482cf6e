import { decodeUtf8 } from "../text/index.ts";
import { parseTokenJson, type TokenJson } from "./token-json.ts";
import { normalizeType, type Algorithm, type ResolvedOptions } from "./options.ts";
import type { IdentityFailure } from "./types.ts";

/** The part of a token's header that is needed to look up a key. */
export interface TokenHeader {
  readonly algorithm: Algorithm;
  readonly keyId: string | undefined;
}

export interface TokenRejection {
  readonly ok: false;
  readonly reason: IdentityFailure;
  readonly detail: string;
}

export type TokenHeaderReading = { readonly ok: true; readonly header: TokenHeader } | TokenRejection;

/**
 * The checks that need no key: size, form (RFC 7515, section 7.1), algorithm, type. Key material that the header contains or
 * references (`jwk`, `jku`, `x5u`, `x5c`) is not used: a token must not choose the key that verifies it.
 */
export function readTokenHeader(
  token: string,
  options: Pick<ResolvedOptions, "maxTokenBytes" | "algorithms" | "tokenTypes">,
): TokenHeaderReading {
  if (token.length > options.maxTokenBytes) {
    return reject("TOKEN_TOO_LARGE", `the token is longer than ${options.maxTokenBytes} bytes`);
  }
  const segments = token.split(".");
  if (segments.length === 5) return reject("TOKEN_MALFORMED", "the token is encrypted");
  const [protectedHeader, payload, signature] = segments;
  if (
    segments.length !== 3 ||
    protectedHeader === undefined ||
    decodeSegment(protectedHeader) === undefined ||
    payload === undefined ||
    decodeSegment(payload) === undefined ||
    signature === undefined
  ) {
    return reject("TOKEN_MALFORMED", "the token does not have the form of a signed JWT");
  }
  const header = decodeObject(protectedHeader);
  if (!header.ok) return reject("TOKEN_MALFORMED", `the token's header is ${header.detail}`);

  const algorithm = [...options.algorithms].find((allowed) => allowed === header.value["alg"]);
  if (algorithm === undefined) {
    return reject("TOKEN_ALGORITHM_NOT_ALLOWED", "the token's algorithm is missing or not configured");
  }
  // checked only now, because an unsigned token has no signature
  if (signature === "" || decodeSegment(signature) === undefined) {
    return reject("TOKEN_MALFORMED", "the token's signature is missing or not base64url");
  }
  const { typ = "", kid } = header.value;
  if (typeof typ !== "string" || !options.tokenTypes.has(normalizeType(typ))) {
    return reject("TOKEN_TYPE_NOT_ALLOWED", "the token's type is not configured");
  }
  if (kid !== undefined && typeof kid !== "string") {
    return reject("TOKEN_MALFORMED", "the token's `kid` is not a string");
  }
  return { ok: true, header: { algorithm, keyId: kid } };
}

/** Parses one segment of a token strictly as a JSON object. */
export function decodeObject(segment: string, decode = decodeSegment): TokenJson {
  const bytes = decode(segment);
  if (bytes === undefined) return { ok: false, detail: "not base64url" };
  const { text, valid } = decodeUtf8(bytes);
  return valid ? parseTokenJson(text) : { ok: false, detail: "not UTF-8" };
}

/**
 * RFC 7515, section 2: base64url without padding. Non-canonical forms (padding, line breaks, stray bits at the end) are
 * rejected.
 */
export function decodeSegment(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, "base64url");
  return bytes.toString("base64url") === segment ? bytes : undefined;
}

export function reject(reason: IdentityFailure, detail: string): TokenRejection {
  return { ok: false, reason, detail };
}

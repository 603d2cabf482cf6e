import { SignJWT } from "jose";
import type { Value } from "../../../policy/index.ts";
import { ALGORITHM } from "./key-store.ts";
import type { SigningKey } from "./keyring.ts";
import { RESERVED_CLAIMS } from "../../tenancy/reserved-claims.ts";

/** The claims of an access token besides the user's attributes. */
export interface TokenFacts {
  readonly issuer: string;
  readonly audience: string;
  /** `sub`: a user, or a machine client. */
  readonly userId: string;
  /** Absent for a machine client that acts for no customer. */
  readonly customerId: string | undefined;
  /** The kind of `sub`. Default: `user`. */
  readonly principalType?: "user" | "machine";
  readonly sessionId: string;
  readonly clientId: string;
  readonly tokenId: string;
  readonly scope: string;
  readonly amr: readonly string[];
  readonly acr: string | undefined;
  /** Unix seconds, like all times here. */
  readonly authTime: number | undefined;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** Maximum size of the attributes as JSON, in bytes; with the rest, in base64url, the token stays below 8 KB. */
const ATTRIBUTES_BYTES = 4_500;

/** An access token, and the attributes that did not fit in it. */
export interface MadeToken {
  readonly token: string;
  readonly leftOut: readonly string[];
}

/**
 * Creates an access token (RFC 9068). Attributes that would make it too long for a header are omitted, the longest
 * first: for policies that read them they are missing, which permits nothing.
 */
export async function makeAccessToken(
  { kid, key }: SigningKey,
  facts: TokenFacts,
  attributes: Readonly<Record<string, Value>>,
): Promise<MadeToken> {
  const { kept, leftOut } = fitting(attributes);
  const claims = {
    ...kept,
    client_id: facts.clientId,
    sid: facts.sessionId,
    ...(facts.customerId !== undefined && { customer_id: facts.customerId }),
    principal_type: facts.principalType ?? "user",
    scope: facts.scope,
    amr: facts.amr,
    ...(facts.acr !== undefined && { acr: facts.acr }),
    ...(facts.authTime !== undefined && { auth_time: facts.authTime }),
  };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: "at+jwt", kid })
    .setIssuer(facts.issuer)
    .setAudience(facts.audience)
    .setSubject(facts.userId)
    .setJti(facts.tokenId)
    .setIssuedAt(facts.issuedAt)
    .setExpirationTime(facts.expiresAt)
    .sign(key);
  return { token, leftOut };
}

function fitting(attributes: Readonly<Record<string, Value>>) {
  const sized = Object.entries(attributes)
    .filter(([name]) => !RESERVED_CLAIMS.has(name))
    .map(([name, value]) => ({ name, value, bytes: Buffer.byteLength(JSON.stringify({ [name]: value })) }))
    .sort((a, b) => a.bytes - b.bytes);
  const kept: Record<string, Value> = {};
  const leftOut: string[] = [];
  let room = ATTRIBUTES_BYTES;
  for (const { name, value, bytes } of sized) {
    room -= bytes;
    if (room >= 0) kept[name] = value;
    else leftOut.push(name);
  }
  return { kept, leftOut };
}

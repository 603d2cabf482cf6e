import type { ValueObject } from "../policy/value.ts";
import type { Reason } from "../reasons.ts";

/** Who is asking, as a verified token says it. Immutable; shared by all requests that carry the same token. */
export interface Identity {
  /** `user.*` for conditions. */
  readonly user: ValueObject;
  /** `customer.*` for conditions; absent when the token names none. */
  readonly customer?: ValueObject;
  /** `user.id` as text, for audit and headers. */
  readonly userId: string;
  /** The token's own word about the sign-in behind it. */
  readonly session: SessionClaims;
  /** Unix seconds; the token's `exp`, without tolerance. */
  readonly expiresAt: number;
}

export interface SessionClaims {
  /** `sub`, whatever attribute is configured to be `user.id`. */
  readonly subject?: string;
  /** `sid` (OpenID Connect Front-Channel Logout 1.0, section 3). */
  readonly id?: string;
  /** `amr` (RFC 8176). */
  readonly amr: readonly string[];
  /** `acr` (OpenID Connect Core 1.0, section 2). */
  readonly acr?: string;
  /** `auth_time` (OpenID Connect Core 1.0, section 2); Unix seconds. */
  readonly authTime?: number;
  /** Nobody has signed in: a client has asked for the token by itself (RFC 6749, section 4.4). */
  readonly machine?: true;
}

export type IdentityFailure = Extract<Reason, `TOKEN_${string}` | `IDENTITY_${string}`>;

export type IdentityResult =
  | { readonly ok: true; readonly identity: Identity }
  /** `detail` is for logs and audit: it never holds the token or a part of it. */
  | { readonly ok: false; readonly reason: IdentityFailure; readonly detail: string };

/** Turns a token into an identity. */
export interface TokenVerifier {
  /** The answer when it is known without waiting (a cached token, still valid now), else `undefined`. */
  cached(token: string): IdentityResult | undefined;
  /** Never rejects. */
  verify(token: string): Promise<IdentityResult>;
  /** True once keys are there and not older than the stale limit. */
  ready(): boolean;
}

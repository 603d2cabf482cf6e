import type { ValueObject } from "../policy/value.ts";
import type { Reason } from "../reasons.ts";

/** The caller according to a verified token. Immutable; shared by all requests with the same token. */
export interface Identity {
  /** `user.*` for conditions. */
  readonly user: ValueObject;
  /** `customer.*` for conditions; absent if the token names no customer. */
  readonly customer?: ValueObject;
  /** `user.id` as text, for audit and headers. */
  readonly userId: string;
  /** The token's claims about its sign-in. */
  readonly session: SessionClaims;
  /** Attributes (`user.groups`) whose claims the token refers to without containing them: they are unavailable. */
  readonly omitted?: readonly string[];
  /** Unix seconds; the token's `exp`, without tolerance. */
  readonly expiresAt: number;
}

export interface SessionClaims {
  /** `sub`, regardless of which claim is configured as `user.id`. */
  readonly subject?: string;
  /** `sid` (OpenID Connect Front-Channel Logout 1.0, section 3). */
  readonly id?: string;
  /** `amr` (RFC 8176). */
  readonly amr: readonly string[];
  /** `acr` (OpenID Connect Core 1.0, section 2). */
  readonly acr?: string;
  /** `auth_time` (OpenID Connect Core 1.0, section 2); Unix seconds. */
  readonly authTime?: number;
  /** No user has signed in: a client requested the token for itself (RFC 6749, section 4.4). */
  readonly machine?: true;
  /** The caller presented an API key of ours, whose id is `id`. */
  readonly apiKey?: true;
}

export type IdentityFailure = Extract<Reason, `TOKEN_${string}` | `IDENTITY_${string}` | `API_KEY_${string}`>;

export type IdentityResult =
  | { readonly ok: true; readonly identity: Identity }
  /** `detail` is for logs and audit: it never contains the token or a part of it. */
  | { readonly ok: false; readonly reason: IdentityFailure; readonly detail: string };

/** Turns a token into an identity. */
export interface TokenVerifier {
  /** The result if it is known without waiting (a cached token that is still valid), otherwise `undefined`. */
  cached(token: string): IdentityResult | undefined;
  /**
   * Never rejects.
   *
   * @param source - the client's network: what a made-up token makes the verifier request counts against it
   */
  verify(token: string, source?: string): Promise<IdentityResult>;
  /** True while there are keys that are not older than the stale limit. */
  ready(): boolean;
}

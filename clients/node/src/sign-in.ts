import { timingSafeEqual } from "node:crypto";
import type { SignInRequest, Tokens } from "./api.ts";
import { GatehouseError } from "./errors.ts";
import type { Gatehouse } from "./gatehouse.ts";
import type { CallOptions } from "./transport.ts";
import { TokenError, TokenVerifier, type AccessTokenClaims } from "./verify-token.ts";

/** Why a sign-in did not succeed. */
export type SignInProblem = "STATE_MISSING" | "STATE_MISMATCH" | "REFUSED" | "CODE_MISSING";

export class SignInError extends GatehouseError {
  readonly code: SignInProblem;
  /** `REFUSED`: the reason code that the control plane sent back. */
  readonly reason: string | undefined;

  constructor(code: SignInProblem, reason?: string) {
    super(`sign-in failed: ${reason ?? code}`);
    this.code = code;
    this.reason = reason;
  }
}

/**
 * The control plane gave tokens, but the access token could not be verified. A code or refresh token is used up by then:
 * on `KEYS_UNAVAILABLE`, keep `tokens` and verify the access token later.
 */
export class UnverifiedTokensError extends TokenError {
  // private: loggers print the members of an error
  readonly #tokens: Tokens;

  constructor(tokens: Tokens, cause: TokenError) {
    super(cause.code, { cause });
    this.#tokens = tokens;
  }

  get tokens(): Tokens {
    return this.#tokens;
  }
}

export interface StartedSignInStep {
  /** Where to send the browser. */
  readonly url: string;
  /** Store it in the browser's session: `finish` needs it. */
  readonly state: string;
}

export interface SignedIn {
  readonly tokens: Tokens;
  /** Of the access token. */
  readonly claims: AccessTokenClaims;
}

export interface FinishOptions extends CallOptions {
  /** The URL to which the browser came back, or its query. */
  readonly callback: string | URL;
  /** What `start` returned, from the browser's session. */
  readonly state: string | undefined;
  /** The customer whose user this must be; a code for another customer is refused. */
  readonly customerId?: string | undefined;
}

/** Signs users in: `start`, send the browser to `url`, `finish` where it comes back. */
export class SignIn {
  readonly #gatehouse: Gatehouse;
  readonly #verifier: TokenVerifier;

  /** @param verifier - default: for tokens of the client's `baseUrl` */
  constructor(gatehouse: Gatehouse, verifier = new TokenVerifier({ issuer: gatehouse.baseUrl })) {
    this.#gatehouse = gatehouse;
    this.#verifier = verifier;
  }

  async start(request: SignInRequest, options?: CallOptions): Promise<StartedSignInStep> {
    const { authorization_url: url, state } = await this.#gatehouse.auth.authorize(request, options);
    return { url, state };
  }

  /**
   * Exchanges the code for tokens, and verifies the access token.
   *
   * @throws SignInError if the browser did not come from a sign-in that it started, or the sign-in was refused
   * @throws TokenError if there are no keys, before the code is used
   * @throws UnverifiedTokensError if the access token is not valid, or its key cannot be fetched
   */
  async finish({ callback, state, customerId, ...options }: FinishOptions): Promise<SignedIn> {
    const query = typeof callback === "string" ? queryOf(callback) : callback.searchParams;
    if (state === undefined || state === "") throw new SignInError("STATE_MISSING");
    // first: else somebody could sign this browser in to an account of their own
    if (!isEqual(query.get("state") ?? "", state)) throw new SignInError("STATE_MISMATCH");
    const refused = query.get("error");
    if (refused !== null) throw new SignInError("REFUSED", refused);
    const code = query.get("code");
    if (code === null || code === "") throw new SignInError("CODE_MISSING");
    const body = { code, state, ...(customerId !== undefined && { customer_id: customerId }) };
    return this.#verified(() => this.#gatehouse.auth.exchange(body, options));
  }

  /**
   * A new pair of tokens. The old refresh token is used up.
   *
   * @throws TokenError if there are no keys, before the refresh token is used
   * @throws UnverifiedTokensError if the access token is not valid, or its key cannot be fetched
   */
  async refresh(refreshToken: string, options?: CallOptions): Promise<SignedIn> {
    return this.#verified(() => this.#gatehouse.auth.refresh({ refresh_token: refreshToken }, options));
  }

  async #verified(exchange: () => Promise<Tokens>): Promise<SignedIn> {
    await this.#verifier.loadKeys();
    const tokens = await exchange();
    try {
      return { tokens, claims: await this.#verifier.verify(tokens.access_token) };
    } catch (error) {
      throw error instanceof TokenError ? new UnverifiedTokensError(tokens, error) : error;
    }
  }
}

function queryOf(callback: string): URLSearchParams {
  const start = callback.indexOf("?");
  return new URLSearchParams(start === -1 ? callback : callback.slice(start + 1).replace(/#.*$/s, ""));
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

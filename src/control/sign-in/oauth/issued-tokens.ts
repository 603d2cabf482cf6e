import { compactVerify, createLocalJWKSet, errors, jwtVerify, type JWTPayload } from "jose";
import type { Knex } from "knex";
import { findActiveClient, type ClientRow } from "../../resources/clients/store.ts";
import type { ControlContext } from "../../platform/context.ts";
import { findCustomer, type CustomerRow } from "../../tenancy/customers.ts";
import { ID_TOKEN_TYPE } from "../issuer/id-token.ts";
import { ALGORITHM } from "../issuer/key-store.ts";
import type { Keyring } from "../issuer/keyring.ts";
import { readSession, statusOf, type SessionRow } from "../../resources/sessions/store.ts";
import { findRefreshToken, type RefreshTokenRow } from "../code-store.ts";
import { evaluateSessionPolicies, rulesOf } from "../session-policies.ts";
import { findUser, type UserRow } from "../../resources/users/store.ts";

/** An open session of an active user and an active customer. */
export interface ActiveSession {
  readonly session: SessionRow;
  readonly user: UserRow;
  readonly customer: CustomerRow;
  /** When it ends at the latest. */
  readonly until: Date;
}

/** An access token that we issued and that is valid now. */
export type AccessToken =
  | { readonly of: "user"; readonly claims: AccessClaims; readonly active: ActiveSession }
  | { readonly of: "machine"; readonly claims: AccessClaims; readonly client: ClientRow };

/** Every access token has these. */
export interface AccessClaims extends JWTPayload {
  readonly exp: number;
  readonly sub: string;
  readonly sid: string;
  readonly client_id: string;
  readonly scope: string;
}

/** An ID token that we issued, at any time. */
export interface IdTokenClaims {
  readonly sub: string;
  readonly sid: string;
  readonly aud: string;
}

/** Reads tokens issued by this environment. `undefined` for an invalid one, whatever the reason. */
export interface IssuedTokens {
  access(token: string): Promise<AccessToken | undefined>;
  /**
   * The session of a user's access token, as long as the key that signed it is known; the token may have expired, and
   * the session may have ended or violate a policy.
   */
  sessionOf(token: string): Promise<string | undefined>;
  refresh(token: string): Promise<{ row: RefreshTokenRow; active: ActiveSession } | undefined>;
  /**
   * An expired one is still accepted as a hint (OpenID Connect RP-Initiated Logout 1.0, section 2), as long as its key
   * is known.
   */
  idToken(token: string): Promise<IdTokenClaims | undefined>;
}

/** Longer ones fit into no header; the longest that we issue has 8 KB. */
const MAX_TOKEN = 16_384;

export function createIssuedTokens(
  { db, clock, settings }: Pick<ControlContext, "db" | "clock" | "settings">,
  keyring: Keyring,
): IssuedTokens {
  const keys = async () => createLocalJWKSet({ keys: [...(await keyring.published())] });

  /** @param now - Unix ms; the token must not have expired at this time */
  async function verified(token: string, now: number): Promise<AccessClaims | undefined> {
    if (token.length > MAX_TOKEN) return undefined;
    const read = await unlessForged(
      jwtVerify(token, await keys(), {
        algorithms: [ALGORITHM],
        issuer: settings.publicUrl,
        audience: settings.audience,
        typ: "at+jwt",
        requiredClaims: ["exp", "sub", "sid", "client_id", "scope"],
        currentDate: new Date(now),
      }),
    );
    // only we issue them, and all of ours have these
    return read?.payload as AccessClaims | undefined;
  }

  return {
    async access(token) {
      const claims = await verified(token, clock());
      if (claims === undefined) return undefined;
      if (claims["principal_type"] === "machine") {
        const client = await findActiveClient(db, claims.sub);
        return client?.session_id === claims.sid ? { of: "machine", claims, client } : undefined;
      }
      const active = await findActiveSession(db, claims.sid, new Date(clock()));
      return active?.user.id === claims.sub ? { of: "user", claims, active } : undefined;
    },

    async sessionOf(token) {
      // before any token has expired
      const claims = await verified(token, 0);
      return claims?.["principal_type"] === "machine" ? undefined : claims?.sid;
    },

    async refresh(token) {
      if (token.length > MAX_TOKEN) return undefined;
      const now = new Date(clock());
      const row = await findRefreshToken(db, token);
      if (row?.used_at !== null || row.expires_at <= now) return undefined;
      const active = await findActiveSession(db, row.session_id, now);
      return active && { row, active };
    },

    async idToken(token) {
      if (token.length > MAX_TOKEN) return undefined;
      const read = await unlessForged(compactVerify(token, await keys(), { algorithms: [ALGORITHM] }));
      if (read?.protectedHeader.typ !== ID_TOKEN_TYPE) return undefined;
      const claims = JSON.parse(new TextDecoder().decode(read.payload)) as IdTokenClaims & { iss: string };
      return claims.iss === settings.publicUrl ? claims : undefined;
    },
  };
}

/** @returns `undefined` for a token that is not ours; other failures are thrown */
async function unlessForged<T>(verification: Promise<T>): Promise<T | undefined> {
  try {
    return await verification;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

/** Evaluates a session as a refresh would, without locks: a concurrent change takes effect the next time. */
async function findActiveSession(db: Knex, id: string, now: Date): Promise<ActiveSession | undefined> {
  const session = await readSession(db, id);
  if (session === undefined || statusOf(session, now) !== "active") return undefined;
  const [user, customer] = await Promise.all([
    findUser(db, session.user_id),
    findCustomer(db, session.customer_id),
  ]);
  if (user?.status !== "active" || customer?.status !== "active") return undefined;
  const { violation, until } = evaluateSessionPolicies(
    session,
    user.email,
    await rulesOf(db, customer.id),
    now,
  );
  return violation === undefined && until > now ? { session, user, customer, until } : undefined;
}

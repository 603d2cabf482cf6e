import type { Request } from "express";
import type { Knex } from "knex";
import { inRanges } from "../customer-state/index.ts";
import type { Actor } from "./platform/actor.ts";
import { environmentOfKey } from "./resources/api-keys/secret.ts";
import { findPresentedKeys, lockKeyShared, statusOfKey } from "./resources/api-keys/store.ts";
import { readBearer } from "./platform/authentication/bearer.ts";
import { createUseNotes } from "./platform/authentication/last-use.ts";
import { batchLookups } from "./platform/batch-lookups.ts";
import { requireSameOrigin } from "./platform/authentication/same-site.ts";
import type { ControlContext } from "./platform/context.ts";
import { csrfTokenOf, readSessionCookie } from "./resources/dashboard-users/session-cookie.ts";
import {
  findPresentedSessions,
  isOpenSession,
  lockSessionShared,
} from "./resources/dashboard-users/sessions.ts";
import { ApiError } from "./platform/errors.ts";
import { clientIpOf } from "./platform/frame/client-address.ts";
import type { Authenticator } from "./platform/frame/authenticator.ts";
import { hashSecret, sameSecret } from "./platform/secret-box.ts";

/**
 * Authenticates the caller by an API key or by the cookie of a dashboard session. If both are sent, the key counts.
 *
 * @param keys - the connections for key look-ups. Default: the API's own
 */
export function createAuthenticator(context: ControlContext, keys: Knex = context.db): Authenticator {
  const { settings, clock } = context;
  const noteUse = createUseNotes(context);
  // a change wakes a thousand gateways, and each of their keys is looked up before it is answered
  const findKey = batchLookups((hashes) => findPresentedKeys(keys, hashes));
  const findSession = batchLookups((hashes) => findPresentedSessions(keys, hashes));

  async function byKey(secret: string, request: Request): Promise<Actor | ApiError> {
    const environment = environmentOfKey(secret);
    if (environment === undefined) return new ApiError("UNAUTHORIZED");
    if (environment !== settings.environment) {
      const message = `this is a key for ${environment}, but this is the ${settings.environment} environment`;
      return new ApiError("WRONG_ENVIRONMENT", { message });
    }
    const key = await findKey(hashSecret(secret));
    if (key === undefined) return new ApiError("UNAUTHORIZED");
    const { id, name, scope, customer_id: customerId, family_id: familyId } = key;
    const caller = { kind: "api_key", id, ...(customerId !== null && { customerId }) } as const;
    if (key.orphaned)
      return new ApiError("UNAUTHORIZED", { message: "the API key's customer is deleted", caller });
    const now = new Date(clock());
    const status = statusOfKey(key, now);
    if (status !== "active") {
      // however it ended, another key replaces it
      if (key.rolled_to !== null) return new ApiError("API_KEY_ROLLED", { caller });
      return new ApiError(status === "revoked" ? "API_KEY_REVOKED" : "API_KEY_EXPIRED", { caller });
    }
    const { allowed_addresses: allowed } = key;
    if (allowed.length > 0 && !inRanges(clientIpOf(request), allowed))
      return new ApiError("ADDRESS_NOT_ALLOWED", { caller });
    noteUse({ table: "api_keys", id, last: key.last_used_at }, now);
    return {
      kind: "api_key",
      id,
      name,
      scope,
      ...(customerId !== null && { customerId }),
      ...(familyId !== null && { familyId }),
    };
  }

  /** An expired cookie counts as absent: browsers still send it when people sign in again. */
  async function bySession(token: string): Promise<Actor | undefined> {
    const now = new Date(clock());
    const session = await findSession(hashSecret(token));
    if (session === undefined || !isOpenSession(session, now)) return undefined;
    noteUse({ table: "dashboard_sessions", id: session.id, last: session.last_seen_at }, now);
    const { id: sessionId, user_id: id, name, role } = session;
    return { kind: "dashboard_user", id, name, role, sessionId };
  }

  return {
    identifyKey: byKey,

    async identify(request) {
      const bearer = readBearer(request.headersDistinct["authorization"]);
      if (bearer instanceof ApiError) return bearer;
      if (bearer !== undefined) return byKey(bearer, request);
      const token = readSessionCookie(request.headers, settings);
      return token === undefined ? undefined : bySession(token);
    },

    async lockCredentials(trx, actor) {
      if (actor.kind === "api_key") await lockKeyShared(trx, actor.id);
      if (actor.kind === "dashboard_user") await lockSessionShared(trx, actor);
    },

    requireSameSite({ headers }, actor) {
      // programs with a key send it on purpose; no browser adds it to what another site asks for
      if (actor.kind === "api_key" || actor.kind === "system") return;
      requireSameOrigin(headers, settings.publicUrl);
      if (actor.kind === "anonymous") return;
      const session = readSessionCookie(headers, settings);
      const given = headers["x-csrf-token"];
      if (session === undefined || typeof given !== "string" || !sameSecret(given, csrfTokenOf(session)))
        throw new ApiError("CSRF_TOKEN_INVALID");
    },
  };
}

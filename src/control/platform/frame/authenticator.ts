import type { Request } from "express";
import type { Knex } from "knex";
import type { Actor } from "../actor.ts";
import type { ApiError } from "../errors.ts";

/** Identifies the sender of a request. */
export interface Authenticator {
  /**
   * @returns the actor; an error for invalid credentials; `undefined` if there are none. Rejects if the database is
   *   unavailable.
   */
  identify(request: Request): Promise<Actor | ApiError | undefined>;
  /** Like {@link identify}, for an API key that is not in the request's `Authorization: Bearer`. */
  identifyKey(secret: string, request: Request): Promise<Actor | ApiError>;
  /**
   * Locks the credentials of an actor until the transaction ends: it waits for a transaction that is withdrawing them,
   * and others that want to withdraw them wait. Whether they are still valid must be checked over another connection.
   */
  lockCredentials(trx: Knex.Transaction, actor: Actor): Promise<void>;
  /**
   * Not from an RFC, but customary: a request that changes something and is authenticated by a cookie must prove that
   * it comes from the dashboard.
   * @throws ApiError CSRF_TOKEN_INVALID
   */
  requireSameSite(request: Request, actor: Actor): void;
}

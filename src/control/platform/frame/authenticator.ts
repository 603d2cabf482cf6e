import type { Request } from "express";
import type { Knex } from "knex";
import type { Actor } from "../actor.ts";
import type { ApiError } from "../errors.ts";

/** Finds out who sends a request. */
export interface Authenticator {
  /**
   * @returns the actor; an error for credentials that are presented and not good; `undefined` where there are none.
   * Rejects where the database cannot be asked.
   */
  identify(request: Request): Promise<Actor | ApiError | undefined>;
  /** Like {@link identify}, of an API key that does not come in the head of the request. */
  identifyKey(secret: string): Promise<Actor | ApiError>;
  /**
   * Locks what an actor was identified by until the transaction ends: who is about to withdraw it is waited for, and who wants to
   * waits. Whether it is still good is for a look over another connection to say.
   */
  lockCredentials(trx: Knex.Transaction, actor: Actor): Promise<void>;
  /**
   * RFC-less but customary: a request by cookie that changes something must prove that it comes from the dashboard.
   * @throws ApiError CSRF_TOKEN_INVALID
   */
  requireSameSite(request: Request, actor: Actor): void;
}

import type { Knex } from "knex";
import { violationOf, type AuthenticationRules, type Violation } from "../../customer-state/index.ts";
import { customerStatesOf } from "../resources/policies/customer-states.ts";
import type { SessionRow } from "../resources/sessions/store.ts";

/** The `authentication` policies of a customer, combined. */
export async function rulesOf(db: Knex, customerId: string): Promise<AuthenticationRules> {
  const state = (await customerStatesOf(db, [customerId])).get(customerId);
  if (state === undefined) throw new Error(`customer ${customerId} not found`);
  return state.authentication;
}

/** The facts by which a sign-in, or the resulting session, is evaluated. */
export interface ProvedFacts {
  readonly email: string | null | undefined;
  /** Of the browser that signed in. */
  readonly clientIp: string;
  readonly amr: readonly string[];
  readonly acr: string | null | undefined;
  readonly authTime: Date | null;
}

/** @returns the first violated rule */
export function violatedBy(facts: ProvedFacts, rules: AuthenticationRules, now: Date): Violation | undefined {
  return violationOf(rules, {
    email: facts.email ?? undefined,
    clientIp: facts.clientIp,
    amr: facts.amr,
    acr: facts.acr ?? undefined,
    authTime: facts.authTime === null ? undefined : facts.authTime.getTime() / 1000,
    now: now.getTime() / 1000,
  });
}

/**
 * When a session ends at the latest: at its own limit, or at that of the strictest policy, counted from the time of
 * authentication.
 */
export function boundOf(
  { expiresAt, authTime }: { readonly expiresAt: Date; readonly authTime: Date | null },
  { max_session_duration: most }: AuthenticationRules,
): Date {
  if (most === undefined || authTime === null) return expiresAt;
  return earlier(expiresAt, new Date(authTime.getTime() + most * 1000));
}

/** The parts of a session that its policies are checked against. */
export type EvaluatedSession = Pick<SessionRow, "ip_address" | "amr" | "acr" | "auth_time" | "expires_at">;

/**
 * Evaluates a session by the current policies and the evidence of its sign-in.
 *
 * @returns the first violated rule, or when the session ends at the latest, which may be in the past
 */
export function evaluateSessionPolicies(
  session: EvaluatedSession,
  email: string | null,
  rules: AuthenticationRules,
  now: Date,
):
  | { readonly violation: Violation; readonly until?: never }
  | { readonly violation?: never; readonly until: Date } {
  const { auth_time: authTime, ip_address: clientIp, amr, acr, expires_at: expiresAt } = session;
  const violation = violatedBy({ email, clientIp, amr, acr, authTime }, rules, now);
  return violation === undefined ? { until: boundOf({ expiresAt, authTime }, rules) } : { violation };
}

export function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

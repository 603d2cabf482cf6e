import type { Knex } from "knex";
import { strictest, violationOf, type Violation } from "../../../customer-state/index.ts";
import { withEvidence } from "./customer-states.ts";
import type { PolicyRow } from "./store.ts";
import { whereOpen } from "../../platform/open-sessions.ts";

/** More sessions of one customer are not examined: the question must not cost more than its answer is worth. */
export const MOST_SESSIONS = 10_000;
const MOST_EXAMPLES = 5;

/** What a policy would do to the open sessions of a customer, if it were assigned and active now. */
export interface PolicyImpact {
  /** Open sessions that were examined, newest first. */
  readonly sessions: number;
  /** False if there are more. */
  readonly complete: boolean;
  /** Those that the policy would refuse; null if it decides by request. */
  readonly refused: number | null;
  /** Users of these sessions. */
  readonly users: number;
  readonly requirements: readonly { readonly requirement: Violation; readonly sessions: number }[];
  readonly examples: readonly {
    readonly session_id: string;
    readonly user_id: string;
    readonly email: string | null;
    readonly requirement: Violation;
  }[];
}

interface OpenSession {
  readonly id: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly ip_address: string;
  readonly amr: readonly string[];
  readonly acr: string | null;
  readonly auth_time: Date | null;
}

/** Evaluates a policy on the open sessions of a customer, with the rules by which gateways refuse sessions. */
export async function impactOf(
  db: Knex,
  policy: PolicyRow,
  customerId: string,
  now: Date,
): Promise<PolicyImpact> {
  const found = await openSessions(db, customerId, now);
  const sessions = found.slice(0, MOST_SESSIONS);
  const seen = { sessions: sessions.length, complete: found.length === sessions.length };
  if (policy.type !== "authentication")
    return { ...seen, refused: null, users: 0, requirements: [], examples: [] };
  const idp = await db("customer_idps")
    .where({ customer_id: customerId })
    .first<Parameters<typeof withEvidence>[1] | undefined>("type as idp_type", "mfa_acr_values");
  const rules = withEvidence(strictest([policy.conditions]), idp ?? { idp_type: null, mfa_acr_values: null });
  const refused = sessions.flatMap((session) => {
    const requirement = violationOf(rules, {
      email: session.email ?? undefined,
      clientIp: session.ip_address,
      amr: session.amr,
      acr: session.acr ?? undefined,
      authTime: session.auth_time === null ? undefined : session.auth_time.getTime() / 1000,
      now: now.getTime() / 1000,
    });
    return requirement === undefined ? [] : [{ ...session, requirement }];
  });
  const counts = Map.groupBy(refused, ({ requirement }) => requirement);
  return {
    ...seen,
    refused: refused.length,
    users: new Set(refused.map((session) => session.user_id)).size,
    requirements: [...counts].map(([requirement, { length }]) => ({ requirement, sessions: length })),
    examples: refused.slice(0, MOST_EXAMPLES).map(({ id, user_id, email, requirement }) => ({
      session_id: id,
      ...{ user_id, email, requirement },
    })),
  };
}

/** One more than are examined, if there are so many. */
function openSessions(db: Knex, customerId: string, now: Date): Promise<OpenSession[]> {
  return db("sessions")
    .join("users", "users.id", "sessions.user_id")
    .where("sessions.customer_id", customerId)
    .modify(whereOpen)
    .where("sessions.alive_until", ">", now)
    .orderBy([
      { column: "sessions.created_at", order: "desc" },
      { column: "sessions.id", order: "desc" },
    ])
    .limit(MOST_SESSIONS + 1)
    .select<OpenSession[]>(
      ...["sessions.id", "sessions.user_id", "users.email", "sessions.ip_address"],
      ...["sessions.amr", "sessions.acr", "sessions.auth_time"],
    );
}

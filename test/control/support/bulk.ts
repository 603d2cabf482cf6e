import type { Knex } from "knex";
import { newId } from "../../../src/control/platform/ids.ts";

/** An assignment to many customers, as it is answered. */
export interface Bulk {
  readonly id: string;
  readonly status: string;
  readonly problem: string | null;
  readonly progress: {
    readonly total: number;
    readonly done: number;
    readonly changed: number;
    readonly failed: number;
  };
  readonly failures: readonly { readonly customer_id: string; readonly code: string }[];
  readonly impact: {
    readonly sessions: number;
    readonly complete: boolean;
    readonly refused: number;
    readonly customers: number;
  } | null;
  readonly requested_by: object;
}

/** Puts a user of the customer there, who is signed in by these methods (a JSON list). */
export async function openSession(db: Knex, customer: string, amr: string): Promise<void> {
  const at = new Date();
  const alive = new Date(Date.now() + 1e7);
  const user = newId("user");
  await db("users").insert({
    ...{ id: user, customer_id: customer, issuer: "https://idp.example", subject: user, name: "U" },
    ...{ status: "active", profile: "{}", attributes: "{}", created_at: at, updated_at: at, revision: 1 },
  });
  await db("sessions").insert({
    ...{ id: newId("session"), customer_id: customer, user_id: user, client_id: "key_1", scope: "openid" },
    ...{ amr, ip_address: "192.0.2.7", user_agent: "t", created_at: at, last_used_at: at, auth_time: at },
    ...{ expires_at: alive, alive_until: alive },
  });
}

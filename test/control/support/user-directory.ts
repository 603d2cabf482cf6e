import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { customerRoutes } from "../../../src/control/resources/customers/routes.ts";
import { createGatewayFeed } from "../../../src/control/gateway/feed.ts";
import { gatewayRoutes } from "../../../src/control/gateway/routes.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import { userRoutes } from "../../../src/control/resources/users/routes.ts";
import { upsertOnSignIn, type SignIn, type UserRow } from "../../../src/control/resources/users/store.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../support/control.ts";
import { ANY_CLAIMS } from "./claims.ts";

/** The provider that users of the tests sign in at. */
export const ISSUER = "https://idp.example";

const SYSTEM = { actor: { kind: "system", id: "test", name: "test" }, requestId: "r", clientIp: "" } as const;

/** The routes of users, customers and gateways, and sign-ins as the sign-in makes them. */
export interface UserDirectory {
  readonly control: RunningControl;
  /** Unix ms: what the clock says. */
  time: number;
  makeCustomer(): Promise<string>;
  /** Of a provider that may say what it does. */
  signIn(customerId: string, subject: string, more?: Partial<SignIn>): Promise<UserRow>;
  /** Makes a session that goes on, with a token that is valid. */
  makeSession(row: UserRow): Promise<string>;
  hasEnded(sessionId: string): Promise<boolean>;
}

export async function startUserDirectory(): Promise<UserDirectory> {
  const control = await startControl({
    clock: () => directory.time,
    routes: (context) => [
      ...customerRoutes(context),
      ...userRoutes(context),
      ...gatewayRoutes(context, createGatewayFeed(context)),
    ],
  });
  const { db } = control.database;
  const directory: UserDirectory = {
    control,
    time: Date.parse("2026-03-01T12:00:00Z"),
    async makeCustomer() {
      const answer = await control.request("POST", "/customers", {
        body: { name: "customer", ...ANY_CLAIMS },
      });
      assert.equal(answer.status, 201, answer.text);
      return answer.body.data.id as string;
    },
    signIn: (customerId, subject, { profile = {}, ...more } = {}) =>
      control.context.units(SYSTEM, (unit) =>
        upsertOnSignIn(unit, { customerId, issuer: ISSUER, subject, ...more, profile, claimed: profile }),
      ),
    async makeSession(row) {
      const id = newId("session");
      const now = new Date(directory.time);
      const later = new Date(directory.time + 3_600_000);
      await db("sessions").insert({
        id,
        customer_id: row.customer_id,
        user_id: row.id,
        client_id: FULL_KEY.id,
        scope: "openid",
        amr: "[]",
        ip_address: "127.0.0.1",
        user_agent: "test",
        created_at: now,
        last_used_at: now,
        expires_at: later,
        alive_until: later,
        last_token_expires_at: later,
      });
      return id;
    },
    async hasEnded(sessionId) {
      const session = await db("sessions")
        .where({ id: sessionId })
        .first<{ ended_at: Date | null }>("ended_at");
      return session.ended_at !== null;
    },
  };
  return directory;
}

/** A key that is limited to one customer. */
export function keyOf(customerId: string): Actor {
  return { ...FULL_KEY, customerId };
}

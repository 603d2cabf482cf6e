import assert from "node:assert/strict";
import { endSession } from "../../../src/control/sign-in/oauth/end-session.ts";
import type { IssuedTokens } from "../../../src/control/sign-in/oauth/issued-tokens.ts";
import type { UnitOfWork } from "../../../src/control/platform/unit.ts";
import { upsertOnSignIn, type UserRow } from "../../../src/control/resources/users/store.ts";
import type { Database } from "../../../src/storage/index.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../support/control.ts";
import { eraseAll } from "./erase-all.ts";
import { decisionRecord, outcomeRecord, takeRecords } from "./gateway-records.ts";
import { register } from "./webhooks.ts";

export const NOW = Date.parse("2026-03-01T12:30:00Z");
export const DAY = 86_400_000;
const ISSUER = "https://idp.secret.example";
const ADDRESS = "203.0.113.77";
/** Whatever says who it was. */
export const SECRETS = ["Lovelace", "idp.secret.example", "sub-0f3a", ADDRESS, "SecretBrowser", "Countess"];

/** An environment with two customers, and people of whom there is something everywhere. */
export class KnownPeople {
  /** Unix ms: what the clock says. */
  time = NOW;
  customer = "";
  other = "";
  #control: RunningControl | undefined;

  static async start(): Promise<KnownPeople> {
    const known = new KnownPeople();
    known.#control = await startControl({ clock: () => known.time });
    for (const name of ["customer", "other"] as const)
      known[name] = (await known.ask("POST", "/customers", { name: "Acme" })).id as string;
    return known;
  }

  get control(): RunningControl {
    if (this.#control === undefined) throw new Error("it is not started");
    return this.#control;
  }

  get db(): Database {
    return this.control.database.db;
  }

  /** The `data` of an answer. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what an answer holds is what tests find out
  async ask(method: string, path: string, body?: object): Promise<any> {
    const answer = await this.control.request(method, path, body === undefined ? {} : { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body.data;
  }

  erase(): Promise<void> {
    return eraseAll(this.control.context);
  }

  /** As the callback of a sign-in does it. */
  signIn(customerId: string, parts: { subject: string; email: string; name?: string }): Promise<UserRow> {
    return this.#asBrowser((unit) =>
      upsertOnSignIn(unit, {
        ...{ customerId, issuer: ISSUER },
        ...{ profile: { title: "Countess" }, claimed: { title: "Countess", role: "peer" } },
        ...parts,
      }),
    );
  }

  /** Makes a user of whom there is something everywhere. */
  async makeUser(
    customerId: string,
    subject = "sub-0f3a",
  ): Promise<{ readonly user: UserRow; readonly webhook: string }> {
    const email = `${subject}.lovelace@mail.example`;
    const { id: webhook } = await register(this.control, { customer_id: customerId });
    // before there was a user, a policy refused them
    await this.#asBrowser((unit) => {
      const data = { reason: "MFA_REQUIRED", detail: `sub ${subject}` };
      unit.emit({ type: "user.authentication_failed", customerId, data });
      return Promise.resolve();
    });
    await this.signIn(customerId, { subject, email });
    const user = await this.signIn(customerId, { subject, email, name: "Ada Lovelace" });
    await this.ask("PUT", `/users/${user.id}`, { attributes: { nickname: "Countess" } });
    await this.#makeSession(user);
    await this.#asBrowser((unit) => {
      const session = { id: "ses_1", ip_address: ADDRESS, user_agent: "SecretBrowser/1" };
      const dropped_claims = [{ claim: "nickname", values: ["Lovelace"], count: 1, reason: "not listed" }];
      const about = { user: { id: user.id, email, customer_id: customerId }, session, dropped_claims };
      unit.emit({ type: "user.authenticated", customerId, userId: user.id, data: about });
      return Promise.resolve();
    });
    await this.db("webhook_deliveries")
      .where({ webhook_id: webhook, event_type: "user.authenticated" })
      .update({ response_body: `hello ${email}` });
    await takeRecords(this.control, this.recordsOf(user, email));
    return { user, webhook };
  }

  /** A decision about a user, and what became of it. */
  recordsOf({ id, customer_id }: Pick<UserRow, "id" | "customer_id">, email: string): object[] {
    const timestamp = new Date(this.time).toISOString();
    const decided = decisionRecord({
      ...{ timestamp, user_id: id, customer_id, client_ip: ADDRESS },
      ...{ resource: `/api/people/${email}/orders`, raw_path: `/api/people/${email}/orders?q=Lovelace` },
      ...{ decision: "DENY", reason: "CONDITION_FALSE", detail: `no such ${email}` },
      ...{ trace: { "user.name": "Ada Lovelace" }, something_new: email },
      inputs: {
        path: `/api/people/${email}/orders`,
        values: { "user.title": "Countess", "resource.owner": email },
      },
    });
    return [decided, this.outcomeOf(decided)];
  }

  /** As the peer of a connection words it. */
  outcomeOf({ decision_id }: { readonly decision_id: string }): object {
    const timestamp = new Date(this.time).toISOString();
    return outcomeRecord({
      ...{ timestamp, decision_id, event: "connection", result: "ended", close_code: 1000 },
      ...{ close_reason: "bye Lovelace", closed_by: "client", masked_paths: ["$.Lovelace"] },
    });
  }

  /** As `/oauth2/logout` does it. */
  async signOut({ id }: Pick<UserRow, "id">): Promise<void> {
    const tokens = { idToken: () => Promise.resolve({ aud: FULL_KEY.id, sid: `ses_${id}`, sub: id }) };
    const origin = {
      actor: { kind: "anonymous", id: `ip:${ADDRESS}` },
      requestId: "r",
      clientIp: ADDRESS,
    } as const;
    await endSession(this.control.context, tokens as unknown as IssuedTokens, origin, {
      id_token_hint: "hint",
    });
  }

  /** A unit of somebody's own browser, on its way through a sign-in. */
  #asBrowser<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const actor = { kind: "anonymous", id: `ip:${ADDRESS}` } as const;
    return this.control.context.units({ actor, requestId: "r", clientIp: ADDRESS }, work);
  }

  async #makeSession({ id, customer_id }: UserRow): Promise<void> {
    const [at, later] = [new Date(this.time), new Date(this.time + DAY)];
    await this.db("sessions").insert({
      ...{ id: `ses_${id}`, customer_id, user_id: id, client_id: FULL_KEY.id, scope: "openid", amr: "[]" },
      ...{ ip_address: ADDRESS, user_agent: "SecretBrowser/1", id_token: "sealed Lovelace" },
      ...{ created_at: at, last_used_at: at, expires_at: later, alive_until: later },
      last_token_expires_at: later,
    });
  }
}

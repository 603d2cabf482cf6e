import assert from "node:assert/strict";
import { pruneKeys } from "../../../../src/control/resources/api-keys/prune.ts";
import { rollApiKey } from "../../../../src/control/resources/api-keys/roll.ts";
import { insertSession } from "../../../../src/control/resources/sessions/store.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { upsertOnSignIn } from "../../../../src/control/resources/users/store.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";
import {
  bearer,
  makeCustomer,
  makeKey,
  OPERATOR,
  send,
  startGuardedControl,
} from "../../../support/guarded-control.ts";
import { eraseAll } from "../../support/erase-all.ts";

const DAY = 86_400_000;
const NOW = Date.parse("2026-03-01T12:00:00Z");

describe("API keys, when there are many", () => {
  let now: number;
  let control: RunningControl;

  beforeEach(() => {
    now = NOW;
  });
  afterEach(() => control.close());

  /** Keys of a customer, as `makeKey` makes them. @returns how many */
  async function addKeys(
    customerId: string,
    count: number,
    ended: "open" | "expired" | "revoked",
  ): Promise<void> {
    await control.context.db.raw(
      `insert into api_keys (id, secret_hash, hint, name, scope, customer_id, created_by, created_at, updated_at, expires_at, revoked_at)
       select 'key_' || :ended || n, :customerId || :ended || n, 'hint', 'a key', 'read_only', :customerId, '{"kind":"system","id":"t"}',
         :at, :at, case :ended when 'expired' then :at::timestamptz end, case :ended when 'revoked' then :at::timestamptz end
       from generate_series(1, :count) as n`,
      { customerId, count, ended, at: new Date(NOW - DAY) },
    );
  }

  it("a customer with more of them than a statement has parameters can be deleted, and its users are erased", async () => {
    control = await startControl({ clock: () => now });
    const { db } = control.context;
    const customerId = await makeCustomer(control);
    const person = {
      customerId,
      issuer: "https://idp.example.com",
      subject: "ada",
      email: "ada@example.com",
    };
    const user = await control.context.units(OPERATOR, (unit) =>
      upsertOnSignIn(unit, { ...person, name: "Ada", profile: {}, claimed: {} }),
    );
    await addKeys(customerId, 6_000, "open");
    await addKeys(customerId, 300, "expired");
    await addKeys(customerId, 200, "revoked");
    const answer = await control.request("DELETE", `/customers/${customerId}`);
    assert.equal(answer.status, 200, answer.text);

    const revoked = await db("api_keys").where({ customer_id: customerId, revoked_at: new Date(now) });
    assert.equal(revoked.length, 6_000);
    assert.ok(revoked.every(({ id, revision }) => id.startsWith("key_open") && revision === 2));
    const changes = await db("audit_records").where({ action: "api_key.revoked" }).orderBy("id");
    assert.equal(new Set(changes.map(({ resource }) => resource)).size, 6_000);
    assert.equal(changes.length, 6_000);
    const [{ record, customer_id, user_id, request_id, about_user }] = changes;
    assert.deepEqual(
      [customer_id, user_id, about_user],
      [customerId, "key_00000000000000000000000001", null],
    );
    assert.match(request_id, /^req_/);
    assert.equal(record.actor.name, "full");
    assert.deepEqual(
      [record.before.revoked_at, record.after.revoked_at],
      [null, new Date(now).toISOString()],
    );
    assert.equal((await db("events").where({ type: "api_key.revoked" })).length, 6_000);

    await eraseAll(control.context);
    assert.equal((await db("users").where({ id: user.id }).first()).email, null);
  });

  it("those that ended before everything that is kept of that time are removed", async () => {
    control = await startGuardedControl({ clock: () => now });
    const { db, units } = control.context;
    const customerId = await makeCustomer(control);
    const ids = async () => db("api_keys").orderBy("id").pluck<string[]>("id");
    const { row: open } = await makeKey(control, { customerId });
    const { row: lasting } = await makeKey(control, { customerId, expiresAt: new Date(now + 20 * DAY) });
    await addKeys(customerId, 1_200, "expired");
    await addKeys(customerId, 100, "revoked");
    // of these the first one has ended, and the other one goes on
    const { row: rolled } = await makeKey(control, { customerId });
    const roll = { environment: "production", overlap: 0 } as const;
    const next = await units(OPERATOR, (unit) => rollApiKey(unit, { ...roll, id: rolled.id }));
    assert.equal((await send(control, "GET", "/probe", bearer(next.secret))).status, 200);
    const staying = [open.id, lasting.id, rolled.id, next.row.id].sort();

    now = NOW + 89 * DAY;
    await pruneKeys(control.context);
    assert.equal((await ids()).length, 1_304, "records of their last day are kept");
    now = NOW + 91 * DAY;
    await pruneKeys(control.context);
    assert.deepEqual(await ids(), staying);
    now = NOW + 112 * DAY;
    await pruneKeys(control.context);
    assert.deepEqual(
      await ids(),
      staying.filter((id) => id !== lasting.id),
    );
    const { status } = await send(control, "GET", "/probe", bearer(next.secret));
    assert.equal(status, 200, "the family goes on");
  });

  it("one to which a session belongs stays", async () => {
    control = await startControl({ clock: () => now });
    const { db, units } = control.context;
    const customerId = await makeCustomer(control);
    const { row } = await makeKey(control, { customerId, expiresAt: new Date(now + DAY) });
    await units(OPERATOR, async (unit) => {
      const who = { customerId, issuer: "https://idp.example.com", subject: "ada" };
      const user = await upsertOnSignIn(unit, { ...who, profile: {}, claimed: {} });
      const times = { created_at: unit.now, last_used_at: unit.now, expires_at: new Date(now + 400 * DAY) };
      await insertSession(unit.trx, {
        ...{ id: newId("session"), customer_id: customerId, user_id: user.id, client_id: row.id },
        ...{ end_session_url: null, id_token: null, scope: "openid", auth_time: null, amr: [], acr: null },
        ...{ ip_address: "", user_agent: "", ...times, alive_until: times.expires_at },
      });
    });
    now = NOW + 200 * DAY;
    await pruneKeys(control.context);
    assert.deepEqual(await db("api_keys").pluck("id"), [row.id]);
    await db("sessions").delete();
    await pruneKeys(control.context);
    assert.deepEqual(await db("api_keys").pluck("id"), []);
  });
});

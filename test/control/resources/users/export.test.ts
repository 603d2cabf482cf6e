import assert from "node:assert/strict";
import { FULL_KEY, type RunningControl } from "../../../support/control.ts";
import { rowsWith } from "../../support/database-texts.ts";
import { decisionRecord, takeRecords } from "../../support/gateway-records.ts";
import { KnownPeople, SECRETS } from "../../support/known-people.ts";
import { keyOf } from "../../support/user-directory.ts";
import { change } from "../../support/webhooks.ts";

describe("export of a user", () => {
  let known: KnownPeople;
  let control: RunningControl;
  let customer: string;
  let other: string;

  beforeEach(async () => {
    known = await KnownPeople.start();
    ({ control, customer, other } = known);
  });
  afterEach(() => control.close());

  it("has everything of one user as one document, and nothing of others but ids", async () => {
    const { user } = await known.makeUser(customer);
    await known.makeUser(customer, "sub-neighbour");
    const timestamp = new Date(known.time).toISOString();
    await takeRecords(control, [
      decisionRecord({ timestamp, user_id: user.id, customer_id: other }),
      decisionRecord({ timestamp, user_id: user.id, customer_id: undefined }),
    ]);
    await change(control, (unit) => {
      unit.emit({ type: "session.revoked", userId: user.id, data: { reason: "LOGOUT" } });
      const data = { reason: "MFA_REQUIRED", detail: "sub sub-0f3a" };
      unit.emit({ type: "policy.violated", customerId: customer, rule: "sub sub-0f3a", data });
      return Promise.resolve();
    });
    const answer = await control.request("GET", `/users/${user.id}/export`);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get("content-disposition"), `attachment; filename="${user.id}.json"`);
    const { success, data, meta } = answer.body;
    assert.deepEqual([success, typeof meta.request_id], [true, "string"]);
    const { name, profile, claimed } = data.user;
    // all that the provider said, and what of it counts
    assert.deepEqual([name, profile, claimed], ["Ada Lovelace", {}, { title: "Countess", role: "peer" }]);
    assert.deepEqual([data.activity.requests, data.activity.denied], [1, 1]);
    assert.deepEqual(
      data.sessions.map((session: { ip_address: string }) => session.ip_address),
      ["203.0.113.77"],
    );
    assert.deepEqual(data.events.map(({ type }: { type: string }) => type).sort(), [
      "policy.violated",
      "session.revoked",
      "user.authenticated",
    ]);
    assert.deepEqual(
      // of one moment, so in no order
      data.decisions
        .map(({ kind, customer_id: id }: { kind: string; customer_id?: string }) => `${kind} ${id ?? "none"}`)
        .sort(),
      [`decision ${customer}`, `decision ${other}`, "decision none", `outcome ${customer}`].sort(),
    );
    assert.deepEqual(
      data.refusals
        .map(({ type, data: { detail } }: { type: string; data: { detail: string } }) => `${type} ${detail}`)
        .sort(),
      ["policy.violated sub sub-0f3a", "user.authentication_failed sub sub-0f3a"],
    );
    const read = (data.decisions as { inputs?: object }[]).flatMap(({ inputs }) => inputs ?? []);
    assert.deepEqual(read, [{ values: { "user.title": "Countess" } }], "not what a rule looked up");
    // what others have recorded under the user's id is nothing that a customer's own key may read
    const { body } = await control.request("GET", `/users/${user.id}/export`, { as: keyOf(customer) });
    assert.deepEqual(
      body.data.decisions
        .map(({ kind, customer_id: id }: { kind: string; customer_id: string }) => [kind, id])
        .sort(),
      [
        ["decision", customer],
        ["outcome", customer],
      ],
    );
    assert.deepEqual([body.data.refusals.length, body.data.events.length], [2, 2]);
    const changes = data.changes as { action: string; actor: object; client_ip: string }[];
    assert.deepEqual(changes.map(({ action }) => action).sort(), [
      "user.created",
      "user.exported",
      "user.updated",
      "user.updated",
    ]);
    const byKey = changes.filter(({ action }) => action === "user.exported");
    assert.deepEqual(
      byKey.map(({ actor, client_ip: address }) => [actor, address]),
      [[{ kind: "api_key", id: FULL_KEY.id }, ""]],
    );
    assert.ok(!answer.text.includes("sub-neighbour") && !answer.text.includes("sealed"));
  });

  it("has the changes of the user's sessions, and of nobody else's", async () => {
    const { user } = await known.makeUser(customer);
    const { user: neighbour } = await known.makeUser(customer, "sub-neighbour");
    for (const person of [user, neighbour]) await known.signOut(person);
    // by the time that it is asked for, the session may be gone
    await known.db("sessions").delete();
    const { changes } = (await control.request("GET", `/users/${user.id}/export`)).body.data as {
      changes: { action: string; target: { type: string; id: string }; client_ip: string }[];
    };
    assert.deepEqual(
      changes
        .filter(({ target }) => target.type === "session")
        .map(({ action, target, client_ip: address }) => [action, target.id, address]),
      // by the user's own browser: the address is theirs to have
      [["session.ended", `ses_${user.id}`, "203.0.113.77"]],
    );
  });

  it("names others whom the user's requests were about by nothing", async () => {
    const subject = "sub-asker";
    const { user } = await known.makeUser(customer, subject);
    const own = `${subject}.LOVELACE%40mail.example`;
    const timestamp = new Date(known.time).toISOString();
    const about = (resource: string) => ({
      ...{ timestamp, user_id: user.id, customer_id: customer, reason: "MFA_REQUIRED", decision: "DENY" },
      ...{ resource, raw_path: `${resource}?q=1` },
    });
    const trace = { "target_user.email": "bob@mail.example", "target_user.title": "Bob the Builder" };
    await takeRecords(control, [
      decisionRecord({ ...about("/p/bob%40mail.example/orders"), trace, detail: "not Bob the Builder's" }),
      decisionRecord(about(`/p/${own}/orders`)),
    ]);
    await change(control, (unit) => {
      const data = {
        reason: "MFA_REQUIRED",
        detail: `bob@mail.example is not ${subject}.lovelace@mail.example`,
      };
      unit.emit({ type: "policy.violated", customerId: customer, userId: user.id, data });
      return Promise.resolve();
    });
    const answer = await control.request("GET", `/users/${user.id}/export`);
    assert.ok(!/bob/i.test(answer.text), answer.text);
    const { decisions, events } = answer.body.data as Record<string, Record<string, unknown>[]>;
    const paths = decisions?.filter(({ reason }) => reason === "MFA_REQUIRED");
    assert.deepEqual(paths?.map(({ resource, raw_path: raw }) => [resource, raw]).sort(), [
      ["/p/***/orders", "/p/***/orders?q=1"],
      [`/p/${own}/orders`, `/p/${own}/orders?q=1`],
    ]);
    const told = events?.map(({ data }) => (data as { detail?: string }).detail);
    assert.ok(told?.includes(`*** is not ${subject}.lovelace@mail.example`), JSON.stringify(told));
    // of an outcome it is a code
    assert.equal(decisions?.find(({ kind }) => kind === "outcome")?.["detail"], "via_upstream");
  });

  it("is for whoever may read the user, and leaves a record", async () => {
    const { user } = await known.makeUser(customer);
    const path = `/users/${user.id}/export`;
    for (const [as, status] of [
      [keyOf(customer), 200],
      [{ ...FULL_KEY, scope: "read_only" }, 200],
      [keyOf(other), 404],
      [{ ...FULL_KEY, scope: "authentication" }, 403],
      [null, 401],
    ] as const)
      assert.equal((await control.request("GET", path, { as })).status, status);
    const exported = await known.ask("GET", "/audit/logs?kind=change&action=user.exported");
    assert.equal(exported.length, 2);
    await known.ask("DELETE", `/users/${user.id}`);
    assert.equal((await control.request("GET", path)).body.error.code, "USER_NOT_FOUND");
  });

  it("reads more than it holds at once", async () => {
    const { user } = await known.makeUser(customer);
    await change(control, async ({ trx }) => {
      await trx.raw(
        `insert into events ("timestamp", id, type, customer_id, user_id, data)
         select ?::timestamptz - n * interval '1 second', 'evt_' || n, 'user.authenticated', ?, ?, '{}'
         from generate_series(1, 2500) as n`,
        [new Date(known.time), customer, user.id],
      );
      await trx.raw(
        `insert into sessions (id, customer_id, user_id, client_id, scope, amr, ip_address, user_agent,
           created_at, last_used_at, expires_at, alive_until)
         select 'ses_' || n, ?, ?, 'key', '', '[]', '', '', t, t, t, t
         from generate_series(1, 2500) as n cross join (select ?::timestamptz) as time (t)`,
        [customer, user.id, new Date(known.time)],
      );
    });
    const { data } = (await control.request("GET", `/users/${user.id}/export`)).body;
    assert.deepEqual([data.events.length, data.sessions.length], [2502, 2501]);
    // and the same amount is erased in steps
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
    const { progress } = await known.ask("GET", `/erasures/${user.id}`);
    assert.ok(progress.events >= 2502 && progress.sessions === 2501, JSON.stringify(progress));
  });
});

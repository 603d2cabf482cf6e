import assert from "node:assert/strict";
import { mayStillConfigure } from "../../../../src/control/may-still.ts";
import type { Units } from "../../../../src/control/platform/unit.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { revokeApiKey } from "../../../../src/control/resources/api-keys/store.ts";
import { MAX_ASSIGNED } from "../../../../src/control/resources/policies/assignments.ts";
import { runBulkAssignments } from "../../../../src/control/resources/policies/bulk/jobs.ts";
import { openSession, type Bulk } from "../../support/bulk.ts";
import type { RunningControl } from "../../../support/control.ts";
import {
  bearer,
  makeCustomer,
  makeKey,
  makeOwner,
  makePerson,
  OPERATOR,
  send,
  startGuardedControl,
} from "../../../support/guarded-control.ts";
import { allRoutes } from "../../../../src/control/routes.ts";
import { createGatewayFeed } from "../../../../src/control/gateway/feed.ts";

const NONE = "bas_00000000000000000000000000";

describe("a policy for many customers", () => {
  let control: RunningControl;
  let key: Awaited<ReturnType<typeof makeKey>>;
  let headers: Readonly<Record<string, string>>;
  const customers: string[] = [];

  before(async () => {
    control = await startGuardedControl({
      routes: (context, shared) => allRoutes(context, { ...shared, feed: createGatewayFeed(context) }),
    });
    for (let n = 0; n < 60; n += 1) customers.push(await makeCustomer(control, `Customer ${n}`));
  });
  after(() => control.close());
  beforeEach(async () => {
    key = await makeKey(control);
    headers = bearer(key.secret);
    for (const table of ["policy_assignments", "bulk_assignments", "audit_records"])
      await control.database.db(table).delete();
  });

  const policy = async (conditions: object = { mfa_required: true }) => {
    const body = { name: `p ${newId("policy")}`, type: "authentication", conditions };
    const answer = await send(control, "POST", "/policies", headers, body);
    assert.equal(answer.status, 201, answer.text);
    return (answer.body.data as { id: string }).id;
  };
  const ask = (policyId: string, action: string, selection: object, as = headers) =>
    send(control, "POST", `/policies/${policyId}/assignments`, as, { action, customers: selection });
  const begin = async (...given: Parameters<typeof ask>) => {
    const answer = await ask(...given);
    assert.equal(answer.status, 202, answer.text);
    return answer.body.data as Bulk;
  };
  const read = async (id: string) =>
    (await send(control, "GET", `/bulk-assignments/${id}`, headers)).body.data as Bulk;
  const run = (units: Units = control.context.units, signal?: AbortSignal) =>
    runBulkAssignments({ ...control.context, units }, mayStillConfigure, signal);
  /** As if so many ms later. */
  const runLater = (ms: number) =>
    runBulkAssignments({ ...control.context, clock: () => Date.now() + ms }, mayStillConfigure);
  const assigned = async (policyId: string) =>
    (await control.database
      .db("policy_assignments")
      .where({ policy_id: policyId })
      .orderBy("customer_id")
      .pluck("customer_id")) as string[];
  const changes = (action: string) =>
    control.database.db("audit_records").where({ kind: "change", action }) as Promise<{ user_id: string }[]>;

  it("is assigned to all that there were, each as by its own request", async () => {
    const id = await policy();
    const [first, second] = [customers[0]!, customers[1]!];
    await send(control, "POST", `/customers/${first}/policies`, headers, { policy_ids: [id] });
    const many = [];
    for (let n = 0; n < MAX_ASSIGNED; n += 1) {
      const at = new Date();
      const own = newId("policy");
      await control.database.db("policies").insert({
        ...{ id: own, name: own, name_key: own, description: "", type: "authentication", status: "active" },
        ...{ conditions: "{}", created_at: at, updated_at: at, revision: 1 },
      });
      many.push({ customer_id: second, policy_id: own, assigned_at: at });
    }
    await control.database.db("policy_assignments").insert(many);
    const begun = await begin(id, "assign", { all: true });
    assert.deepEqual(
      [begun.status, begun.progress],
      ["running", { total: 60, done: 0, changed: 0, failed: 0 }],
    );
    assert.deepEqual(begun.requested_by, { kind: "api_key", id: key.row.id, name: "a key" });
    const later = await makeCustomer(control, "later");
    try {
      await assertAssigned(id, second, begun);
    } finally {
      await control.database.db("customers").where({ id: later }).delete();
    }
  });

  async function assertAssigned(id: string, second: string, begun: Bulk): Promise<void> {
    const seq = async () =>
      Number((await control.database.db("gateway_changes").max({ n: "seq" }))[0]?.["n"] ?? 0);
    const told = await seq();
    await run();
    const over = await read(begun.id);
    assert.deepEqual(
      [over.status, over.progress],
      ["finished", { total: 60, done: 60, changed: 58, failed: 1 }],
    );
    assert.deepEqual(
      over.failures.map(({ customer_id, code }) => [customer_id, code]),
      [[second, "CONFLICT"]],
    );
    assert.deepEqual(await assigned(id), customers.filter((customer) => customer !== second).sort());
    assert.ok((await seq()) >= told + 58);
    const records = await changes("policy.assigned");
    // with the one of before
    assert.equal(records.length, 59);
    assert.deepEqual([...new Set(records.map(({ user_id }) => user_id))], [key.row.id]);
    assert.equal((await changes("policy.bulk_assignment_finished")).length, 1);
  }

  it("is removed from those of a status, or those that are named", async () => {
    const id = await policy();
    await begin(id, "assign", { all: true });
    await run();
    const some = customers.slice(0, 3);
    await begin(id, "unassign", { ids: some });
    await run();
    assert.deepEqual(await assigned(id), customers.slice(3).sort());
    await control.database
      .db("customers")
      .whereIn("id", customers.slice(3, 30))
      .update({ status: "suspended" });
    const { id: bulk } = await begin(id, "unassign", { status: "suspended" });
    await run();
    assert.equal((await read(bulk)).progress.changed, 27);
    assert.deepEqual(await assigned(id), customers.slice(30).sort());
    await control.database.db("customers").update({ status: "active" });
  });

  it("is previewed: whom it would lock out, and nothing changes", async () => {
    const id = await policy();
    for (const [customer, amr] of [
      [customers[4], '["pwd"]'],
      [customers[4], '["mfa"]'],
      [customers[5], '["pwd"]'],
      [customers[6], '["pwd"]'],
    ] as const)
      await openSession(control.database.db, customer!, amr);
    // to one that has the policy nothing would change
    await send(control, "POST", `/customers/${customers[6]}/policies`, headers, { policy_ids: [id] });
    const { id: bulk } = await begin(id, "preview", { all: true });
    await run();
    const { status, progress, impact } = await read(bulk);
    assert.deepEqual([status, progress.changed], ["finished", 59]);
    assert.deepEqual(
      [impact?.sessions, impact?.complete, impact?.refused, impact?.customers],
      [3, true, 2, 2],
    );
    assert.deepEqual(await assigned(id), [customers[6]]);
    assert.equal((await changes("policy.assigned")).length, 1);
  });

  it("goes on where it was interrupted, and does nothing twice, whoever does it", async () => {
    const id = await policy();
    const { id: bulk } = await begin(id, "assign", { all: true });
    const stop = new AbortController();
    const once: Units = async (origin, work) => {
      stop.abort();
      return control.context.units(origin, work);
    };
    await run(once, stop.signal);
    const { status, progress } = await read(bulk);
    assert.equal(status, "running");
    assert.ok(progress.done > 0 && progress.done < 60, String(progress.done));
    await Promise.all([run(), run(), run()]);
    await run();
    assert.deepEqual((await read(bulk)).progress, { total: 60, done: 60, changed: 60, failed: 0 });
    assert.equal((await changes("policy.assigned")).length, 60);
  });

  it("ends with the right of the key or account that asked for it", async () => {
    const id = await policy();
    const owner = await makeOwner(control);
    const admin = await makePerson(control, owner, "admin");
    const revoked = await begin(id, "assign", { all: true });
    const demoted = await begin(id, "assign", { all: true }, admin.headers);
    const previewed = await begin(id, "preview", { all: true });
    await control.context.units(OPERATOR, (unit) => revokeApiKey(unit, key.row.id));
    await send(control, "PUT", `/dashboard/users/${admin.id}`, owner.headers, { role: "viewer" });
    await run();
    headers = bearer((await makeKey(control)).secret);
    for (const { id: bulk } of [revoked, demoted, previewed]) {
      const { status, problem, progress } = await read(bulk);
      assert.deepEqual([status, progress.changed], ["failed", 0]);
      assert.match(problem ?? "", /no longer has the right/);
    }
    assert.deepEqual(await assigned(id), []);
    const byOwner = await begin(id, "assign", { ids: [customers[0]] }, owner.headers);
    assert.deepEqual(byOwner.requested_by, { kind: "dashboard_user", id: owner.id });
    await run();
    assert.equal((await read(byOwner.id)).status, "finished");
    const signedOut = await begin(id, "unassign", { all: true }, owner.headers);
    assert.equal((await send(control, "POST", "/dashboard/logout", owner.headers)).status, 200);
    await run();
    assert.equal((await read(signedOut.id)).status, "failed");
    assert.deepEqual(await assigned(id), [customers[0]]);
  });

  it("is tried again where a batch fails, holds nobody up meanwhile, and ends in the end", async () => {
    const { db } = control.database;
    const [id, other] = [await policy(), await policy()];
    const broken = [...customers].sort()[30];
    await db.raw(
      `create function fail() returns trigger language plpgsql as $$
       begin if new.policy_id = '${id}' and new.customer_id = '${broken}' then raise 'no'; end if; return new; end $$`,
    );
    await db.raw(
      "create trigger fail before insert on policy_assignments for each row execute function fail()",
    );
    try {
      const { id: failing } = await begin(id, "assign", { all: true });
      const { id: fine } = await begin(other, "assign", { all: true });
      await run();
      assert.equal((await read(fine)).status, "finished");
      const { status, progress } = await read(failing);
      assert.deepEqual([status, progress.done], ["running", 25]);
      for (let attempt = 1; attempt < 12; attempt += 1) await runLater(attempt * 600_000);
      const over = await read(failing);
      assert.deepEqual([over.status, over.progress.done], ["failed", 25]);
      assert.match(over.problem ?? "", /failed 10 times/);
      assert.equal((await changes("policy.bulk_assignment_failed")).length, 1);
    } finally {
      await db.raw("drop trigger fail on policy_assignments");
    }
  });

  it("takes customers of an instance whose clock is ahead, and waits for none that is locked", async () => {
    const { db } = control.database;
    const id = await policy();
    const ahead = await makeCustomer(control, "ahead");
    await db("customers")
      .where({ id: ahead })
      .update({ created_at: new Date(Date.now() + 5_000) });
    const held = await db.transaction();
    try {
      await held("customers").where({ id: customers[0] }).forUpdate().first("id");
      const { id: bulk, progress } = await begin(id, "assign", { ids: [customers[0], ahead] });
      assert.equal(progress.total, 2);
      // one that is created from now on is not among them, whatever its own time
      const later = await makeCustomer(control, "later");
      const all = await begin(await policy(), "assign", { all: true });
      assert.equal(all.progress.total, 62);
      await send(control, "POST", `/bulk-assignments/${all.id}/cancel`, headers);
      await db("customers").where({ id: later }).delete();
      await run();
      assert.equal((await read(bulk)).status, "running");
      await held.rollback();
      await runLater(600_000);
      assert.equal((await read(bulk)).status, "finished");
      assert.deepEqual(await assigned(id), [customers[0], ahead].sort());
    } finally {
      if (!held.isCompleted()) await held.rollback();
      await db("policy_assignments").where({ customer_id: ahead }).delete();
      await db("customers").where({ id: ahead }).delete();
    }
  });

  it("looks again when it has the customer: what others did meanwhile is not its doing", async () => {
    const { db } = control.database;
    const [id, other] = [await policy(), await policy()];
    const [first, second] = [customers[0]!, customers[1]!];
    const held = await db.transaction();
    const { id: bulk } = await begin(id, "assign", { ids: [first] });
    const { id: ofStatus } = await begin(other, "assign", { status: "active" });
    await held("customers").whereIn("id", [first, second]).orderBy("id").forUpdate().select("id");
    const running = run();
    await held("policy_assignments").insert({ customer_id: first, policy_id: id, assigned_at: new Date() });
    await held("customers").where({ id: second }).update({ status: "suspended" });
    await held.commit();
    await running;
    await runLater(600_000);
    const { status, progress } = await read(bulk);
    assert.deepEqual([status, progress.done, progress.changed], ["finished", 1, 0]);
    assert.ok(!(await assigned(other)).includes(second));
    assert.equal((await read(ofStatus)).status, "finished");
    await db("customers").update({ status: "active" });
  });

  it("ends with the last customer, also of a whole number of batches, and keeps no ids", async () => {
    const id = await policy();
    const { id: bulk } = await begin(id, "assign", { ids: customers.slice(0, 25) });
    const stop = new AbortController();
    const once: Units = async (origin, work) => {
      stop.abort();
      return control.context.units(origin, work);
    };
    await run(once, stop.signal);
    assert.equal((await read(bulk)).status, "finished");
    assert.deepEqual(await control.database.db("bulk_assignments").where({ id: bulk }).pluck("selection"), [
      { ids: 25 },
    ]);
    const list = await send(control, "GET", "/bulk-assignments", headers);
    assert.deepEqual((list.body.data as { customers: object }[])[0]?.customers, { ids: 25 });
  });

  it("can be cancelled, and ends if the policy is deleted", async () => {
    const id = await policy();
    const first = await begin(id, "assign", { all: true });
    const cancelled = await send(control, "POST", `/bulk-assignments/${first.id}/cancel`, headers);
    assert.equal((cancelled.body.data as Bulk).status, "cancelled");
    const second = await begin(id, "assign", { all: true });
    assert.equal((await send(control, "DELETE", `/policies/${id}`, headers)).status, 200);
    await run();
    const { status, problem } = await read(second.id);
    assert.deepEqual([status, problem], ["failed", "the policy was deleted"]);
    assert.equal((await changes("policy.bulk_assignment_failed")).length, 1);
    // what has ended stays as it is, and nothing else is recorded
    await send(control, "POST", `/bulk-assignments/${second.id}/cancel`, headers);
    assert.equal((await read(second.id)).status, "failed");
    assert.equal((await changes("policy.bulk_assignment_cancelled")).length, 1);
    assert.equal((await read(first.id)).status, "cancelled");
    assert.deepEqual(await assigned(id), []);
    const list = await send(control, "GET", `/bulk-assignments?policy_id=${id}&status=failed`, headers);
    assert.deepEqual(
      (list.body.data as Bulk[]).map((item) => item.id),
      [second.id],
    );
  });

  it("refuses what cannot be, and keys of one customer", async () => {
    const id = await policy();
    const unknown = newId("customer");
    const answer = await ask(id, "assign", { ids: [customers[0], unknown] });
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.body.error.details.fields, [
      { path: "customers.ids.1", message: "is not an existing customer" },
    ]);
    for (const selection of [
      {},
      { all: false },
      { ids: [] },
      { ids: [customers[0], customers[0]] },
      { status: "x" },
    ])
      assert.equal((await ask(id, "assign", selection)).status, 422, JSON.stringify(selection));
    assert.equal((await ask(id, "remove", { all: true })).status, 422);
    assert.equal((await ask(newId("policy"), "assign", { all: true })).status, 404);
    for (const [method, path] of [
      ["GET", NONE],
      ["POST", `${NONE}/cancel`],
    ] as const)
      assert.equal((await send(control, method, `/bulk-assignments/${path}`, headers)).status, 404);
    const limited = await makeKey(control, { customerId: customers[0]! });
    for (const action of ["assign", "preview"])
      assert.equal((await ask(id, action, { all: true }, bearer(limited.secret))).status, 403);
    for (let n = 0; n < 20; n += 1) await begin(id, "preview", { ids: [customers[0]] });
    const many = await ask(id, "preview", { all: true });
    assert.deepEqual([many.status, many.body.error.code], [409, "CONFLICT"]);
  });
});

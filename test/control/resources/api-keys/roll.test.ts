import assert from "node:assert/strict";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import { listen } from "../../../support/written.ts";
import type { Answered, RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import {
  bearer,
  makeCustomer,
  makeKey,
  makeOwner,
  send,
  startGuardedControl,
  type Person,
} from "../../../support/guarded-control.ts";
import { lockWaits } from "../../../support/lock-waits.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const iso = (time: number) => new Date(time).toISOString();

describe("API keys are rolled", () => {
  let control: RunningControl;
  let now: number;
  let owner: Person;
  const written = listen();

  before(async () => {
    now = Date.parse("2026-03-01T12:00:00Z");
    control = await startGuardedControl({ clock: () => now, writers: written.writers });
    owner = await makeOwner(control);
  });
  after(() => control.close());
  beforeEach(() => {
    written.clear();
  });

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => send(control, method, path, { ...owner.headers, ...headers }, body);
  const roll = (id: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
    ask("POST", `/api-keys/${id}/roll`, body, headers);
  const probe = async (key: string) => {
    const { status, body } = await send(control, "GET", "/probe", bearer(key));
    return status === 200 ? body.data : body.error.code;
  };
  const refused = async (answer: Promise<Answered>) => {
    const { status, body } = await answer;
    return [status, body.error?.code];
  };

  it("to another of their kind, and both are good until the overlap ends", async () => {
    const customerId = await makeCustomer(control);
    const fields = { name: "deploy", scope: "configuration", customerId } as const;
    const old = await makeKey(control, { ...fields, expiresAt: new Date(now + 10 * DAY) });
    now += HOUR;
    written.clear();
    const answer = await roll(old.row.id, { overlap: 3600 });
    assert.equal(answer.status, 201, answer.text);
    const { key, previous, ...fresh } = answer.body.data;
    assert.match(key, /^gh_live_[0-9A-Za-z]{38}$/);
    assert.notEqual(fresh.id, old.row.id);
    assert.deepEqual(fresh, {
      id: fresh.id,
      name: "deploy",
      scope: "configuration",
      environment: "production",
      customer_id: customerId,
      hint: key.slice(-4),
      status: "active",
      created_by: { kind: "dashboard_user", id: owner.id, name: "Olga" },
      created_at: iso(now),
      updated_at: iso(now),
      // as long as the other was given
      expires_at: iso(now + 10 * DAY),
      last_used_at: null,
      revoked_at: null,
      family_id: old.row.id,
      permissions: [],
      allowed_addresses: [],
      rolled_from: old.row.id,
      rolled_to: null,
    });
    assert.deepEqual(
      [previous.id, previous.status, previous.rolled_to, previous.expires_at],
      [old.row.id, "active", fresh.id, iso(now + HOUR)],
    );
    assert.equal(answer.headers.get("location"), `${control.url}/v1/api-keys/${fresh.id}`);
    const asked = { kind: "api_key", name: "deploy", scope: "configuration", customerId };
    assert.deepEqual(await probe(old.secret), { ...asked, id: old.row.id });
    assert.deepEqual(await probe(key), { ...asked, id: fresh.id, familyId: old.row.id });
    assert.deepEqual(
      written.changes.map(({ action, target, customerId: of, before, after }) => [
        action,
        target.id,
        of,
        before?.["expires_at"],
        after?.["expires_at"],
        after?.["rolled_from"] ?? after?.["rolled_to"],
      ]),
      [
        ["api_key.created", fresh.id, customerId, undefined, iso(now + 10 * DAY), old.row.id],
        ["api_key.rolled", old.row.id, customerId, iso(now + 10 * DAY - HOUR), iso(now + HOUR), fresh.id],
      ],
    );
    assert.deepEqual(
      written.events.map(({ type, data }) => [type, data.api_key?.id]),
      [["api_key.created", fresh.id]],
    );
    const list = await ask("GET", `/api-keys?family_id=${old.row.id}`);
    const listed = list.body.data.map(({ id }: { id: string }) => id) as string[];
    assert.deepEqual(new Set(listed), new Set([old.row.id, fresh.id]));
    assert.ok(!list.text.includes(key) && !JSON.stringify(written.all()).includes(key));

    now += HOUR - 1;
    assert.equal((await probe(old.secret)).id, old.row.id);
    now += 1;
    assert.equal(await probe(old.secret), "API_KEY_ROLLED");
    assert.equal((await probe(key)).id, fresh.id);
    assert.equal((await ask("GET", `/api-keys/${old.row.id}`)).body.data.status, "expired");
  });

  it("once: then the key that took their place is", async () => {
    const { row } = await makeKey(control);
    const second = (await roll(row.id)).body.data;
    // a day, unless it is said otherwise
    assert.equal(second.previous.expires_at, iso(now + DAY));
    assert.equal(second.expires_at, null);
    const again = await roll(row.id, {});
    assert.deepEqual([again.status, again.body.error.code], [409, "CONFLICT"]);
    assert.equal(again.body.error.details.rolled_to, second.id);
    const third = (await roll(second.id, { overlap: 0 })).body.data;
    assert.deepEqual([third.family_id, third.rolled_from], [row.id, second.id]);
    assert.equal(await probe(second.key), "API_KEY_ROLLED");
    assert.equal((await probe(third.key)).familyId, row.id);
    // what was rolled is told so in place of being revoked
    const over = await roll(second.id, {});
    assert.deepEqual([over.status, over.body.error.details.rolled_to], [409, third.id]);
    // what is replaced ends: it can be sooner, and not later
    const end = (time: number | null) =>
      ask("PUT", `/api-keys/${row.id}`, { expires_at: time === null ? null : iso(time) });
    for (const later of [now + DAY + 1, null]) assert.deepEqual(await refused(end(later)), [409, "CONFLICT"]);
    assert.equal((await end(now + HOUR)).status, 200);
    // whatever becomes of one, the others stay
    await ask("DELETE", `/api-keys/${row.id}`);
    assert.equal((await probe(third.key)).id, third.id);
  });

  it("without an overlap by being revoked: an instance whose clock is behind refuses them, too", async () => {
    const { row, secret } = await makeKey(control);
    written.clear();
    const rolled = (await roll(row.id, { overlap: 0 })).body.data;
    const { status, revoked_at: revokedAt, expires_at: end, rolled_to: to } = rolled.previous;
    assert.deepEqual([status, revokedAt, end, to], ["revoked", iso(now), iso(now), rolled.id]);
    const emitted = () => written.events.map(({ type, data }) => [type, data.api_key?.id]);
    const told = [
      ["api_key.created", rolled.id],
      ["api_key.revoked", row.id],
    ];
    assert.deepEqual(emitted(), told);
    for (const [state, ids] of [
      ["revoked", [row.id]],
      ["expired", []],
      ["active", [rolled.id]],
    ] as const) {
      const list = await ask("GET", `/api-keys?family_id=${row.id}&status=${state}`);
      assert.deepEqual(
        list.body.data.map(({ id }: { id: string }) => id),
        ids,
      );
    }
    const later = now;
    now -= HOUR;
    try {
      assert.equal(await probe(secret), "API_KEY_ROLLED");
      assert.equal((await probe(rolled.key)).id, rolled.id);
    } finally {
      now = later;
    }
    // it is over already
    assert.equal((await ask("DELETE", `/api-keys/${row.id}`)).body.data.revoked_at, revokedAt);
    assert.deepEqual(await refused(ask("PUT", `/api-keys/${row.id}`, { expires_at: null })), [
      409,
      "CONFLICT",
    ]);
    assert.deepEqual(emitted(), told);
  });

  it("neither rolled nor made while their customer is deleted", async () => {
    const customerId = await makeCustomer(control, "Going");
    const key = await makeKey(control, { customerId });
    const { db } = control.context;
    const deleting = await db.transaction();
    await deleting("customers")
      .where({ id: customerId })
      .update({ deleted_at: new Date(now) });
    const waiting = Promise.all([
      refused(roll(key.row.id, {})),
      makeKey(control, { customerId }).then(
        () => "made",
        (error: unknown) => (error instanceof ApiError ? error.code : error),
      ),
    ]);
    await eventually("both wait", async () => {
      return (await lockWaits(db, { query: "%for share%" })).length === 2;
    });
    await deleting.commit();
    assert.deepEqual(await waiting, [[404, "INVALID_CUSTOMER"], "INVALID_CUSTOMER"]);
  });

  it("unless they are over, or nobody's, or another revision", async () => {
    const customerId = await makeCustomer(control, "Gone");
    const orphan = await makeKey(control, { customerId });
    const revoked = await makeKey(control);
    await ask("DELETE", `/api-keys/${revoked.row.id}`);
    const short = await makeKey(control, { expiresAt: new Date(now + HOUR) });
    const endless = await makeKey(control, { expiresAt: new Date("9999-12-31T23:59:59.999Z") });
    const { db } = control.context;
    await db("customers")
      .where({ id: customerId })
      .update({ deleted_at: new Date(now) });
    const before = (await db("api_keys")).length;
    assert.deepEqual(await refused(roll(revoked.row.id, {})), [409, "CONFLICT"]);
    assert.deepEqual(await refused(roll(orphan.row.id, {})), [404, "INVALID_CUSTOMER"]);
    const matched = roll(short.row.id, {}, { "if-match": '"x"' });
    assert.deepEqual(await refused(matched), [412, "PRECONDITION_FAILED"]);
    for (const body of [-1, 30 * 86_400 + 1, 1.5, "60", null].map((overlap) => ({ overlap })))
      assert.deepEqual(await refused(roll(short.row.id, body)), [422, "VALIDATION_FAILED"]);
    assert.deepEqual(await refused(roll(short.row.id, { scope: "full_access" })), [422, "VALIDATION_FAILED"]);
    assert.equal((await db("api_keys")).length, before);
    // its own end comes first
    const rolled = (await roll(short.row.id, { overlap: 30 * 86_400 })).body.data;
    assert.equal(rolled.previous.expires_at, iso(now + HOUR));
    now += HOUR;
    assert.deepEqual(await refused(roll(rolled.id, {})), [409, "CONFLICT"]);
    assert.equal((await roll(endless.row.id, {})).body.data.expires_at, "9999-12-31T23:59:59.999Z");
  });

  it("by one of many who do it at once, and again for the same Idempotency-Key", async () => {
    const { row } = await makeKey(control, { scope: "gateway" });
    const answers = await Promise.all(Array.from({ length: 6 }, () => roll(row.id, {})));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409]);
    const [next] = answers.filter(({ status }) => status === 201);
    const once = { "idempotency-key": "roll-it" };
    const [first, second] = await Promise.all([1, 2].map(() => roll(next?.body.data.id, {}, once)));
    assert.equal(first?.status, 201, first?.text);
    assert.equal(second?.text, first.text);
    const family = await control.context.db("api_keys").where({ family_id: row.id });
    assert.equal(family.length, 2);
    assert.ok(!JSON.stringify(await control.context.db("idempotency_keys")).includes(first.body.data.key));
  });
});

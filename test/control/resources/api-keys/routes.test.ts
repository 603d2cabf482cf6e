import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { revokeApiKeysOf } from "../../../../src/control/resources/api-keys/store.ts";
import { ROW_LOCKS } from "../../../../src/storage/advisory-locks.ts";
import { listen } from "../../../support/written.ts";
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
  type Person,
} from "../../../support/guarded-control.ts";

/** In the year 10000, and before the year 0, by UTC: ISO 8601 with four digits cannot say when that is. */
const BEYOND = ["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"];

describe("/api-keys", () => {
  let control: RunningControl;
  let now: number;
  let owner: Person;
  const written = listen();

  beforeEach(async () => {
    now = Date.parse("2026-03-01T12:00:00Z");
    control = await startGuardedControl({ clock: () => now, writers: written.writers });
    owner = await makeOwner(control);
    written.clear();
  });
  afterEach(() => control.close());

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => send(control, method, path, { ...owner.headers, ...headers }, body);

  it("makes a key that is shown once and stored as a hash", async () => {
    const made = await ask("POST", "/api-keys", { name: "deploy", scope: "read_only" });
    assert.equal(made.status, 201);
    const { key, ...told } = made.body.data;
    assert.match(key, /^gh_live_[0-9A-Za-z]{38}$/);
    assert.deepEqual(told, {
      id: told.id,
      name: "deploy",
      scope: "read_only",
      environment: "production",
      customer_id: null,
      permissions: [],
      allowed_addresses: [],
      hint: key.slice(-4),
      status: "active",
      created_by: { kind: "dashboard_user", id: owner.id, name: "Olga" },
      created_at: "2026-03-01T12:00:00.000Z",
      updated_at: "2026-03-01T12:00:00.000Z",
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      family_id: told.id,
      rolled_from: null,
      rolled_to: null,
    });
    assert.equal(made.headers.get("location"), `${control.url}/v1/api-keys/${told.id}`);
    assert.equal((await send(control, "GET", "/probe", bearer(key))).status, 200);

    const read = await ask("GET", `/api-keys/${told.id}`);
    const list = await ask("GET", "/api-keys");
    assert.ok(!read.text.includes(key) && !list.text.includes(key));
    const [row] = await control.context.db("api_keys");
    assert.ok(!JSON.stringify(row).includes(key));
    assert.equal(row.secret_hash, createHash("sha256").update(key).digest("hex"));
    assert.ok(!JSON.stringify(written.all()).includes(key));
    assert.ok(!JSON.stringify(await control.context.db("idempotency_keys")).includes(key));
  });

  it("makes one key for one Idempotency-Key, and shows it again without keeping it in the clear", async () => {
    const once = { "idempotency-key": "abc" };
    const first = await ask("POST", "/api-keys", { name: "deploy", scope: "read_only" }, once);
    const second = await ask("POST", "/api-keys", { name: "deploy", scope: "read_only" }, once);
    assert.equal(second.text, first.text);
    assert.equal((await control.context.db("api_keys")).length, 1);
    const kept = JSON.stringify(await control.context.db("idempotency_keys"));
    assert.ok(!kept.includes(first.body.data.key));
  });

  it("that have not ended are revoked with their customer, with few locks however many there are", async () => {
    const { units, db } = control.context;
    const customerId = await makeCustomer(control);
    const fields = { scope: "read_only", customerId } as const;
    const { row: good } = await makeKey(control, { ...fields, name: "good" });
    for (const name of ["old", "older"])
      await makeKey(control, { ...fields, name, expiresAt: new Date(now + 60_000) });
    now += 60_000;
    const locks = await units(OPERATOR, async (unit) => {
      await revokeApiKeysOf(unit, customerId);
      const { rows } = await unit.trx.raw<{ rows: { n: number }[] }>(
        `select count(*)::integer as n from pg_locks
         where locktype = 'advisory' and pid = pg_backend_pid() and classid::integer = ?`,
        [ROW_LOCKS.credentials],
      );
      return rows[0]?.n;
    });
    assert.equal(locks, 1, `only ${good.id} can still write`);
    const revoked = await db("api_keys")
      .where({ customer_id: customerId })
      .whereNotNull("revoked_at")
      .pluck("id");
    assert.deepEqual(revoked, [good.id]);
  });

  it("records and announces what is made and revoked, each once", async () => {
    const customerId = await makeCustomer(control);
    const body = { name: "deploy", scope: "configuration", customer_id: customerId };
    const { id, hint } = (await ask("POST", "/api-keys", body)).body.data;
    await ask("PUT", `/api-keys/${id}`, { name: "deployment" });
    now += 1_000;
    assert.equal((await ask("DELETE", `/api-keys/${id}`)).body.data.status, "revoked");
    assert.equal((await ask("DELETE", `/api-keys/${id}`)).body.data.revoked_at, "2026-03-01T12:00:01.000Z");

    const fields = { name: "deploy", scope: "configuration", customer_id: customerId, hint };
    const before = { ...fields, expires_at: null, revoked_at: null };
    const renamed = { ...before, name: "deployment" };
    assert.deepEqual(
      written.changes.map(({ action, target, customerId: of, before: was, after, actor }) => [
        action,
        target.id,
        of,
        was,
        after,
        actor.id,
      ]),
      [
        ["api_key.created", id, customerId, undefined, before, owner.id],
        ["api_key.updated", id, customerId, before, renamed, owner.id],
        [
          "api_key.revoked",
          id,
          customerId,
          renamed,
          { ...renamed, revoked_at: "2026-03-01T12:00:01.000Z" },
          owner.id,
        ],
      ],
    );
    assert.deepEqual(
      written.events.map(({ type, customerId: of, data }) => [type, of, data]),
      [
        ["api_key.created", customerId, { api_key: { id, name: "deploy", scope: "configuration" } }],
        ["api_key.revoked", customerId, { api_key: { id, name: "deployment", scope: "configuration" } }],
      ],
    );
  });

  it("lists keys, filtered and in order", async () => {
    const customerId = await makeCustomer(control);
    const make = async (body: object) => {
      now += 1_000;
      return (await ask("POST", "/api-keys", body)).body.data.id as string;
    };
    const c = await make({ name: "c", scope: "gateway" });
    const a = await make({ name: "a", scope: "full_access", customer_id: customerId });
    const b = await make({
      name: "b",
      scope: "full_access",
      expires_at: new Date(now + 60_000).toISOString(),
    });
    const d = await make({ name: "d", scope: "full_access" });
    await ask("DELETE", `/api-keys/${d}`);
    now += 600_000;
    const ids = async (query: string) => {
      const { body, status } = await ask("GET", `/api-keys${query}`);
      assert.equal(status, 200, query);
      return body.data.map(({ id }: { id: string }) => id);
    };
    assert.deepEqual(await ids(""), [d, b, a, c]);
    assert.deepEqual(await ids("?sort=name&order=asc"), [a, b, c, d]);
    assert.deepEqual(await ids("?status=active"), [a, c]);
    assert.deepEqual(await ids("?status=expired"), [b]);
    assert.deepEqual(await ids("?status=revoked"), [d]);
    assert.deepEqual(await ids("?scope=gateway"), [c]);
    assert.deepEqual(await ids(`?customer_id=${customerId}`), [a]);
    assert.deepEqual(await ids("?limit=2&page=2"), [a, c]);
    const { body } = await ask("GET", "/api-keys?limit=3");
    assert.deepEqual(body.pagination, { current_page: 1, total_pages: 2, total_items: 4, page_size: 3 });
    for (const query of ["?sort=secret_hash", "?status=x", "?limit=0", "?q=1"]) {
      assert.equal((await ask("GET", `/api-keys${query}`)).status, 400, query);
    }
    assert.deepEqual(await ids("?customer_id='%20or%201=1"), []);
  });

  it("changes name and expiry, and nothing else", async () => {
    const { id } = (await ask("POST", "/api-keys", { name: "n", scope: "read_only" })).body.data;
    const expires = new Date(now + 1_000).toISOString();
    const changed = await ask("PUT", `/api-keys/${id}`, { expires_at: expires });
    assert.deepEqual([changed.body.data.name, changed.body.data.expires_at], ["n", expires]);
    const cleared = await ask("PUT", `/api-keys/${id}`, { name: "m", expires_at: null });
    assert.deepEqual([cleared.body.data.name, cleared.body.data.expires_at], ["m", null]);
    for (const [body, path] of [
      [{}, ""],
      [{ scope: "full_access" }, "scope"],
      [{ customer_id: null }, "customer_id"],
      [{ expires_at: new Date(now).toISOString() }, "expires_at"],
      [{ expires_at: "tomorrow" }, "expires_at"],
      [{ name: "" }, "name"],
    ] as const) {
      const answer = await ask("PUT", `/api-keys/${id}`, body);
      assert.deepEqual([answer.status, answer.body.error.details.fields[0].path], [422, path]);
    }
    await ask("DELETE", `/api-keys/${id}`);
    const late = await ask("PUT", `/api-keys/${id}`, { expires_at: null });
    assert.deepEqual([late.status, late.body.error.code], [409, "CONFLICT"]);
  });

  it("changes only the revision that If-Match names", async () => {
    const made = await ask("POST", "/api-keys", { name: "n", scope: "read_only" });
    const { id } = made.body.data;
    const etag = made.headers.get("etag") ?? "";
    assert.equal((await ask("GET", `/api-keys/${id}`)).headers.get("etag"), etag);
    const changed = await ask("PUT", `/api-keys/${id}`, { name: "m" }, { "if-match": etag });
    assert.equal(changed.status, 200);
    for (const [method, body] of [
      ["PUT", { name: "o" }],
      ["DELETE", undefined],
    ] as const) {
      const answer = await ask(method, `/api-keys/${id}`, body, { "if-match": etag });
      assert.deepEqual([answer.status, answer.body.error.code], [412, "PRECONDITION_FAILED"]);
    }
    const current = changed.headers.get("etag") ?? "";
    assert.equal((await ask("DELETE", `/api-keys/${id}`, undefined, { "if-match": current })).status, 200);
  });

  it("refuses what is no key's description", async () => {
    const customerId = await makeCustomer(control);
    const good = { name: "n", scope: "read_only" };
    for (const [body, path] of [
      [{ scope: "read_only" }, "name"],
      [{ name: "n" }, "scope"],
      [{ ...good, scope: "root" }, "scope"],
      [{ ...good, name: " " }, "name"],
      [{ ...good, name: "a\r\nx-evil: 1" }, "name"],
      [{ ...good, name: "a\u2028b" }, "name"],
      [{ ...good, name: "x".repeat(201) }, "name"],
      [{ ...good, expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
      [{ ...good, expires_at: "2030-01-01" }, "expires_at"],
      [{ ...good, key: "gh_live_mine" }, "key"],
      [{ ...good, scope: "gateway", customer_id: customerId }, "customer_id"],
    ] as const) {
      const answer = await ask("POST", "/api-keys", body);
      assert.deepEqual(
        [answer.status, answer.body.error.details.fields?.[0].path],
        [422, path],
        JSON.stringify(body),
      );
    }
    const unknown = await ask("POST", "/api-keys", { ...good, customer_id: "cus_x' or '1'='1" });
    assert.deepEqual([unknown.status, unknown.body.error.code], [422, "INVALID_CUSTOMER"]);
    assert.equal((await control.context.db("api_keys")).length, 0);
    assert.deepEqual(written.all(), []);
  });

  it("answers 404 to ids that are none", async () => {
    for (const id of ["key_x", "key_01h455vb4pex5vsknk084sn02q", "'%20or%20'1'='1", "%F0%9F%98%80"]) {
      for (const [method, body] of [
        ["GET", undefined],
        ["PUT", { name: "n" }],
        ["DELETE", undefined],
      ] as const) {
        const answer = await ask(method, `/api-keys/${id}`, body);
        assert.deepEqual([answer.status, answer.body.error.code], [404, "API_KEY_NOT_FOUND"]);
      }
      const answer = await ask("POST", `/api-keys/${id}/roll`, {});
      assert.deepEqual([answer.status, answer.body.error.code], [404, "API_KEY_NOT_FOUND"]);
    }
  });

  it("is for people alone: no key makes, reads, rolls or revokes a key", async () => {
    const { row, secret } = await makeKey(control, { scope: "full_access" });
    for (const [method, path, body] of [
      ["GET", "/api-keys", undefined],
      ["POST", "/api-keys", { name: "n", scope: "read_only" }],
      ["GET", `/api-keys/${row.id}`, undefined],
      ["PUT", `/api-keys/${row.id}`, { name: "n" }],
      ["POST", `/api-keys/${row.id}/roll`, {}],
      ["DELETE", `/api-keys/${row.id}`, undefined],
    ] as const) {
      const { status, body: answered } = await send(control, method, path, bearer(secret), body);
      assert.deepEqual([status, answered.error.code], [403, "INSUFFICIENT_SCOPE"]);
    }
    const viewer = await makePerson(control, owner, "viewer");
    assert.equal(
      (await send(control, "GET", "/api-keys", viewer.headers)).body.error.code,
      "INSUFFICIENT_ROLE",
    );
    const admin = await makePerson(control, owner, "admin");
    assert.equal((await send(control, "GET", "/api-keys", admin.headers)).status, 200);
  });

  it("revokes a key once, however many do it at once", async () => {
    const { row } = await makeKey(control);
    written.clear();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask("DELETE", `/api-keys/${row.id}`)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.deepEqual(
      written.events.map(({ type }) => type),
      ["api_key.revoked"],
    );
  });

  describe("times at the ends of the calendar", () => {
    it("are refused where no answer could tell them, and break no list", async () => {
      for (const expires_at of BEYOND) {
        const body = { name: "long", scope: "read_only", expires_at };
        const answer = await ask("POST", "/api-keys", body);
        assert.equal(answer.status, 422, `${expires_at}: ${answer.text}`);
        assert.equal(answer.body.error.details.fields[0].path, "expires_at");
      }
      assert.equal((await ask("GET", "/api-keys")).status, 200);
    });

    it("may be the last that there is", async () => {
      const body = { name: "long", scope: "read_only", expires_at: "9999-12-31T23:59:59Z" };
      const answer = await ask("POST", "/api-keys", body);
      assert.equal(answer.status, 201, answer.text);
      assert.equal(answer.body.data.expires_at, "9999-12-31T23:59:59.000Z");
    });
  });
});

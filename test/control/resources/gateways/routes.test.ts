import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { MOST_ANNOUNCED } from "../../../../src/control/resources/gateways/announcement-budget.ts";
import { MOST_OF_SENDER, register } from "../../../../src/control/resources/gateways/store.ts";
import { watchFleet } from "../../../../src/control/resources/gateways/watch.ts";
import type { Registration } from "../../../../src/protocol/index.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { GATEWAY_KEY } from "../../support/gateway-records.ts";
import { keyOf } from "../../support/user-directory.ts";

const DIGEST = "0".repeat(64);

describe("gateways", () => {
  let control: RunningControl;
  before(async () => {
    control = await startControl();
  });
  after(() => control.close());
  afterEach(async () => {
    await control.database.db("gateways").delete();
    await control.database.db("gateway_announcements").delete();
    await control.database.db("events").delete();
  });

  const reportOf = (changes: Partial<Registration> = {}): Registration => ({
    ...{ id: "host:8080", kind: "gateway", address: "http://127.0.0.1:8080", version: "1.2.3" },
    policies: { source: "directory", set: "main", version: "v1", digest: DIGEST },
    rollout: null,
    workers: { expected: 2, ready: 2 },
    ...{ started_at: "2026-03-01T11:00:00Z", sent_at: new Date().toISOString() },
    ...{ interval_ms: 5_000, leaving: false, ...changes },
  });
  const report = async (changes: Partial<Registration> = {}, as: Actor = GATEWAY_KEY) =>
    control.request("POST", "/gateway/registration", {
      ...{ body: reportOf(changes), as, headers: { "x-gatehouse-gateway": "host" } },
    });
  const list = async (query = "") => {
    const { status, body, text } = await control.request("GET", `/gateways${query}`);
    assert.equal(status, 200, text);
    return body.data as Record<string, unknown>[];
  };
  const events = async () => {
    const rows = await control.database.db("events").orderBy(["timestamp", "id"]);
    return rows.map(
      ({ type, data }: { type: string; data: { gateway?: { id: string } } }) =>
        `${type} ${data.gateway?.id ?? ""}`,
    );
  };
  /** As if the report had been that long ago. */
  const age = (id: string, interval: string) =>
    control.database
      .db("gateways")
      .where({ id })
      .update({ seen_at: control.database.db.raw("now() - ?::interval", [interval]) });

  /** As if everything about announcements had been a minute ago. */
  const ageAnnouncements = () =>
    control.database.db("gateways").update({
      announced_at: control.database.db.raw("announced_at - interval '1 minute'"),
      registered_at: control.database.db.raw("registered_at - interval '1 minute'"),
    });

  /** Gives the key of the only gateway others like it, up to a number. */
  const addGateways = (total: number) =>
    control.database.db.raw(
      `insert into gateways select sender, 'many-' || n, name, kind, address, version, policy_source, policy_set,
         policy_set_version, digest, digest_since, rollout, workers_expected, workers_ready, interval_ms, clock_offset_ms,
         started_at, registered_at, seen_at, status from gateways, generate_series(2, ?) n
       where sender = ?`,
      [total, GATEWAY_KEY.id],
    );

  it("are listed as they last reported, and no more once they leave", async () => {
    assert.equal((await report()).status, 200);
    const rollout = { digest: "1".repeat(64), mode: "enforce", percentage: 10 } as const;
    assert.equal((await report({ version: "1.2.4", rollout })).status, 200);
    const [found, ...others] = await list();
    assert.deepEqual(others, []);
    const { last_seen_at, registered_at, policies, clock_offset_ms: offset, ...rest } = found!;
    assert.deepEqual(rest, {
      ...{ id: "host:8080", name: "host", kind: "gateway", address: "http://127.0.0.1:8080" },
      ...{ version: "1.2.4", status: "alive", rollout, workers: { expected: 2, ready: 2 } },
      ...{ started_at: "2026-03-01T11:00:00.000Z", key: GATEWAY_KEY.id },
    });
    const { since, ...enforced } = policies as Record<string, unknown>;
    assert.deepEqual(enforced, {
      source: "directory",
      set: "main",
      version: "v1",
      digest: DIGEST,
      active_digest: null,
    });
    assert.equal(since, registered_at, "the digest did not change");
    assert.ok(String(last_seen_at) > String(registered_at));
    assert.ok(Math.abs(Number(offset)) < 60_000);
    await report({ leaving: true });
    assert.deepEqual(await list(), []);
  });

  it("of two keys may have the same id, and neither speaks for the other", async () => {
    const other = { ...GATEWAY_KEY, id: "key_other" };
    await report();
    await report({ version: "9.9.9" }, other);
    assert.deepEqual((await list("?sort=id&order=asc")).map(({ version, key }) => [version, key]).sort(), [
      ["1.2.3", GATEWAY_KEY.id],
      ["9.9.9", "key_other"],
    ]);
    await report({ leaving: true }, other);
    assert.equal((await list()).length, 1);
  });

  it("may write times with any offset, and no text that cannot be stored", async () => {
    assert.equal((await report({ started_at: "2026-03-01T12:00:00+23:59" })).status, 200);
    assert.equal((await list())[0]?.["started_at"], "2026-02-28T12:01:00.000Z");
    const wrong: readonly Partial<Registration>[] = [
      { started_at: "9999-12-31T23:59:59-23:59" },
      { address: "a\0b" },
      { address: "a\ud800b" },
      { policies: { source: "directory", set: "a\0", version: "v", digest: null } },
    ];
    for (const changes of wrong) {
      const { status } = await report(changes);
      assert.ok(status === 400 || status === 422, `${JSON.stringify(changes)}: ${status}`);
    }
  });

  it("tell how far their clock is off", async () => {
    await report({ sent_at: new Date(Date.now() + 3_600_000).toISOString() });
    const [{ clock_offset_ms: offset } = {}] = await list();
    assert.ok(Math.abs(Number(offset) - 3_600_000) < 60_000, String(offset));
  });

  it("are compared with the active version of their set", async () => {
    const files = (version: string) => [
      {
        name: "main.yaml",
        text: `policy_set: main\nversion: ${version}\npolicies:\n  - { resource: "GET /x", condition: "true" }\n`,
      },
    ];
    const published = await control.request("POST", "/policy-sets", {
      body: { name: "main", files: files("v1") },
    });
    assert.equal(published.status, 201, published.text);
    const { digest } = published.body.data as { digest: string };
    const policies = (own: string | null) =>
      ({ source: "control_plane", set: "main", version: "v1", digest: own }) as const;
    await report({ id: "a", policies: policies(digest) });
    await report({ id: "b", policies: policies(DIGEST) });
    await report({ id: "c", policies: policies(null) });
    const statuses = async () => (await list("?sort=id&order=asc")).map(({ id, status }) => [id, status]);
    assert.deepEqual(await statuses(), [
      ["a", "alive"],
      ["b", "diverged"],
      ["c", "lagging"],
    ]);
    assert.deepEqual(
      (await list()).map(({ policies: of }) => (of as { active_digest: string }).active_digest),
      [digest, digest, digest],
    );
    await control.request("POST", "/policy-sets", { body: { name: "main", files: files("v2") } });
    await control.database
      .db("policy_sets")
      .update({ activated_at: control.database.db.raw("now() - interval '1 minute'") });
    assert.deepEqual((await statuses())[0], ["a", "lagging"]);
    assert.deepEqual((await list("?status=lagging")).length, 2);
    assert.deepEqual(await list("?policy_set=none"), []);
  });

  it("are announced once when they are lost, and when they are back", async () => {
    await report({ id: "a" });
    await report({ id: "b" });
    const watch = () => watchFleet(control.context);
    assert.deepEqual(await watch(), { alive: 2, lagging: 0, diverged: 0, lost: 0 });
    await age("a", "1 minute");
    const counts = await Promise.all([watch(), watch(), watch()]);
    assert.deepEqual(counts[0], { alive: 1, lagging: 0, diverged: 0, lost: 1 });
    assert.deepEqual(await events(), ["gateway.lost a"]);
    await report({ id: "a" });
    await ageAnnouncements();
    await watch();
    await watch();
    assert.deepEqual(await events(), ["gateway.lost a", "gateway.recovered a"]);
    await age("a", "25 hours");
    await watch();
    assert.deepEqual(
      (await list()).map(({ id }) => id),
      ["b"],
    );
  });

  it("are announced when they lag for a minute, and are well only when they do so no more", async () => {
    const { db } = control.database;
    const policies = (digest: string | null) =>
      ({ source: "directory", set: "main", version: "v1", digest }) as const;
    const watch = () => watchFleet(control.context);
    await report({ id: "a", policies: policies(null) });
    assert.equal((await watch()).lagging, 1);
    assert.deepEqual(await events(), [], "it may be loading");
    await age("a", "1 minute");
    await watch();
    await report({ id: "a", policies: policies(null) });
    await watch();
    assert.deepEqual(await events(), ["gateway.lost a"], "it is back, and not well yet");
    await db("gateways").update({ digest_since: db.raw("now() - interval '61 s'") });
    await ageAnnouncements();
    await Promise.all([watch(), watch()]);
    assert.deepEqual(await events(), ["gateway.lost a", "gateway.lagging a"]);
    await report({ id: "a", policies: policies(DIGEST) });
    await ageAnnouncements();
    await watch();
    assert.deepEqual((await events()).at(-1), "gateway.recovered a");
    assert.equal((await events()).length, 3);
  });

  it("are announced once a minute at most, whatever they report, and then with what is still true", async () => {
    const policies = (digest: string) =>
      ({ source: "control_plane", set: "never published", version: "v1", digest }) as const;
    const watch = () => watchFleet(control.context);
    const diverge = async () => {
      await report({ id: "a", policies: policies(DIGEST) });
      assert.equal((await watch()).diverged, 1);
    };
    const recover = async () => {
      await report({ id: "a" });
      assert.equal((await watch()).alive, 1);
    };
    for (let round = 0; round < 3; round += 1) {
      await diverge();
      await report({ id: "a", leaving: true });
    }
    assert.deepEqual(await events(), [], "one that has just come is not announced as diverged");
    await diverge();
    await ageAnnouncements();
    for (let round = 0; round < 3; round += 1) {
      await diverge();
      await recover();
    }
    assert.deepEqual(await events(), ["gateway.diverged a"]);
    await ageAnnouncements();
    await watch();
    assert.deepEqual(await events(), ["gateway.diverged a", "gateway.recovered a"]);
    for (let round = 0; round < 3; round += 1) {
      await diverge();
      await recover();
    }
    await ageAnnouncements();
    await watch();
    assert.equal((await events()).length, 2, "it is as it was announced");
  });

  it("of one key cause a bounded number of events, whatever they report, register and forget", async () => {
    const { db } = control.database;
    const watch = () => watchFleet(control.context);
    const lose = async (total: number) => {
      await db("gateways").where({ sender: GATEWAY_KEY.id }).delete();
      await report({ id: "many-1" });
      await addGateways(total);
      await db("gateways")
        .where({ sender: GATEWAY_KEY.id })
        .update({ seen_at: db.raw("now() - interval '16 s'") });
    };
    await lose(500);
    assert.equal((await Promise.all([watch(), watch(), watch()]))[0].lost, 500);
    for (let round = 0; round < 3; round += 1) {
      await lose(500);
      await watch();
    }
    const rows = await db("events").orderBy(["timestamp", "id"]).pluck<{ count?: number }[]>("data");
    assert.equal(rows.length, MOST_ANNOUNCED);
    assert.equal(
      rows.reduce((sum, { count = 1 }) => sum + count, 0),
      500,
      "each is told of, alone or with others",
    );
    assert.equal(rows.filter(({ count }) => count !== undefined).length, 1);
    assert.equal((await list("?status=lost&limit=1")).length, 1, "the list is right at once");
    const other = { ...GATEWAY_KEY, id: "key_other" };
    await report({ id: "theirs" }, other);
    await age("theirs", "1 minute");
    await watch();
    assert.ok((await events()).includes("gateway.lost theirs"), "gateways of another key are announced");
    await db("events").delete();
    await db("gateway_announcements").update({ opened_at: db.raw("now() - interval '61 s'") });
    await Promise.all([watch(), watch()]);
    assert.equal((await events()).length, MOST_ANNOUNCED, "what is still true is announced then");
    await watch();
    assert.equal((await events()).length, MOST_ANNOUNCED);
  });

  it("are refused what is not valid, and more than a key may have", async () => {
    const wrong: readonly Partial<Record<keyof Registration, unknown>>[] = [
      { id: "" },
      { id: "a b" },
      { id: "x".repeat(201) },
      { kind: "proxy" },
      { interval_ms: 10 },
      { started_at: "yesterday" },
      { policies: { source: "directory", set: "main", version: null, digest: "xyz" } },
      { workers: { expected: 2, ready: -1 } },
    ];
    for (const changes of wrong) {
      const { status } = await report(changes as Partial<Registration>);
      assert.equal(status, 422, JSON.stringify(changes));
    }
    assert.equal((await report({}, { ...FULL_KEY, scope: "read_only" })).status, 403);
    assert.equal((await control.request("GET", "/gateways", { as: keyOf("cus_1") })).status, 403);
    await report({ id: "first" });
    await addGateways(MOST_OF_SENDER);
    const { status, body } = await report({ id: "one-more" });
    assert.deepEqual([status, body.error.code], [409, "CONFLICT"]);
    assert.equal((await report({ id: "first" })).status, 200, "those that are there go on");
    const { db } = control.database;
    await db("gateways").where("id", "many-2").delete();
    // the last one that there is room for has not been committed yet
    const other = await db.transaction(async (trx) => {
      await register(trx, { sender: GATEWAY_KEY.id, name: "" }, reportOf({ id: "late-0" }));
      const waiting = report({ id: "late-1" });
      await Promise.race([waiting, sleep(100)]);
      return { waiting };
    });
    assert.equal((await other.waiting).status, 409);
  });
});

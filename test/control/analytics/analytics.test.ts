import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { analyticsRoutes } from "../../../src/control/analytics/routes.ts";
import type { Dashboard } from "../../../src/control/analytics/schemas.ts";
import type { EventType } from "../../../src/control/platform/events.ts";
import { recordsRoutes } from "../../../src/control/analytics/records/routes.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../support/control.ts";
import { decisionRecord, GATEWAY_KEY, takeRecords } from "../support/gateway-records.ts";

const NOW = Date.parse("2026-03-10T12:30:30Z");
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

describe("analytics", () => {
  let control: RunningControl;
  let now = NOW;

  beforeEach(async () => {
    now = NOW;
    control = await startControl({
      clock: () => now,
      routes: (context) => [...recordsRoutes(context), ...analyticsRoutes(context)],
    });
  });
  afterEach(() => control.close());

  const at = (time: number) => new Date(time).toISOString();

  const take = (...records: object[]) => takeRecords(control, records);

  async function emit(type: EventType, customerId: string, userId?: string): Promise<void> {
    const origin = { actor: FULL_KEY, requestId: "r", clientIp: "192.0.2.1" };
    await control.context.units(origin, (unit) => {
      unit.emit({ type, customerId, ...(userId !== undefined && { userId }), data: {} });
      return Promise.resolve();
    });
  }

  const decided = (ago: number, changes: object = {}) =>
    decisionRecord({ timestamp: at(NOW - ago), ...changes });
  const denied = { decision: "DENY", reason: "CONDITION_FALSE" } as const;

  async function dashboard(query: Record<string, string> = {}, as: Actor = FULL_KEY): Promise<Dashboard> {
    const path = `/analytics/dashboard?${new URLSearchParams(query).toString()}`;
    const answer = await control.request("GET", path, { as });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as Dashboard;
  }

  describe("dashboard", () => {
    it("of nothing is zeros", async () => {
      const { over_time: series, ...rest } = await dashboard();
      assert.deepEqual(rest, {
        from: "2026-03-09T12:00:00.000Z",
        to: "2026-03-10T13:00:00.000Z",
        interval: "hour",
        customer_id: null,
        requests: { total: 0, allowed: 0, denied: 0 },
        by_reason: [],
        by_resource: { top: [], other: { requests: 0, denied: 0 } },
        by_customer: { top: [], other: { requests: 0, denied: 0 } },
        sign_ins: { succeeded: 0, failed: 0, signed_out: 0 },
        policy_violations: 0,
        users: { active: 0, last_day: 0, last_week: 0, last_month: 0 },
        sessions: { active: 0 },
        latency: { measured: 0, p50_ms: null, p95_ms: null, p99_ms: null },
        caches: [],
        audit: { decided: 0, recorded: 0, dropped: 0 },
      });
      assert.equal(series.length, 25);
      assert.deepEqual(series[0], {
        start: "2026-03-09T12:00:00.000Z",
        requests: 0,
        allowed: 0,
        denied: 0,
        sign_ins: 0,
        failures: 0,
      });
    });

    it("counts what happened, whole and by reason, resource, customer and time", async () => {
      await take(
        decided(0),
        decided(MINUTE, { user_id: "usr_2", ...denied }),
        decided(2 * HOUR, { customer_id: "cus_2", rule_resource: "POST /b", ...denied }),
        decided(2 * HOUR, {
          customer_id: undefined,
          user_id: "",
          rule: null,
          rule_resource: undefined,
          ...denied,
          reason: "NO_MATCHING_RULE",
        }),
        decided(2 * HOUR, {
          customer_id: "cus_3",
          rule: "policies[1]",
          rule_resource: undefined,
          rule_name: "the rule",
        }),
        decided(2 * HOUR, { customer_id: "cus_4", rule_resource: undefined }),
        decided(3 * DAY, { customer_id: "cus_1" }),
      );
      await emit("user.authenticated", "cus_1", "usr_1");
      await emit("user.authentication_failed", "cus_1");
      await emit("user.logged_out", "cus_1", "usr_1");
      await emit("policy.violated", "cus_2", "usr_3");
      const found = await dashboard({ top: "2" });
      assert.deepEqual(found.requests, { total: 6, allowed: 3, denied: 3 });
      assert.deepEqual(found.by_reason, [
        { decision: "ALLOW", reason: "CONDITION_TRUE", requests: 3 },
        { decision: "DENY", reason: "CONDITION_FALSE", requests: 2 },
        { decision: "DENY", reason: "NO_MATCHING_RULE", requests: 1 },
      ]);
      assert.deepEqual(found.by_resource, {
        top: [
          { resource: "GET /api/customers/{customer_id}", requests: 2, denied: 1 },
          { resource: null, requests: 1, denied: 1 },
        ],
        other: { requests: 3, denied: 1 },
      });
      const { by_resource: all } = await dashboard();
      assert.deepEqual(
        all.top.map(({ resource }) => resource),
        ["GET /api/customers/{customer_id}", null, "POST /b", "default policies[0]", "default policies[1]"],
      );
      assert.deepEqual(found.by_customer, {
        top: [
          { customer_id: "cus_1", requests: 2, denied: 1 },
          { customer_id: null, requests: 1, denied: 1 },
        ],
        other: { requests: 3, denied: 1 },
      });
      assert.deepEqual(
        found.over_time.filter(({ requests }) => requests > 0),
        [
          { start: "2026-03-10T10:00:00.000Z", requests: 4, allowed: 2, denied: 2, sign_ins: 0, failures: 0 },
          { start: "2026-03-10T12:00:00.000Z", requests: 2, allowed: 1, denied: 1, sign_ins: 1, failures: 1 },
        ],
      );
      assert.deepEqual(found.sign_ins, { succeeded: 1, failed: 1, signed_out: 1 });
      // the one that was announced, and the two denials of users by a policy set
      assert.equal(found.policy_violations, 3);
      assert.equal(found.latency?.measured, 6);
      assert.deepEqual(found.users, { active: 5, last_day: 5, last_week: 5, last_month: 5 });
    });

    it("of one customer is that customer's", async () => {
      await take(decided(0), decided(MINUTE, denied), decided(0, { customer_id: "cus_2", user_id: "usr_9" }));
      await emit("user.authenticated", "cus_1", "usr_1");
      await emit("user.authenticated", "cus_2", "usr_9");
      const byKey = await dashboard({}, { ...FULL_KEY, customerId: "cus_1" });
      assert.deepEqual(byKey, await dashboard({ customer_id: "cus_1" }));
      const { requests, by_customer, latency, caches, audit, sign_ins, users, by_resource, customer_id } =
        byKey;
      assert.equal(customer_id, "cus_1");
      assert.deepEqual(requests, { total: 2, allowed: 1, denied: 1 });
      assert.deepEqual([by_customer, latency, caches, audit], [null, null, null, null]);
      assert.equal(sign_ins.succeeded, 1);
      assert.equal(users.active, 1);
      assert.deepEqual(by_resource.top, [
        { resource: "GET /api/customers/{customer_id}", requests: 2, denied: 1 },
      ]);
      const byDay = await dashboard({ customer_id: "cus_1", interval: "day", from: at(NOW - 3 * DAY) });
      assert.deepEqual(
        byDay.over_time.map(({ requests, sign_ins }) => [requests, sign_ins]),
        [
          [0, 0],
          [0, 0],
          [0, 0],
          [2, 1],
        ],
      );
    });

    it("chooses its interval by the range, and says what it has counted", async () => {
      const cases: [Record<string, string>, string, string, string][] = [
        [{ from: at(NOW - HOUR) }, "minute", "2026-03-10T11:30:00.000Z", "2026-03-10T12:31:00.000Z"],
        [{ from: at(NOW - 7 * HOUR) }, "hour", "2026-03-10T05:00:00.000Z", "2026-03-10T13:00:00.000Z"],
        [{ from: at(NOW - 30 * DAY) }, "day", "2026-02-08T00:00:00.000Z", "2026-03-11T00:00:00.000Z"],
        [
          { from: at(NOW - 20 * DAY), to: at(NOW - 20 * DAY + HOUR) },
          "hour",
          "2026-02-18T12:00:00.000Z",
          "2026-02-18T14:00:00.000Z",
        ],
        [
          { from: at(NOW - 200 * DAY), to: at(NOW - 200 * DAY + HOUR) },
          "day",
          "2025-08-22T00:00:00.000Z",
          "2025-08-23T00:00:00.000Z",
        ],
        [
          { from: at(NOW - HOUR), interval: "day" },
          "day",
          "2026-03-10T00:00:00.000Z",
          "2026-03-11T00:00:00.000Z",
        ],
        [
          { from: at(NOW - HOUR), customer_id: "c" },
          "hour",
          "2026-03-10T11:00:00.000Z",
          "2026-03-10T13:00:00.000Z",
        ],
      ];
      for (const [query, interval, from, to] of cases) {
        const found = await dashboard(query);
        assert.deepEqual([found.interval, found.from, found.to], [interval, from, to], JSON.stringify(query));
      }
      const bad = [
        "interval=week",
        "top=0",
        "top=101",
        "from=2026-03-10T12:00:00Z&to=2026-03-10T12:00:00Z",
        "from=2026-03-10&to=2026-03-11",
        "from=2020-01-01T00:00:00Z",
        `from=${at(NOW - 9 * DAY)}&interval=minute`,
        `from=${at(NOW - 70 * DAY)}&interval=hour`,
        "customer_id=c&interval=minute",
        "limit=5",
      ];
      for (const query of bad) {
        const answer = await control.request("GET", `/analytics/dashboard?${query}`);
        assert.deepEqual([answer.status, answer.body.error?.code], [400, "INVALID_PARAMETER"], query);
      }
    });

    it("gives percentiles that are never too low and at most 9 % too high", async () => {
      await take(
        ...Array.from({ length: 100 }, (_, index) =>
          decided(index, { evaluation_time_us: (index + 1) * 100 }),
        ),
      );
      const { latency } = await dashboard();
      for (const [name, exact] of [
        ["p50_ms", 5],
        ["p95_ms", 9.5],
        ["p99_ms", 9.9],
      ] as const) {
        const value = latency?.[name] ?? 0;
        assert.ok(value >= exact && value <= exact * 1.1, `${name}: ${value}`);
      }
    });

    it("tells rates of caches and what audits lost", async () => {
      const tell = (sequence: number, hits: number, misses: number, evictions: number) =>
        control.request("POST", "/gateway/statistics", {
          body: {
            instance: "gw",
            sequence,
            from: at(NOW - MINUTE),
            to: at(NOW),
            caches: [
              { name: "decisions", hits, misses, evictions },
              { name: "unused", hits: 0, misses: 0, evictions: 0 },
            ],
            audit: { decided: 10, recorded: 9, dropped: 1 },
          },
          as: GATEWAY_KEY,
        });
      await tell(1, 60, 30, 3);
      await tell(2, 30, 0, 0);
      const { caches, audit } = await dashboard();
      assert.deepEqual(caches, [
        { name: "decisions", hits: 90, misses: 30, evictions: 3, hit_rate: 0.75, eviction_rate: 0.1 },
        { name: "unused", hits: 0, misses: 0, evictions: 0, hit_rate: null, eviction_rate: null },
      ]);
      assert.deepEqual(audit, { decided: 20, recorded: 18, dropped: 2 });
    });

    it("counts active users of a range that is over by whole days", async () => {
      await take(
        decided(3 * DAY, { user_id: "usr_a" }),
        decided(0, { user_id: "usr_a" }),
        decided(3 * DAY, { user_id: "usr_b" }),
        decided(0, { user_id: "usr_c" }),
      );
      const active = async (from: number, to: number) =>
        (await dashboard({ from: at(NOW - from), to: at(NOW - to) })).users.active;
      assert.equal(await active(4 * DAY, 2 * DAY), 2);
      assert.equal(await active(4 * DAY, 0), 3);
      assert.equal(await active(2 * DAY, DAY), 0);
      const { users } = await dashboard();
      assert.deepEqual(users, { active: 2, last_day: 2, last_week: 3, last_month: 3 });
    });

    it("counts sessions that go on", async () => {
      const { db } = control.database;
      const time = new Date(NOW);
      await db("customers").insert({
        id: "cus_1",
        name: "c",
        name_key: "c",
        status: "active",
        allowed_return_urls: [],
        metadata: {},
        created_at: time,
        updated_at: time,
      });
      const user = {
        id: "usr_1",
        customer_id: "cus_1",
        subject: "s",
        status: "active",
        created_at: time,
        updated_at: time,
      };
      await db("users").insert({ ...user, profile: {}, attributes: {} });
      const session = (id: string, changes: object) => ({
        id,
        customer_id: "cus_1",
        user_id: "usr_1",
        client_id: "key_1",
        scope: "",
        amr: "[]",
        ip_address: "",
        user_agent: "",
        created_at: time,
        last_used_at: time,
        expires_at: new Date(NOW + HOUR),
        alive_until: new Date(NOW + HOUR),
        ...changes,
      });
      await db("sessions").insert([
        session("ses_1", {}),
        session("ses_2", { alive_until: time }),
        session("ses_3", { ended_at: time, end_reason: "logout" }),
      ]);
      assert.equal((await dashboard()).sessions.active, 1);
      assert.equal((await dashboard({ customer_id: "cus_2" })).sessions.active, 0);
    });

    it("asks for the permission to read", async () => {
      for (const path of ["/analytics/dashboard", "/analytics/events", "/analytics/users"]) {
        const answer = await control.request("GET", path, { as: { ...FULL_KEY, scope: "gateway" } });
        assert.equal(answer.status, 403);
      }
    });
  });
});

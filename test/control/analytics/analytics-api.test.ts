import assert from "node:assert/strict";
import type { AuditRecord } from "../../../src/protocol/record.ts";
import { decisionRecord } from "../support/gateway-records.ts";
import { startSpecified, type Specified } from "../support/specified.ts";

describe("the analytics API, specification 2.8, 3 and 4.4", () => {
  let api: Specified;
  let customer: string;
  before(async () => {
    api = await startSpecified();
    customer = await api.customer();
  });
  after(() => api.close());

  describe("2.8 gateway audit record, taken in and read back", () => {
    const record = decisionRecord({ request_id: "req-2.8", timestamp: new Date().toISOString() });
    let read: Readonly<Record<string, unknown>>;
    before(async () => {
      const taken = await api.data("POST", "/gateway/records", { records: [record] });
      assert.deepEqual(taken, { accepted: 1, duplicates: 0, rejected: [] });
      const found = await api.data("GET", "/audit/logs?request_id=req-2.8");
      assert.equal(found.length, 1);
      read = found[0];
    });
    const FIELDS = [
      "timestamp",
      "request_id",
      "user_id",
      "resource",
      "action",
      "decision",
      "policy_set",
      "evaluation_time_ms",
      "client_ip",
    ] as const satisfies (keyof AuditRecord)[];
    for (const field of FIELDS)
      it(field, () => {
        assert.equal(read[field], record[field]);
      });
  });

  describe("3 states and transitions", () => {
    it("decision values: ALLOW, DENY", async () => {
      const at = { timestamp: new Date().toISOString() };
      const [allowed, denied, other] = ["ALLOW", "DENY", "MAYBE"].map((decision) =>
        decisionRecord({ ...at, decision, request_id: "req-3" }),
      );
      const taken = await api.data("POST", "/gateway/records", { records: [allowed, denied, other] });
      assert.deepEqual([taken.accepted, taken.rejected.length], [2, 1]);
      for (const decision of ["ALLOW", "DENY"]) {
        const found = await api.data("GET", `/audit/logs?request_id=req-3&decision=${decision}`);
        assert.deepEqual(
          found.map((one: { decision: string }) => one.decision),
          [decision],
        );
      }
    });
  });

  describe("4.4 analytics API", () => {
    before(async () => {
      const parameters = await api.arrive(customer);
      await api.data("POST", "/auth/token", { code: parameters.get("code") });
    });
    it("GET /analytics/dashboard: metrics of the dashboard", async () => {
      const { sign_ins, sessions } = await api.data("GET", `/analytics/dashboard?customer_id=${customer}`);
      assert.ok(sign_ins.succeeded >= 1);
      assert.ok(sessions.active >= 1);
    });
    it("GET /analytics/events: the history of events; type, limit", async () => {
      const events = await api.data("GET", "/analytics/events?type=authentication&limit=1");
      assert.equal(events.length, 1);
      assert.match(events[0].type, /^user\./);
      const all = await api.data("GET", "/analytics/events?limit=100");
      assert.ok(all.some(({ type }: { type: string }) => type === "customer.created"));
    });
    it("GET /analytics/users: user analytics", async () => {
      const users = await api.data("GET", `/analytics/users?customer_id=${customer}`);
      assert.equal(users[0].email, "alice@example.com");
      assert.ok(users[0].sign_ins >= 1);
    });
    it("GET /audit/logs: the audit trail", async () => {
      const changes = await api.data(
        "GET",
        `/audit/logs?kind=change&customer_id=${customer}&action=customer.created`,
      );
      assert.equal(changes.length, 1);
      assert.equal(changes[0].actor.id, api.keyId);
    });
  });
});

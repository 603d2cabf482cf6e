import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { FULL_KEY } from "../../../support/control.ts";
import { makeCustomer, makeKey } from "../../../support/guarded-control.ts";
import { decisions, NOW, useAuditTrail, type Entry } from "../../support/audit-trail.ts";
import { decisionRecord, GATEWAY_KEY, outcomeRecord } from "../../support/gateway-records.ts";

/** What the trail adds to each record: which key sent it, and when. */
const TAKEN_IN = { ingested_by: GATEWAY_KEY.id, received_at: new Date(NOW).toISOString() };

describe("audit trail", () => {
  const { context, control, idsOf, list, request, take } = useAuditTrail();

  it("answers decisions as they were written, newest first", async () => {
    const [first, second] = decisions(2, () => ({ trace_id: "t", accepted_ambiguities: ["x"] }));
    await take([first!, second!]);
    const { entries, pagination, exact } = await list();
    assert.deepEqual(entries, [
      { ...second, kind: "decision", ...TAKEN_IN },
      { ...first, kind: "decision", ...TAKEN_IN },
    ]);
    assert.deepEqual(pagination, { current_page: 1, total_pages: 1, total_items: 2, page_size: 20 });
    assert.equal(exact, "true");
  });

  it("answers outcomes where they are asked for, as they were written", async () => {
    const [decided] = decisions(1);
    const outcome = outcomeRecord({
      ...{ decision_id: decided!.decision_id, result: "failed", response_code: 503, response_flags: "UF" },
      ...{ upstream: "http://127.0.0.1:3000", upstream_status: 200, upstream_ms: 9 },
    });
    await take([decided!, outcome]);
    assert.equal((await list()).entries.length, 1);
    const { entries } = await list({ kind: "outcome" });
    assert.deepEqual(entries, [
      { ...outcome, kind: "outcome", customer_id: "cus_1", user_id: "usr_1", ...TAKEN_IN },
    ]);
    assert.deepEqual(
      (await list({ kind: "outcome,decision", decision_id: decided!.decision_id })).entries.map(
        ({ kind }) => kind,
      ),
      ["outcome", "decision"],
    );
  });

  it("knows whose an outcome is that names its request alone, where that is one customer's", async () => {
    const [decided, one, other] = decisions(3, (index) => ({
      request_id: index === 0 ? "req_a" : "req_b",
      customer_id: `cus_${index}`,
    }));
    const of = (request_id: string) =>
      outcomeRecord({ decision_id: "", request_id, result: "not_forwarded" });
    await take([decided!, one!, other!, of("req_a"), of("req_b"), of("req_c")]);
    const { entries } = await list({ kind: "outcome", request_id: "req_a" });
    assert.deepEqual(entries, [
      { ...of("req_a"), kind: "outcome", customer_id: "cus_0", user_id: "usr_1", ...TAKEN_IN },
    ]);
    const owners = (await list({ kind: "outcome" })).entries.map(({ customer_id: id }) => id);
    assert.deepEqual(
      owners.filter((id) => id !== undefined),
      ["cus_0"],
    );
  });

  it("holds changes of the control plane: who, what, before and after", async () => {
    const origin = { actor: FULL_KEY, requestId: "req_1", clientIp: "192.0.2.1" };
    await context().units(origin, (unit) => {
      unit.record({
        action: "customer.updated",
        target: { type: "customer", id: "cus_9" },
        customerId: "cus_9",
        before: { name: "a" },
        after: { name: "b" },
      });
      return Promise.resolve();
    });
    await take(decisions(1));
    const { entries, pagination } = await list({ kind: "change" });
    const [{ id, ...entry }] = entries as [Entry];
    assert.match(String(id), /^chg_/);
    assert.deepEqual(entry, {
      kind: "change",
      timestamp: new Date(NOW).toISOString(),
      customer_id: "cus_9",
      user_id: FULL_KEY.id,
      request_id: "req_1",
      action: "customer.updated",
      actor: { kind: "api_key", id: FULL_KEY.id, name: "full" },
      target: { type: "customer", id: "cus_9" },
      before: { name: "a" },
      after: { name: "b" },
      client_ip: "192.0.2.1",
    });
    assert.equal(pagination["total_items"], 1);
    assert.equal((await list()).pagination["total_items"], 2);
    const filters = [
      { resource: "customer/cus_9" },
      { resource: "customer/*" },
      { action: "customer.updated" },
      { user_id: FULL_KEY.id },
      { customer_id: "cus_9" },
      { request_id: "req_1" },
    ];
    for (const filter of filters)
      assert.deepEqual(
        (await list(filter)).entries.map((entry) => entry["id"]),
        [id],
        JSON.stringify(filter),
      );
  });

  it("tells a customer's key what others did to the customer, and not who they are or where", async () => {
    const customerId = await makeCustomer(control());
    const { id: own } = (await makeKey(control(), { customerId })).row;
    const limited = { ...FULL_KEY, id: own, customerId };
    const actors: Actor[] = [
      { ...FULL_KEY, name: "Olga's key" },
      { kind: "system", id: "cli", name: "Olga's shell" },
      { kind: "anonymous", id: "ip:192.0.2.1" },
      limited,
    ];
    for (const actor of actors)
      await context().units({ actor, requestId: "req_1", clientIp: "192.0.2.1" }, (unit) => {
        unit.record({ action: "customer.updated", target: { type: "customer", id: customerId }, customerId });
        return Promise.resolve();
      });
    const seen = (entries: readonly Entry[]) =>
      entries
        .map(({ actor, client_ip: address }) => {
          const { kind, id, name = "" } = actor as Record<string, string>;
          return [kind, id, name, address].join("|");
        })
        .sort();
    const query = { action: "customer.updated" };
    const lines = await request("?action=customer.updated&format=ndjson", { as: limited });
    for (const entries of [
      (await list(query, limited)).entries,
      lines.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Entry),
    ])
      assert.deepEqual(seen(entries), [
        "anonymous|ip:192.0.2.1||192.0.2.1",
        ...[`api_key|${FULL_KEY.id}||`, `api_key|${own}|full|192.0.2.1`, "system|cli||"],
      ]);
    assert.deepEqual(seen((await list(query)).entries), [
      "anonymous|ip:192.0.2.1||192.0.2.1",
      ...[`api_key|${FULL_KEY.id}|Olga's key|192.0.2.1`, `api_key|${own}|full|192.0.2.1`],
      "system|cli|Olga's shell|192.0.2.1",
    ]);
  });

  it("filters", async () => {
    await take([
      ...decisions(4),
      decisionRecord({
        decision_id: "dec_odd",
        timestamp: "2026-03-01T10:00:00.000Z",
        user_id: "usr_odd",
        customer_id: "cus_odd",
        decision: "DENY",
        reason: "CONDITION_FALSE",
        resource: "/odd/100%_a*",
        action: "PATCH",
        rule: "policies[9]",
        policy_set: "odd@v3",
        request_id: "req-odd",
      }),
    ]);
    const only = [
      { user_id: "usr_odd" },
      { customer_id: "cus_odd" },
      { decision: "DENY" },
      { reason: "CONDITION_FALSE" },
      { resource: "/odd/100%_a*" },
      { resource: "/odd/*" },
      { resource: "/odd/100%_*" },
      { action: "PATCH" },
      { rule: "policies[9]" },
      { policy_set: "odd@v3" },
      { policy_set: "odd" },
      { request_id: "req-odd" },
      { decision_id: "dec_odd" },
      { to: "2026-03-01T10:00:00.001Z" },
      { from: "2026-03-01T09:00:00+00:00", to: "2026-03-01T11:00:00.5Z" },
      { user_id: "usr_odd", customer_id: "cus_odd", decision: "DENY", action: "PATCH" },
      { customer_id: "cus_odd", from: "2026-03-01T10:00:00Z", to: "2026-03-01T10:00:01Z" },
    ];
    for (const filter of only) {
      const { entries, pagination } = await list(filter);
      assert.deepEqual(
        entries.map(({ decision_id: id }) => id),
        ["dec_odd"],
        JSON.stringify(filter),
      );
      assert.equal(pagination["total_items"], 1, JSON.stringify(filter));
    }
    const none = [
      { user_id: "usr_odd", customer_id: "cus_1" },
      { resource: "/odd/100" },
      { resource: "/odd/100_*" },
      { policy_set: "od" },
      { to: "2026-03-01T10:00:00Z" },
      { user_id: "' or true --" },
      { kind: "change" },
    ];
    for (const filter of none) {
      const { entries, pagination } = await list(filter);
      assert.deepEqual(
        [entries, pagination["total_items"], pagination["total_pages"]],
        [[], 0, 0],
        JSON.stringify(filter),
      );
    }
  });

  it("refuses parameters that are none", async () => {
    const bad = [
      "kind=other",
      "kind=",
      "from=yesterday",
      "decision=allow",
      "cursor=x",
      "cursor=W10",
      `cursor=${Buffer.from('[1,"a\\u0000","decision"]').toString("base64url")}`,
      `cursor=${Buffer.from('[1,"a"]').toString("base64url")}`,
      `cursor=${Buffer.from('[-8640000000000000,"a","decision"]').toString("base64url")}`,
      `cursor=${Buffer.from('[1e99,"a","decision"]').toString("base64url")}`,
      "format=xml",
      "sort=user_id",
      "page=101&limit=100",
      "page=501",
      "unknown=1",
      "user_id=",
    ];
    for (const query of bad) {
      const answer = await request(`?${query}`);
      assert.deepEqual([answer.status, answer.body.error?.code], [400, "INVALID_PARAMETER"], query);
    }
  });

  it("shows a key of one customer nothing of others", async () => {
    await take([
      ...decisions(4, (index) => ({ customer_id: index % 2 ? "cus_a" : "cus_b" })),
      decisionRecord({ customer_id: undefined }),
      outcomeRecord({ decision_id: "dec_0001" }),
      outcomeRecord({ decision_id: "dec_0002" }),
      outcomeRecord({ decision_id: "dec_elsewhere" }),
    ]);
    const key = { ...FULL_KEY, scope: "read_only", customerId: "cus_a" } as const;
    for (const query of [{}, { customer_id: "cus_a" }]) {
      const { entries, pagination } = await list(query, key);
      assert.deepEqual(
        [entries.map(({ decision_id: id }) => id), pagination["total_items"]],
        [["dec_0003", "dec_0001"], 2],
      );
    }
    assert.deepEqual(await idsOf({ kind: "outcome" }, key), ["dec_0001"]);
    const lines = await request("?format=ndjson&kind=decision,outcome", {
      as: key,
    });
    assert.equal(lines.text.trim().split("\n").length, 3);
    for (const customer of ["cus_b", "cus_unknown"]) {
      const answer = await request(`?customer_id=${customer}`, { as: key });
      assert.deepEqual([answer.status, answer.body.error.code], [404, "INVALID_CUSTOMER"]);
    }
    // a cursor leads no further than the key does
    const { next } = await list({ limit: "1", customer_id: "cus_b" });
    assert.ok(next);
    assert.deepEqual(await idsOf({ cursor: next }, key), ["dec_0001"]);
  });

  it("asks for the permission to read", async () => {
    for (const scope of ["authentication", "gateway"] as const) {
      const answer = await request("", { as: { ...FULL_KEY, scope } });
      assert.deepEqual([answer.status, answer.body.error.code], [403, "INSUFFICIENT_SCOPE"]);
    }
  });
});

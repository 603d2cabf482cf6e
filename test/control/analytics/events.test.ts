import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { analyticsRoutes } from "../../../src/control/analytics/routes.ts";
import { EVENT_TYPES, type EventType, type NewEvent } from "../../../src/control/platform/events.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../support/control.ts";

const START = Date.parse("2026-03-01T12:00:00Z");
const ORIGIN = { actor: FULL_KEY, requestId: "r", clientIp: "192.0.2.1" };

describe("history of events", () => {
  let control: RunningControl;
  let now = START;

  before(async () => {
    control = await startControl({ clock: () => now, routes: analyticsRoutes });
  });
  after(() => control.close());
  beforeEach(async () => {
    now = START;
    for (const table of ["events", "rollup_events", "rollup_customer_events"])
      await control.database.db(table).delete();
  });

  async function emit(...events: NewEvent[]): Promise<void> {
    await control.context.units(ORIGIN, (unit) => {
      for (const event of events) unit.emit(event);
      return Promise.resolve();
    });
    now += 1000;
  }

  async function list(query: Record<string, string> = {}, as: Actor = FULL_KEY) {
    const path = `/analytics/events?${new URLSearchParams(query).toString()}`;
    const answer = await control.request("GET", path, { as });
    assert.equal(answer.status, 200, answer.text);
    return {
      events: answer.body.data as { id: string; type: EventType; timestamp: string }[],
      pagination: answer.body.pagination as Record<string, number>,
      next: answer.headers.get("x-next-cursor"),
    };
  }

  const typesOf = async (query: Record<string, string>, as?: Actor) => {
    const { events, pagination } = await list(query, as);
    assert.equal(pagination["total_items"], events.length);
    return events.map(({ type }) => type).sort();
  };

  it("holds what was announced, newest first, with its data", async () => {
    const user = { id: "usr_1", email: "a@example.com", customer_id: "cus_1" };
    const session = { id: "ses_1", ip_address: "192.0.2.9", user_agent: "Mozilla" };
    await emit({ type: "user.authenticated", customerId: "cus_1", userId: "usr_1", data: { user, session } });
    await emit({
      type: "api_key.created",
      data: { api_key: { id: "key_1", name: "n", scope: "read_only" } },
    });
    const { events, pagination } = await list();
    assert.deepEqual(pagination, { current_page: 1, total_pages: 1, total_items: 2, page_size: 20 });
    const [second, first] = events;
    assert.match(first!.id, /^evt_/);
    assert.deepEqual(first, {
      id: first!.id,
      type: "user.authenticated",
      timestamp: new Date(START).toISOString(),
      customer_id: "cus_1",
      user_id: "usr_1",
      data: { user, session },
    });
    assert.equal(second?.type, "api_key.created");
  });

  it("writes nothing of a change that fails", async () => {
    const failing = control.context.units(ORIGIN, (unit) => {
      unit.emit({ type: "customer.created", customerId: "cus_1", data: {} });
      return Promise.reject(new Error("no"));
    });
    await assert.rejects(failing, /no/);
    assert.deepEqual(await typesOf({}), []);
  });

  it("filters by type, by family of types, customer, user and time", async () => {
    for (const type of EVENT_TYPES) await emit({ type, customerId: "cus_1", userId: "usr_1", data: {} });
    await emit({ type: "user.authenticated", customerId: "cus_2", userId: "usr_2", data: {} });
    const ofUsers = ["user.authenticated", "user.authentication_failed", "user.deleted", "user.logged_out"];
    assert.deepEqual(await typesOf({ type: "authentication", customer_id: "cus_1" }), ofUsers);
    assert.equal((await typesOf({ type: "authentication" })).length, 5);
    for (const type of EVENT_TYPES) assert.deepEqual(await typesOf({ type, customer_id: "cus_1" }), [type]);
    assert.deepEqual(await typesOf({ type: "policy" }), ["policy.updated", "policy.violated"]);
    assert.deepEqual(await typesOf({ type: "customer" }), [
      "customer.created",
      "customer.suspended",
      "customer.updated",
    ]);
    assert.deepEqual(await typesOf({ type: "api_key" }), ["api_key.created", "api_key.revoked"]);
    assert.deepEqual(await typesOf({ type: "policy_set" }), [
      "policy_set.published",
      "policy_set.rollout_aborted",
      "policy_set.rollout_changed",
      "policy_set.rollout_promoted",
      "policy_set.rollout_started",
    ]);
    assert.deepEqual(await typesOf({ type: "session" }), ["session.revoked"]);
    assert.deepEqual(await typesOf({ user_id: "usr_2" }), ["user.authenticated"]);
    assert.deepEqual(await typesOf({ user_id: "usr_2", type: "session" }), []);
    assert.deepEqual(await typesOf({ to: new Date(START + 1).toISOString() }), ["user.authenticated"]);
    assert.deepEqual(
      await typesOf({ from: new Date(START + 1000).toISOString(), to: new Date(START + 1001).toISOString() }),
      ["user.authentication_failed"],
    );
    for (const query of ["type=", "type=nothing", "type=user", "status=active", "limit=101", "limit=0"]) {
      const answer = await control.request("GET", `/analytics/events?${query}`);
      assert.deepEqual([answer.status, answer.body.error.code], [400, "INVALID_PARAMETER"], query);
    }
  });

  it("pages by number and by cursor", async () => {
    // several of one time
    for (let part = 0; part < 5; part++)
      await emit(
        ...Array.from(
          { length: 5 },
          () => ({ type: "policy.violated", customerId: "cus_1", data: {} }) as const,
        ),
      );
    const whole = (await list({ limit: "100" })).events.map(({ id }) => id);
    const byPage = [
      ...(await list({ limit: "13" })).events,
      ...(await list({ limit: "13", page: "2" })).events,
    ];
    assert.deepEqual(
      byPage.map(({ id }) => id),
      whole,
    );
    const first = await list({ limit: "12" });
    const second = await list({ limit: "12", cursor: first.next ?? "" });
    const third = await list({ limit: "12", cursor: second.next ?? "" });
    assert.deepEqual(
      [...first.events, ...second.events, ...third.events].map(({ id }) => id),
      whole,
    );
    assert.equal(third.next, null);
  });

  it("shows a key of one customer that customer's alone", async () => {
    await emit({ type: "customer.created", customerId: "cus_1", data: {} });
    await emit({ type: "customer.created", customerId: "cus_2", data: {} });
    await emit({ type: "api_key.created", data: {} });
    const key = { ...FULL_KEY, customerId: "cus_1" };
    assert.deepEqual(await typesOf({}, key), ["customer.created"]);
    for (const path of ["events", "users", "dashboard"]) {
      const answer = await control.request("GET", `/analytics/${path}?customer_id=cus_2`, { as: key });
      assert.deepEqual([answer.status, answer.body.error.code], [404, "INVALID_CUSTOMER"]);
    }
  });
});

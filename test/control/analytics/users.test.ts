import assert from "node:assert/strict";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { analyticsRoutes } from "../../../src/control/analytics/routes.ts";
import type { EventType } from "../../../src/control/platform/events.ts";
import { recordsRoutes } from "../../../src/control/analytics/records/routes.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../support/control.ts";
import { decisionRecord, takeOldRecords, takeRecords } from "../support/gateway-records.ts";

const NOW = Date.parse("2026-03-10T12:30:30Z");
const [HOUR, DAY] = [3_600_000, 86_400_000];

describe("analytics: users", () => {
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

  async function users(query: Record<string, string> = {}, as: Actor = FULL_KEY) {
    const path = `/analytics/users?${new URLSearchParams(query).toString()}`;
    const answer = await control.request("GET", path, { as });
    assert.equal(answer.status, 200, answer.text);
    return {
      users: answer.body.data as { user_id: string; customer_id: string | null }[],
      pagination: answer.body.pagination as Record<string, number>,
    };
  }

  it("says what each did, over all and lately", async () => {
    await takeOldRecords(control, [decided(40 * DAY)]);
    await take(decided(DAY, denied), decided(0), decided(0, { user_id: "" }));
    await emit("user.authenticated", "cus_1", "usr_1");
    const { users: found, pagination } = await users();
    assert.deepEqual(found, [
      {
        user_id: "usr_1",
        customer_id: "cus_1",
        email: null,
        name: null,
        requests: 3,
        denied: 1,
        sign_ins: 1,
        first_seen_at: at(NOW - 40 * DAY),
        last_seen_at: at(NOW),
        recent: { requests: 2, denied: 1, sign_ins: 1 },
      },
    ]);
    assert.deepEqual(pagination, { current_page: 1, total_pages: 1, total_items: 1, page_size: 20 });
  });

  it("sorts, filters and pages", async () => {
    await take(
      ...Array.from({ length: 9 }, (_, index) =>
        Array.from({ length: index + 1 }, () =>
          decided((9 - index) * HOUR, {
            user_id: `usr_${index}`,
            customer_id: index % 2 ? "cus_1" : undefined,
          }),
        ),
      ).flat(),
    );
    const ids = async (query: Record<string, string>, as?: Actor) =>
      (await users(query, as)).users.map(({ user_id: id }) => Number(id.slice(4)));
    assert.deepEqual(await ids({}), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    assert.deepEqual(await ids({ sort: "requests", order: "asc", limit: "3", page: "2" }), [3, 4, 5]);
    assert.deepEqual(await ids({ sort: "user_id", order: "asc", customer_id: "cus_1" }), [1, 3, 5, 7]);
    assert.deepEqual(await ids({ seen_since: at(NOW - 3 * HOUR) }), [8, 7, 6]);
    assert.deepEqual(await ids({}, { ...FULL_KEY, customerId: "cus_1" }), [7, 5, 3, 1]);
    assert.equal((await users({ limit: "2" })).pagination["total_pages"], 5);
    for (const query of ["sort=email", "seen_since=now", "from=x"]) {
      const answer = await control.request("GET", `/analytics/users?${query}`);
      assert.equal(answer.status, 400, query);
    }
  });

  it("tells users of two customers apart, whatever they are called", async () => {
    await take(
      decided(0, { user_id: "same", customer_id: "cus_1" }),
      decided(0, { user_id: "same", customer_id: "cus_2" }),
      decided(0, { user_id: "same", customer_id: undefined }),
    );
    const { users: found } = await users();
    assert.deepEqual(new Set(found.map(({ customer_id: id }) => id)), new Set(["cus_1", "cus_2", null]));
  });
});

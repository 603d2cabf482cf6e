import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { decodeCursor, encodeCursor } from "../../../src/control/analytics/event-feed-cursor.ts";
import { renewFeedGeneration } from "../../../src/control/analytics/event-feed-generation.ts";
import { analyticsRoutes } from "../../../src/control/analytics/routes.ts";
import { writeEvents } from "../../../src/control/analytics/write-events.ts";
import type { EventType, NewEvent } from "../../../src/control/platform/events.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import { FULL_KEY, startControl, TEST_SETTINGS, type RunningControl } from "../../support/control.ts";
import { eventually } from "../../support/eventually.ts";

const START = Date.parse("2026-03-01T12:00:00Z");
const ORIGIN = { actor: FULL_KEY, requestId: "r", clientIp: "192.0.2.1" };
const DAY_MS = 86_400_000;

interface Part {
  readonly events: readonly { readonly id: string; readonly type: EventType; readonly customer_id: string }[];
  readonly cursor: string;
  readonly more: boolean;
  readonly waiting_since: string | null;
}

describe("the feed of events", () => {
  let control: RunningControl;
  let now = START;

  before(async () => {
    control = await startControl({ clock: () => now, routes: analyticsRoutes });
    // the database is a copy of another
    await renewFeedGeneration(control.database.db);
  });
  after(() => control.close());
  beforeEach(async () => {
    now = START;
    await control.database.db("events").delete();
  });

  async function read(query: Record<string, string> = {}, as = FULL_KEY): Promise<Part> {
    const answer = await control.request("GET", `/events?${new URLSearchParams(query).toString()}`, { as });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as Part;
  }
  async function refusal(query: Record<string, string>): Promise<unknown[]> {
    const { status, body } = await control.request("GET", `/events?${new URLSearchParams(query).toString()}`);
    return [status, body.error?.code];
  }
  const commit = (...events: NewEvent[]) =>
    control.context.units(ORIGIN, (unit) => {
      for (const event of events) unit.emit(event);
      return Promise.resolve();
    });
  /** The feed waits for every transaction on the server, those of other tests, too. */
  const settled = () =>
    eventually("nothing that waits", async () => (await read({ after: "latest" })).waiting_since === null);
  const emit = async (...events: NewEvent[]) => {
    await commit(...events);
    await settled();
  };
  const violation = (customerId = "cus_1") => ({ type: "policy.violated", customerId, data: {} }) as const;
  const typesOf = ({ events }: Part) => events.map(({ type }) => type);

  it("is read from the oldest on, or from now on", async () => {
    const empty = await read();
    assert.deepEqual([empty.events, empty.more], [[], false]);
    await emit({ type: "customer.created", customerId: "cus_1", data: {} });
    await emit({ type: "customer.suspended", customerId: "cus_1", data: {} });
    const { cursor: latest } = await read({ after: "latest" });
    const first = await read({ limit: "1" });
    assert.deepEqual([typesOf(first), first.more], [["customer.created"], true]);
    const second = await read({ after: first.cursor, limit: "1" });
    assert.deepEqual([typesOf(second), second.more], [["customer.suspended"], false]);
    for (const cursor of [latest, second.cursor])
      assert.deepEqual((await read({ after: cursor })).events, []);
    await emit({ type: "api_key.created", data: {} });
    for (const cursor of [latest, second.cursor])
      assert.deepEqual(typesOf(await read({ after: cursor })), ["api_key.created"]);
    assert.equal((await read({ after: empty.cursor })).events.length, 3);
  });

  it("shows an event when those before it are settled, whoever commits first", async () => {
    const { cursor } = await read({ after: "latest" });
    const slow = await control.database.db.transaction();
    const at = { timestamp: new Date(now), data: {} };
    try {
      await writeEvents(slow, [{ ...at, id: newId("event"), type: "customer.created", customerId: "cus_1" }]);
      await commit({ type: "api_key.created", data: {} });
      const { events, waiting_since: waiting } = await read({ after: cursor });
      assert.deepEqual([events, waiting], [[], new Date(now).toISOString()]);
      const other = await read({}, { ...FULL_KEY, customerId: "cus_9" });
      assert.equal(other.waiting_since, null);
    } finally {
      await slow.commit();
    }
    await settled();
    assert.deepEqual(typesOf(await read({ after: cursor })), ["customer.created", "api_key.created"]);
  });

  it("has each event once, however many write at a time", async () => {
    const written: string[] = [];
    const write = async () => {
      for (let n = 0; n < 20; n += 1) {
        const trx = await control.database.db.transaction();
        const id = newId("event");
        await writeEvents(trx, [
          { id, type: "policy.violated", timestamp: new Date(now), customerId: "cus_1", data: {} },
        ]);
        await delay(Math.random() * 10);
        if (n % 7 === 3) await trx.rollback();
        else {
          await trx.commit();
          written.push(id);
        }
      }
    };
    const seen: string[] = [];
    let after: string | undefined;
    const follow = async () => {
      const part = await read({ limit: "3", ...(after !== undefined && { after }) });
      seen.push(...part.events.map(({ id }) => id));
      after = part.cursor;
    };
    const writers = Promise.all(Array.from({ length: 4 }, write));
    const state = { over: false };
    void writers.finally(() => {
      state.over = true;
    });
    const isOver = () => state.over;
    while (!isOver()) await follow();
    await writers;
    await eventually("all of them", async () => {
      await follow();
      return seen.length >= written.length;
    });
    await follow();
    assert.deepEqual([...seen].sort(), [...written].sort());
  });

  it("filters by type, family and customer, and goes on over what a filter leaves out", async () => {
    const { db } = control.database;
    const many = Array.from({ length: 5_100 }, () => violation());
    await emit(...many);
    await emit({ type: "user.authenticated", customerId: "cus_2", data: {} });
    const key = { ...FULL_KEY, customerId: "cus_2" };
    assert.equal((await read({ limit: "500" })).events.length, 500);
    for (const [query, as] of [
      [{ type: "user.authenticated" }, FULL_KEY],
      [{ type: "authentication" }, FULL_KEY],
      [{ customer_id: "cus_2" }, FULL_KEY],
      [{}, key],
    ] as const) {
      const nothing = await read(query, as);
      assert.deepEqual([nothing.events, nothing.more], [[], true]);
      const rest = await read({ ...query, after: nothing.cursor }, as);
      assert.deepEqual([typesOf(rest), rest.more], [["user.authenticated"], false]);
    }
    const whole: string[] = [];
    for (let part = await read({ limit: "500" }); ; part = await read({ limit: "500", after: part.cursor })) {
      whole.push(...part.events.map(({ id }) => id));
      if (!part.more) break;
    }
    assert.equal(whole.length, 5_101);
    assert.equal(new Set(whole).size, 5_101);
    const other = await control.request("GET", "/events?customer_id=cus_1", { as: key });
    assert.deepEqual([other.status, other.body.error.code], [404, "INVALID_CUSTOMER"]);
    assert.equal((await db("events").count({ n: "*" }))[0]?.["n"], 5_101);
  });

  it("says when events may be missing", async () => {
    await emit(violation());
    const { cursor } = await read();
    const { box } = control.context;
    const at = decodeCursor(box, cursor);
    // an older database: what the cursor names is not there
    for (const lost of [
      { id: newId("event") },
      { xid: String(BigInt(at.xid) + 300n) },
      { generation: at.generation + 1 },
    ])
      assert.deepEqual(await refusal({ after: encodeCursor(box, { ...at, ...lost }) }), [
        410,
        "CURSOR_EXPIRED",
      ]);
    // its time is over, and nothing that came later has gone with it
    const kept = TEST_SETTINGS.retention.eventsMs;
    now = START + kept - DAY_MS;
    const { cursor: fresh } = await read({ after: cursor });
    now = START + kept + 2 * DAY_MS;
    await control.database.db("events").delete();
    assert.deepEqual((await read({ after: fresh })).events, []);
    assert.deepEqual(await refusal({ after: cursor }), [410, "CURSOR_EXPIRED"]);
  });

  it("says so to those who are behind, when events go before they are read", async () => {
    for (let n = 0; n < 6; n += 1) {
      now = START + (n * DAY_MS) / 2;
      await emit(violation());
    }
    const { cursor, more } = await read({ limit: "1" });
    assert.equal(more, true);
    now = START + TEST_SETTINGS.retention.eventsMs + 2 * DAY_MS;
    assert.deepEqual(await refusal({ after: cursor }), [410, "CURSOR_EXPIRED"]);
  });

  it("has events of any time, in the order in which they were written", async () => {
    const id = (n: number) => `evt_${String(n).padStart(26, "0")}`;
    const at = (days: number) => new Date(START + days * DAY_MS);
    // as the sandbox's history, and instances whose clocks are days apart
    await control.database.db.transaction((trx) =>
      writeEvents(
        trx,
        [-1, -7, 2, -6, 0].map((days, n) => ({
          ...{ id: id(n), type: "policy.violated", customerId: "cus_1", data: {} },
          timestamp: at(days),
        })),
      ),
    );
    await settled();
    const seen: string[] = [];
    for (let part = await read({ limit: "1" }); ; part = await read({ limit: "1", after: part.cursor })) {
      seen.push(...part.events.map((event) => event.id));
      if (!part.more) break;
    }
    assert.deepEqual(seen, [0, 1, 2, 3, 4].map(id));
  });

  it("is not read while the database is on another server than at the start", async () => {
    const { db } = control.database;
    const [server] = (await db("event_feed").pluck("server")) as [string];
    await db("event_feed").update({ server: "another.1" });
    try {
      assert.deepEqual(await refusal({}), [503, "SERVICE_UNAVAILABLE"]);
    } finally {
      await db("event_feed").update({ server });
    }
  });

  it("loses nothing that is written after the database has moved to another server, while instances run", async () => {
    const { db } = control.database;
    await emit(violation("cus_1"));
    const { cursor } = await read();
    // as if what is there came from a server that was far ahead
    await db.raw("update events set xid = (xid::text::bigint + 1000000000)::text::xid8");
    await db("event_feed").update({ server: "another.1" });
    const { box } = control.context;
    const at = decodeCursor(box, cursor);
    const before = encodeCursor(box, { ...at, xid: String(BigInt(at.xid) + 1_000_000_000n) });
    await commit(violation("cus_2"));
    assert.equal(await renewFeedGeneration(db), true);
    assert.equal(await renewFeedGeneration(db), false);
    await emit(violation("cus_3"));
    const { events } = await read({ after: before });
    assert.deepEqual(
      events.map(({ customer_id }) => customer_id),
      ["cus_2", "cus_3"],
    );
  });

  it("survives a reset of the sandbox by an earlier release, which empties tables that it does not know", async () => {
    const { db } = control.database;
    await emit(violation());
    const { cursor } = await read();
    const before = (await db("event_feed").select()) as object[];
    await db.raw("truncate events, event_feed");
    assert.deepEqual(await db("event_feed").select(), before);
    assert.deepEqual(await refusal({ after: cursor }), [410, "CURSOR_EXPIRED"]);
    await emit(violation("cus_2"));
    assert.equal((await read()).events.length, 1);
  });

  it("goes on after a logical restore, whose events have numbers of another server", async () => {
    const { db } = control.database;
    await emit(violation("cus_1"));
    await emit(violation("cus_2"));
    const { cursor } = await read({ limit: "1" });
    const at = decodeCursor(control.context.box, cursor);
    // as `pg_restore` leaves it: far ahead of what this server has given out
    const ahead = 1_000_000_000n;
    await db.raw("update events set xid = (xid::text::bigint + ?)::text::xid8", [String(ahead)]);
    await db("event_feed").update({ server: "another.1" });
    await renewFeedGeneration(db);
    await renewFeedGeneration(db);
    assert.deepEqual(await db("event_feed").pluck("generation"), [at.generation + 1]);
    await emit(violation("cus_3"));
    const customersOf = ({ events }: Part) => events.map(({ customer_id }) => customer_id);
    assert.deepEqual(customersOf(await read()), ["cus_1", "cus_2", "cus_3"]);
    const before = encodeCursor(control.context.box, { ...at, xid: String(BigInt(at.xid) + ahead) });
    const rest = await read({ after: before, limit: "1" });
    assert.deepEqual(customersOf(rest), ["cus_2"]);
    assert.deepEqual(customersOf(await read({ after: rest.cursor })), ["cus_3"]);
    assert.deepEqual(customersOf(await read({ after: (await read({ after: "latest" })).cursor })), []);
  });

  it("tells no key whose the last event was that it has looked at", async () => {
    await emit(violation("cus_1"));
    const key = { ...FULL_KEY, customerId: "cus_2" };
    const { events, cursor } = await read({}, key);
    assert.deepEqual(events, []);
    const bytes = Buffer.from(cursor.split(".")[1] ?? "", "base64url").toString("latin1");
    assert.doesNotMatch(`${cursor} ${bytes}`, /evt_/);
  });

  it("takes no other cursor", async () => {
    for (const after of ["x", "W10", "next", "v1.x", "0".repeat(501)])
      assert.deepEqual(await refusal({ after }), [400, "INVALID_PARAMETER"], after);
    const other = control.context.box.seal("[]", "idp.client_secret:cus_1");
    assert.deepEqual(await refusal({ after: other }), [410, "CURSOR_EXPIRED"]);
    for (const limit of ["0", "501", "-1", "1.5"])
      assert.deepEqual(await refusal({ limit }), [400, "INVALID_PARAMETER"], limit);
  });
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { runs } from "../../../support/runs.ts";
import { decisions, NOW, useAuditTrail, type Entry } from "../../support/audit-trail.ts";
import { decisionRecord } from "../../support/gateway-records.ts";

const HOUR = 3_600_000;

describe("audit trail: pages, counts, export", () => {
  const { context, empty, idsOf, list, request, take, takeOld } = useAuditTrail();

  it("pages without holes or repetitions, by number and by cursor, in both orders", async () => {
    // several share one time
    await take(
      decisions(57, (index) => ({ timestamp: new Date(NOW - Math.floor(index / 5) * 1000).toISOString() })),
    );
    const whole = await idsOf({ limit: "100" });
    assert.equal(new Set(whole).size, 57);
    for (const order of ["desc", "asc"]) {
      const expected = order === "desc" ? whole : whole.toReversed();
      const byPage: unknown[] = [];
      for (let page = 1; page <= 6; page++)
        byPage.push(...(await idsOf({ limit: "10", page: String(page), order })));
      assert.deepEqual(byPage, expected);
      const byCursor: unknown[] = [];
      let cursor: string | null = null;
      do {
        const { entries, next } = await list({ limit: "10", order, ...(cursor !== null && { cursor }) });
        byCursor.push(...entries.map(({ decision_id: id }) => id));
        cursor = next;
      } while (cursor !== null);
      assert.deepEqual(byCursor, expected);
    }
    const { pagination } = await list({ limit: "10", page: "6" });
    assert.deepEqual(pagination, { current_page: 6, total_pages: 6, total_items: 57, page_size: 10 });
    const both = await request(`?page=2&cursor=${(await list({ limit: "1" })).next ?? ""}`);
    assert.equal(both.status, 400);
  });

  it("counts exactly, wherever a range begins and ends", async () => {
    const DAY = 24 * HOUR;
    const times = fc.integer({ min: NOW - 12 * DAY, max: NOW });
    const property = fc.asyncProperty(
      fc.array(fc.record({ at: times, customer: fc.integer({ min: 0, max: 2 }), denied: fc.boolean() }), {
        maxLength: 60,
      }),
      fc.array(fc.tuple(times, times, fc.option(fc.integer({ min: 0, max: 2 })), fc.option(fc.boolean())), {
        minLength: 1,
        maxLength: 6,
      }),
      async (made, ranges) => {
        await empty();
        const records = made.map(({ at, customer, denied }) =>
          decisionRecord({
            timestamp: new Date(at).toISOString(),
            customer_id: customer === 0 ? undefined : `cus_${customer}`,
            ...(denied && { decision: "DENY", reason: "CONDITION_FALSE" }),
          }),
        );
        await takeOld(records);
        for (const [a, b, customer, denied] of ranges) {
          const [from, to] = [Math.min(a, b), Math.max(a, b)];
          const fits = made.filter(
            (one) =>
              one.at >= from &&
              one.at < to &&
              (customer === null || customer === 0 || one.customer === customer) &&
              (denied === null || one.denied === denied),
          );
          const { pagination, entries } = await list({
            from: new Date(from).toISOString(),
            to: new Date(to).toISOString(),
            limit: "100",
            ...(customer !== null && customer !== 0 && { customer_id: `cus_${customer}` }),
            ...(denied !== null && { decision: denied ? "DENY" : "ALLOW" }),
          });
          assert.deepEqual([pagination["total_items"], entries.length], [fits.length, fits.length]);
        }
      },
    );
    await fc.assert(property, { numRuns: runs(8) });
  });

  it("says where it has not counted all", async () => {
    const insert = (count: number) =>
      context().db.raw(
        `insert into audit_records ("timestamp", kind, id, request_id, user_id, resource, action, record)
         select ?, 'response', 'dec_' || n || '_' || ?::int, '', 'usr_many', '', '', '{}' from generate_series(1, ?::int) as n`,
        [new Date(NOW), count, count],
      );
    await insert(10_000);
    for (const [query, exact] of [
      [{ kind: "outcome" }, "true"],
      [{ user_id: "usr_many", kind: "outcome,decision" }, "true"],
    ] as const) {
      const found = await list({ ...query, limit: "1" });
      assert.deepEqual([found.pagination["total_items"], found.exact], [10_000, exact]);
    }
    await insert(1);
    for (const query of [{ kind: "outcome" }, { user_id: "usr_many", kind: "outcome,decision" }]) {
      const found = await list({ ...query, limit: "1" });
      assert.deepEqual([found.pagination["total_items"], found.exact], [10_000, "false"]);
    }
  });

  describe("export", () => {
    it("is every record as a line, by the parameter or by the type that is accepted", async () => {
      for (const part of [0, 1, 2])
        await take(decisions(1000, (index) => ({ decision_id: `dec_${part}_${index}` })));
      const byParameter = await request("?format=ndjson&limit=1");
      assert.equal(byParameter.headers.get("content-type"), "application/x-ndjson");
      const lines = byParameter.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Entry);
      assert.equal(new Set(lines.map(({ decision_id: id }) => id)).size, 3000);
      assert.deepEqual(
        lines.map(({ timestamp }) => timestamp),
        lines
          .map(({ timestamp }) => timestamp)
          .sort()
          .reverse(),
      );
      assert.deepEqual(lines[0], (await list({ limit: "1" })).entries[0]);
      const byType = await request("?order=asc", {
        headers: { accept: "application/x-ndjson" },
      });
      assert.deepEqual(byType.text.trim().split("\n"), byParameter.text.trim().split("\n").reverse());
      const json = await request("?format=json", { headers: { accept: "*/*" } });
      assert.equal(json.body.data.length, 20);
    });

    it("ends with what was there when it began", async () => {
      await take(decisions(2));
      const { next } = await list({ limit: "1" });
      const rest = await request(`?format=ndjson&cursor=${next ?? ""}`);
      assert.deepEqual(
        rest.text
          .trim()
          .split("\n")
          .map((line) => (JSON.parse(line) as Entry).decision_id),
        ["dec_0000"],
      );
      const none = await request("?format=ndjson&user_id=nobody");
      assert.deepEqual([none.status, none.text], [200, ""]);
    });
  });
});

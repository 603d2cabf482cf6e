import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { AuditLog } from "../../../src/audit/index.ts";
import { auditOf } from "../../audit/support/records.ts";
import type { AuditRecord } from "../../../src/protocol/record.ts";
import type { Decide } from "../../../src/decision/decide/decide.ts";
import { DecisionPoint } from "../../../src/decision/point/decision-point.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import type { Decision } from "../../../src/decision/types.ts";
import type { DenialReason } from "../../../src/reasons.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { accessOf, never, outcome, ruleOf, silent, silentLog, snapshotOf } from "../support.ts";
import { runs } from "../../support/runs.ts";

const RUNS = runs(300);

const open = snapshotOf(ruleOf("true"));
const requiredBySet = snapshotOf(ruleOf("true", "audit: required"));
const requiredByRule = snapshotOf(
  'policies:\n  - { resource: "GET /x", condition: "true", audit: required }',
);

function decisionOf(
  snapshot: Snapshot,
  verdict: Decision["verdict"] = "ALLOW",
  reason: DenialReason = "CONDITION_FALSE",
): Decision {
  const rule = snapshot.ir.rules[0]!;
  const known = { snapshot, rule, clientIp: "127.0.0.1", trustedPeer: false, accepted: [] };
  return verdict === "ALLOW"
    ? { ...known, verdict, reason: "CONDITION_TRUE" }
    : { ...known, verdict, reason };
}

describe("decision: decision point", () => {
  let directory: string;
  let serial = 0;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-point-"));
  });
  const audits: AuditLog[] = [];
  afterEach(() => Promise.all(audits.splice(0).map((audit) => audit.close())));
  after(() => rm(directory, { recursive: true, force: true }));

  /** A decision point over a real audit file. `space` is how many records the audit takes. */
  function pointOf(
    decide: Decide,
    options: { space?: number; level?: "info" | "warn"; enabled?: boolean; clock?: () => number } = {},
  ) {
    const metrics = createMetrics();
    const path = join(directory, `audit-${(serial += 1)}.log`);
    const { enabled = true, level = "info", space = 1_000 } = options;
    const settings = { enabled, level, destination: "file", path, queue_size: space } as const;
    const audit = auditOf(settings, { metrics, log: silentLog });
    audits.push(audit);
    const errors: object[] = [];
    const point = new DecisionPoint({
      decide,
      snapshot: () => open,
      audit,
      metrics,
      log: { error: (context) => errors.push(context) },
      ...(options.clock && { clock: options.clock }),
    });
    const records = async (): Promise<AuditRecord[]> => {
      await audit.close();
      const text = await readFile(path, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AuditRecord);
    };
    return { point, metrics, audit, errors, records };
  }

  const conclude = (point: DecisionPoint, decision: Decision, deadline = Infinity) =>
    point.conclude(decision, { access: accessOf(), at: Date.now() }, deadline, performance.now());

  const total = async (metric: { get(): Promise<{ values: { value: number }[] }> }) =>
    (await metric.get()).values.reduce((sum, { value }) => sum + value, 0);
  const balance = async ({ decisions, auditRecorded, auditDropped, auditQueue }: Metrics) => ({
    decided: await total(decisions),
    accounted: (await total(auditRecorded)) + (await total(auditDropped)) + (await total(auditQueue)),
  });

  describe("the deadline", () => {
    const at = (now: number) => pointOf(never, { clock: () => now });

    it("turns an allow that comes too late into a denial, and only such", async () => {
      const { point, records } = at(1_000);
      assert.equal(outcome(await conclude(point, decisionOf(open), 999)), "DENY DEADLINE_EXCEEDED");
      assert.equal(outcome(await conclude(point, decisionOf(open), 1_000)), "ALLOW CONDITION_TRUE");
      assert.equal(outcome(await conclude(point, decisionOf(open, "DENY"), 999)), "DENY CONDITION_FALSE");
      assert.deepEqual(
        (await records()).map(({ reason }) => reason),
        ["DEADLINE_EXCEEDED", "CONDITION_TRUE", "CONDITION_FALSE"],
      );
    });
  });

  describe("required audit", () => {
    for (const [by, snapshot] of [
      ["the set", requiredBySet],
      ["the rule", requiredByRule],
    ] as const) {
      it(`denies what ${by} wants recorded and nobody can record`, async () => {
        const { point, metrics, records } = pointOf(never, { space: 1 });
        assert.equal(outcome(await conclude(point, decisionOf(open))), "ALLOW CONDITION_TRUE");
        assert.equal(outcome(await conclude(point, decisionOf(snapshot))), "DENY AUDIT_UNAVAILABLE");
        assert.equal(outcome(await conclude(point, decisionOf(snapshot, "DENY"))), "DENY CONDITION_FALSE");
        assert.equal(outcome(await conclude(point, decisionOf(open))), "ALLOW CONDITION_TRUE");
        assert.equal((await records()).length, 1);
        const { decided, accounted } = await balance(metrics);
        assert.deepEqual([decided, accounted], [4, 4]);
      });
      it(`denies what ${by} wants recorded where the audit is switched off`, async () => {
        const { point } = pointOf(never, { enabled: false });
        assert.equal(outcome(await conclude(point, decisionOf(snapshot))), "DENY AUDIT_UNAVAILABLE");
        assert.equal(outcome(await conclude(point, decisionOf(open))), "ALLOW CONDITION_TRUE");
      });
      it(`writes allows that ${by} wants recorded at level warn, too`, async () => {
        const { point, records } = pointOf(never, { level: "warn" });
        await conclude(point, decisionOf(open));
        await conclude(point, decisionOf(snapshot));
        assert.equal((await records()).length, 1);
      });
      it(`denies what the audit refuses after having said that it accepts (${by})`, async () => {
        const metrics = createMetrics();
        let calls = 0;
        const audit = {
          accepting: () => true,
          record: () => {
            calls += 1;
            return false;
          },
          recordDurably: () => {
            calls += 1;
            return undefined;
          },
          wantsTrace: false,
          recordRefusal: never,
          flush: () => Promise.resolve(),
          close: () => Promise.resolve(),
        };
        const point = new DecisionPoint({
          decide: never,
          snapshot: () => open,
          audit,
          metrics,
          log: { error: silent },
        });
        assert.equal(outcome(await conclude(point, decisionOf(snapshot))), "DENY AUDIT_UNAVAILABLE");
        assert.equal(outcome(await conclude(point, decisionOf(open))), "ALLOW CONDITION_TRUE");
        assert.equal(calls, 2, "one record a decision");
        const { values } = await metrics.decisions.get();
        assert.deepEqual(
          values.map(({ labels, value }) => [labels.reason, value]),
          [
            ["AUDIT_UNAVAILABLE", 1],
            ["CONDITION_TRUE", 1],
          ],
        );
      });
    }
    it("says in the record what the client is told", async () => {
      const { point, records } = pointOf(never, { clock: () => 2 });
      await conclude(point, decisionOf(requiredBySet), 1);
      const [record] = await records();
      assert.deepEqual([record?.decision, record?.reason], ["DENY", "DEADLINE_EXCEEDED"]);
    });
  });

  describe("what goes wrong inside", () => {
    const faults: readonly [string, Decide][] = [
      [
        "throws",
        () => {
          throw new TypeError("secret inside");
        },
      ],
      ["rejects", () => Promise.reject(new TypeError("secret inside"))],
      ["rejects with something that is no error", () => Promise.reject(JSON.parse("null") as Error)],
    ];
    for (const [what, decide] of faults) {
      it(`is a denial with one record when deciding ${what}`, async () => {
        const { point, errors, records, metrics } = pointOf(decide);
        const access = accessOf({ requestId: "r-7", peer: "192.0.2.1" });
        const evaluated = await point.decide(access);
        const final = await point.conclude(evaluated, { access, at: 0 }, Infinity, performance.now());
        assert.equal(outcome(final), "DENY INTERNAL_ERROR");
        assert.equal(errors.length, 1);
        const written = await records();
        assert.equal(written.length, 1);
        const [record] = written;
        assert.deepEqual(
          [record?.request_id, record?.reason, record?.client_ip, record?.policy_set],
          ["r-7", "INTERNAL_ERROR", "192.0.2.1", "test@v0"],
        );
        assert.ok(!JSON.stringify(record).includes("secret"));
        assert.equal(await total(metrics.decisions), 1);
      });
    }
    it("is a denial with one record when the request could not even be read", async () => {
      const { point, records } = pointOf(never);
      const failed = point.failed(new Error("unreadable"), undefined);
      const final = point.conclude(failed, { access: undefined, at: 0 }, Infinity, performance.now());
      assert.equal(outcome(final), "DENY INTERNAL_ERROR");
      const [record, ...more] = await records();
      assert.deepEqual(more, []);
      assert.equal(record?.resource, "");
      assert.equal(record.request_id, "");
    });
    it("hands through what was decided, waiting or not", async () => {
      const decision = decisionOf(open);
      assert.equal(pointOf(() => decision).point.decide(accessOf()), decision);
      assert.equal(await pointOf(() => Promise.resolve(decision)).point.decide(accessOf()), decision);
    });
  });

  it("counts what came too late for its caller as a denial, with what it took, and records nothing", () => {
    const counted: string[] = [];
    const point = new DecisionPoint({
      ...{ decide: never, snapshot: () => open, audit: { record: never } as never },
      ...{ metrics: createMetrics(), log: { error: never } },
      concluded: ({ verdict, reason }, ms) => counted.push(`${verdict} ${reason} ${ms >= 1_000}`),
    });
    const started = performance.now() - 1_000;
    point.missed(decisionOf(open), started);
    point.missed(decisionOf(open, "DENY"), started);
    assert.deepEqual(counted, ["DENY DEADLINE_EXCEEDED true", "DENY CONDITION_FALSE true"]);
  });

  it("counts what was accepted though ambiguous, by check", async () => {
    const { point, metrics } = pointOf(never);
    await conclude(point, { ...decisionOf(open), accepted: ["dot_segment", "fragment"] });
    const { values } = await metrics.acceptedAmbiguities.get();
    assert.deepEqual(
      values.map(({ labels, value }) => [labels.check, value]),
      [
        ["dot_segment", 1],
        ["fragment", 1],
      ],
    );
  });

  it("has the property that decisions are recorded, dropped or queued, whatever the order and the space", async () => {
    const step = fc.record({
      snapshot: fc.constantFrom(open, requiredBySet, requiredByRule),
      verdict: fc.constantFrom("ALLOW" as const, "DENY" as const),
      late: fc.boolean(),
      flush: fc.integer({ min: 0, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom("info" as const, "warn" as const),
        async (steps, space, level) => {
          const { point, metrics, audit, records } = pointOf(never, { space, level, clock: () => 1 });
          let required = 0;
          for (const { snapshot, verdict, late, flush } of steps) {
            const final = await conclude(point, decisionOf(snapshot, verdict), late ? 0 : 60_000);
            if (late) assert.equal(final.verdict, "DENY");
            if (final.verdict === "ALLOW" && snapshot !== open) required += 1;
            if (flush === 0) await audit.flush();
            const { decided, accounted } = await balance(metrics);
            assert.equal(decided, accounted);
          }
          const written = await records();
          const { decided, accounted } = await balance(metrics);
          assert.equal(decided, steps.length);
          assert.equal(accounted, steps.length);
          assert.equal(written.length, await total(metrics.auditRecorded));
          const allowed = written.filter(({ decision }) => decision === "ALLOW").length;
          assert.ok(allowed >= required, "an allow that must be recorded was not");
        },
      ),
      { numRuns: Math.min(RUNS, 2_000) },
    );
  });
});

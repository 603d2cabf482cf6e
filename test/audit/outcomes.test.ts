import assert from "node:assert/strict";
import fc from "fast-check";
import { QueuedAuditLog, type QueueOptions } from "../../src/audit/audit-log.ts";
import type { AuditRecord, OutcomeRecord } from "../../src/protocol/record.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { runs } from "../support/runs.ts";
import { DISK_FULL, FaultyDestination } from "./support/fault.ts";
import { auditOf, auditRecord, counts, memoryLog, outcomeCounts, outcomeRecord } from "./support/records.ts";

/** Closed after each test: a queue that goes on trying would keep the process. */
const open: { destination: FaultyDestination; audit: QueuedAuditLog }[] = [];

function queue(options: Partial<QueueOptions> = {}) {
  const destination = new FaultyDestination();
  const metrics = createMetrics();
  const log = memoryLog();
  const settings = {
    level: "info",
    queueSize: 1_000,
    queueBytes: 64 * 2 ** 20,
    closeTimeout: 5_000,
    ...options,
  } as const;
  const audit = new QueuedAuditLog(settings, { destination, metrics, log });
  open.push({ destination, audit });
  const written = () =>
    destination.lines.map((line) => {
      const record = JSON.parse(line) as AuditRecord & OutcomeRecord;
      return `${"event" in record ? "outcome" : "decision"} ${record.decision_id}`;
    });
  const decide = (id: string, decision: AuditRecord["decision"] = "ALLOW") =>
    audit.record(decision, () => auditRecord({ decision_id: id, decision }));
  const end = (id: string, notable = false) =>
    audit.recordOutcome(notable, () => outcomeRecord({ decision_id: id }));
  return { audit, destination, metrics, log, written, decide, end };
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => String(i));

describe("audit: outcomes in the queue", () => {
  afterEach(async () => {
    for (const { destination, audit } of open.splice(0)) {
      destination.broken = undefined;
      destination.release();
      await audit.close();
    }
  });

  it("are written in order with decisions, and counted for themselves", async () => {
    const { audit, metrics, written, decide, end } = queue();
    decide("1");
    decide("2", "DENY");
    end("1");
    decide("3");
    assert.deepEqual(await counts(metrics), { recorded: 0, queued: 3, dropped: 0, causes: {} });
    assert.deepEqual(await outcomeCounts(metrics), { recorded: 0, queued: 1, dropped: 0, causes: {} });
    await audit.flush();
    assert.deepEqual(written(), ["decision 1", "decision 2", "outcome 1", "decision 3"]);
    assert.deepEqual(await counts(metrics), { recorded: 3, queued: 0, dropped: 0, causes: {} });
    assert.deepEqual(await outcomeCounts(metrics), { recorded: 1, queued: 0, dropped: 0, causes: {} });
  });

  it("are built later", async () => {
    const { audit } = queue();
    let built = 0;
    audit.recordOutcome(false, () => {
      built++;
      return outcomeRecord();
    });
    assert.equal(built, 0);
    await audit.flush();
    assert.equal(built, 1);
  });

  it("are written at level warn only where something was kept back", async () => {
    const { audit, metrics, written, end } = queue({ level: "warn" });
    assert.deepEqual([end("usual"), end("refused", true)], [true, true]);
    await audit.close();
    assert.deepEqual(written(), ["outcome refused"]);
    assert.deepEqual(await outcomeCounts(metrics), {
      recorded: 1,
      queued: 0,
      dropped: 1,
      causes: { level: 1 },
    });
    assert.deepEqual((await counts(metrics)).dropped, 0);
  });

  it("leave the last quarter of the queue to decisions", async () => {
    const { audit, destination, metrics, decide, end } = queue({ queueSize: 20 });
    destination.broken = DISK_FULL;
    assert.deepEqual(
      numbered(16).map((id) => end(id)),
      [...Array<boolean>(15).fill(true), false],
    );
    assert.equal(audit.accepting(), true);
    assert.deepEqual(
      numbered(6).map((id) => decide(id)),
      [...Array<boolean>(5).fill(true), false],
    );
    assert.deepEqual((await outcomeCounts(metrics)).causes, { queue_full: 1 });
    assert.deepEqual((await counts(metrics)).causes, { queue_full: 1 });
    destination.broken = undefined;
    await audit.close();
  });

  it("leave the last quarter of the bytes, too", async () => {
    const { audit, decide, end } = queue({ queueBytes: 4_096 * 8 });
    assert.deepEqual(
      numbered(7).map((id) => end(id)),
      [...Array<boolean>(6).fill(true), false],
    );
    assert.deepEqual(
      numbered(3).map((id) => decide(id)),
      [true, true, false],
    );
    await audit.close();
  });

  it("are written with what is known when they cannot be built", async () => {
    const { audit, destination, metrics } = queue();
    audit.recordOutcome(false, () => {
      throw new Error("cannot read Bearer abcdef");
    });
    await audit.flush();
    const record = JSON.parse(destination.lines[0] ?? "") as OutcomeRecord;
    assert.deepEqual([record.event, record.result, record.decision_id], ["response", "unfinished", ""]);
    assert.equal(record.detail, "the record could not be built: cannot read ***");
    assert.equal((await metrics.auditBuildFailures.get()).values[0]?.value, 1);
    assert.equal((await outcomeCounts(metrics)).recorded, 1);
  });

  it("count as dropped when the audit is disabled", async () => {
    const metrics = createMetrics();
    const audit = auditOf({ enabled: false, level: "debug" }, { metrics, log: memoryLog() });
    assert.equal(
      audit.recordOutcome(true, () => assert.fail("it was built")),
      false,
    );
    assert.deepEqual((await outcomeCounts(metrics)).causes, { disabled: 1 });
    assert.equal((await counts(metrics)).dropped, 0);
  });

  it("that are left at the end count as lost, each kind for itself", async () => {
    const { audit, destination, metrics, decide, end } = queue({ closeTimeout: 30 });
    destination.hanging = true;
    decide("1");
    end("1");
    void audit.flush();
    await new Promise((resolve) => setImmediate(resolve));
    end("2");
    await audit.close();
    assert.deepEqual(await counts(metrics), {
      recorded: 0,
      queued: 0,
      dropped: 1,
      causes: { write_failed: 1 },
    });
    assert.deepEqual(await outcomeCounts(metrics), {
      recorded: 0,
      queued: 0,
      dropped: 2,
      causes: { write_failed: 2 },
    });
    assert.equal(end("late"), false);
    destination.release();
  });

  it("and decisions are accounted for at every moment, each for itself", async () => {
    const step = fc.constantFrom("decide", "end", "refuse", "break", "heal", "turn", "partial", "flush");
    const scenario = fc.record({
      level: fc.constantFrom("info", "warn", "debug"),
      queueSize: fc.integer({ min: 1, max: 12 }),
      steps: fc.array(fc.tuple(step, fc.integer({ min: 1, max: 8 })), { maxLength: 40 }),
    } as const);
    await fc.assert(
      fc.asyncProperty(scenario, async ({ level, queueSize, steps }) => {
        const { audit, destination, metrics, written, decide, end } = queue({
          level,
          queueSize,
          closeTimeout: 20,
        });
        let decided = 0;
        let ended = 0;
        const taken: string[] = [];
        const check = async () => {
          const [decisions, outcomes] = await Promise.all([counts(metrics), outcomeCounts(metrics)]);
          assert.equal(decisions.recorded + decisions.queued + decisions.dropped, decided);
          assert.equal(outcomes.recorded + outcomes.queued + outcomes.dropped, ended);
          assert.ok(decisions.queued + outcomes.queued <= queueSize);
          assert.ok(decisions.queued >= 0 && outcomes.queued >= 0);
        };
        const endOne = (notable: boolean) => {
          const id = String(ended++);
          if (end(id, notable) && (notable || level !== "warn")) taken.push(`outcome ${id}`);
        };
        for (const [what, n] of steps) {
          if (what === "decide")
            numbered(n).forEach(() => {
              const id = String(decided++);
              if (decide(id, n % 2 ? "ALLOW" : "DENY") && (n % 2 === 0 || level !== "warn")) {
                taken.push(`decision ${id}`);
              }
            });
          else if (what === "end" || what === "refuse")
            numbered(n).forEach(() => {
              endOne(what === "refuse");
            });
          else if (what === "break") destination.broken = DISK_FULL;
          else if (what === "heal") destination.broken = undefined;
          else if (what === "partial")
            destination.script.push({ take: n }, { take: n - 1, error: DISK_FULL });
          else if (what === "flush") void audit.flush();
          else await new Promise((resolve) => setImmediate(resolve));
          await check();
        }
        await audit.close();
        await check();
        const [decisions, outcomes] = await Promise.all([counts(metrics), outcomeCounts(metrics)]);
        assert.deepEqual([decisions.queued, outcomes.queued], [0, 0]);
        const lines = written();
        assert.equal(decisions.recorded, lines.filter((line) => line.startsWith("decision")).length);
        assert.equal(outcomes.recorded, lines.filter((line) => line.startsWith("outcome")).length);
        assert.deepEqual(lines, taken.slice(0, lines.length), "in order, none twice");
      }),
      { numRuns: runs(60) },
    );
  });
});

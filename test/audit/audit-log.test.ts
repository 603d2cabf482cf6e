import assert from "node:assert/strict";
import fc from "fast-check";
import { QueuedAuditLog, type QueueOptions } from "../../src/audit/audit-log.ts";
import type { AuditRecord } from "../../src/protocol/record.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { BUSY, DISK_FULL, FaultyDestination } from "./support/fault.ts";
import { auditOf, auditRecord, counts, memoryLog } from "./support/records.ts";
import { until } from "./support/wait.ts";
import { runs } from "../support/runs.ts";

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
  const ids = () => destination.lines.map((line) => (JSON.parse(line) as AuditRecord).request_id);
  const put = (id: string, decision: AuditRecord["decision"] = "ALLOW") =>
    audit.record(decision, () => auditRecord({ request_id: id, decision }));
  return { audit, destination, metrics, log, ids, put };
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => String(i));

describe("audit: queue", () => {
  it("writes every record in order, and builds none on the request path", async () => {
    const { audit, metrics, destination, ids, put } = queue();
    let built = 0;
    audit.record("ALLOW", () => {
      built++;
      return auditRecord({ request_id: "first" });
    });
    assert.equal(built, 0);
    for (const id of numbered(500)) assert.equal(put(id), true);
    assert.deepEqual(await counts(metrics), { recorded: 0, queued: 501, dropped: 0, causes: {} });
    await audit.flush();
    assert.deepEqual(ids(), ["first", ...numbered(500)]);
    assert.deepEqual(await counts(metrics), { recorded: 501, queued: 0, dropped: 0, causes: {} });
    await audit.close();
    assert.equal(destination.closed, true);
  });

  it("writes without being asked to", async () => {
    const { metrics, put } = queue();
    put("1");
    await until(async () => (await counts(metrics)).recorded === 1, "the record is written");
    for (const id of numbered(300)) put(id);
    await until(async () => (await counts(metrics)).recorded === 301, "the records are written");
  });

  it("takes denials only at level warn", async () => {
    const { audit, metrics, ids, put } = queue({ level: "warn" });
    assert.deepEqual([put("allowed"), put("denied", "DENY"), audit.accepting()], [true, true, true]);
    await audit.close();
    assert.deepEqual(ids(), ["denied"]);
    assert.deepEqual(await counts(metrics), { recorded: 1, queued: 0, dropped: 1, causes: { level: 1 } });
  });

  it("writes at level warn an allow whose record is required", async () => {
    const { audit, ids } = queue({ level: "warn" });
    assert.equal(
      audit.record("ALLOW", () => auditRecord({ request_id: "required" }), true),
      true,
    );
    await audit.close();
    assert.deepEqual(ids(), ["required"]);
  });

  it("wants traces at level debug, and only then writes them", async () => {
    for (const level of ["info", "debug"] as const) {
      const { audit, destination } = queue({ level });
      assert.equal(audit.wantsTrace, level === "debug");
      audit.record("ALLOW", () => auditRecord({ trace: { rule: 1 } }));
      await audit.close();
      assert.equal(destination.lines[0]?.includes('"trace":{"rule":1}'), level === "debug");
    }
  });

  it("counts every decision as dropped when disabled, and accepts none", async () => {
    const metrics = createMetrics();
    const audit = auditOf({ enabled: false, level: "debug" }, { metrics, log: memoryLog() });
    const build = () => assert.fail("it was built");
    assert.deepEqual(
      [audit.record("DENY", build), audit.accepting(), audit.wantsTrace],
      [false, false, false],
    );
    await audit.flush();
    await audit.close();
    assert.deepEqual(await counts(metrics), { recorded: 0, queued: 0, dropped: 1, causes: { disabled: 1 } });
  });

  it("writes what is known when a record cannot be built", async () => {
    const { audit, destination, metrics, log } = queue();
    audit.record("DENY", () => {
      throw new Error("cannot read Bearer abcdef");
    });
    audit.record("ALLOW", () => null as unknown as AuditRecord);
    await audit.flush();
    const [record, other] = destination.lines.map((line) => JSON.parse(line) as AuditRecord);
    assert.deepEqual([record?.decision, record?.reason], ["DENY", "INTERNAL_ERROR"]);
    assert.equal(record?.detail, "the record could not be built: cannot read ***");
    assert.ok(Date.now() - Date.parse(record.timestamp) < 60_000);
    assert.equal(other?.decision, "ALLOW");
    assert.equal((await metrics.auditBuildFailures.get()).values[0]?.value, 2);
    assert.equal((await counts(metrics)).recorded, 2);
    assert.equal(log.entries[0]?.message, "could not build an audit record");
  });

  it("keeps what cannot be written, drops when full, and writes everything kept after the fault", async () => {
    const { audit, destination, metrics, log, ids, put } = queue({ queueSize: 20 });
    destination.broken = DISK_FULL;
    for (const id of numbered(20)) assert.equal(put(id), true);
    assert.deepEqual([audit.accepting(), put("too much")], [false, false]);
    await until(() => log.entries.length > 0, "the fault is reported");
    assert.deepEqual([audit.accepting(), put("too much")], [false, false]);
    assert.deepEqual(await counts(metrics), {
      recorded: 0,
      queued: 20,
      dropped: 2,
      causes: { queue_full: 2 },
    });
    destination.broken = undefined;
    await audit.flush();
    assert.equal(put("after"), true);
    await audit.flush();
    assert.deepEqual(ids(), [...numbered(20), "after"]);
    const messages = ["could not write audit records; will retry", "writing audit records again"];
    assert.deepEqual(
      log.entries.map(({ message }) => message),
      messages,
      "each said once",
    );
  });

  it("is bounded in bytes, too", async () => {
    const { audit, destination, metrics, put } = queue({ queueBytes: 4096 * 4 });
    destination.broken = DISK_FULL;
    for (const id of numbered(4)) assert.equal(put(id), true, "counted as the longest line at first");
    assert.equal(put("too much"), false);
    await until(() => audit.accepting(), "serialized, they need less");
    let taken = 4;
    await until(() => {
      if (put("x")) taken++;
      return taken >= 12;
    }, "more fit");
    destination.broken = undefined;
    await audit.flush();
    assert.equal((await counts(metrics)).recorded, taken);
    for (const id of numbered(4)) assert.equal(put(id), true, "all room is there again");
    await audit.close();
  });

  it("goes on behind what was written of a batch, also when the reader is slow", async () => {
    const { audit, destination, log, ids, put } = queue();
    destination.script = [
      { take: 3 },
      { take: 0, error: BUSY },
      { take: 4, error: BUSY },
      { take: 1, error: DISK_FULL },
    ];
    for (const id of numbered(30)) put(id);
    await audit.flush();
    assert.deepEqual(ids(), numbered(30));
    assert.deepEqual(
      log.entries.map(({ fields }) => fields),
      [{ code: "ENOSPC", reason: "no space left on device" }, { queued: 0 }],
    );
  });

  it("gives up at the end of its time when closed, and counts what is lost", async () => {
    for (const fault of ["broken", "hanging"] as const) {
      const { audit, destination, metrics, log, put } = queue({ closeTimeout: 30 });
      if (fault === "broken") destination.broken = DISK_FULL;
      else destination.hanging = true;
      for (const id of numbered(10)) put(id);
      const flushed = audit.flush();
      await Promise.all([audit.close(), audit.close(), flushed]);
      const lost = { recorded: 0, queued: 0, dropped: 10, causes: { write_failed: 10 } };
      assert.deepEqual(await counts(metrics), lost);
      assert.ok(log.entries.some(({ message }) => message.includes("audit records lost")));
      assert.deepEqual([put("late"), audit.accepting()], [false, false]);
      destination.broken = undefined;
      destination.release();
      await new Promise((resolve) => setImmediate(resolve));
      const late = { recorded: 0, queued: 0, dropped: 11, causes: { write_failed: 11 } };
      assert.deepEqual(await counts(metrics), late, "a late success counts no more");
    }
  });

  it("tries once more at once when closed, and takes nothing any more", async () => {
    const { audit, destination, metrics, log, put } = queue();
    destination.broken = DISK_FULL;
    put("1");
    await until(() => log.entries.length > 0, "the fault is reported");
    destination.broken = undefined;
    const closed = audit.close();
    assert.equal(put("2"), false);
    await closed;
    assert.deepEqual(await counts(metrics), {
      recorded: 1,
      queued: 0,
      dropped: 1,
      causes: { write_failed: 1 },
    });
  });

  it("accounts for every decision at every moment", async () => {
    type Step =
      | "allow"
      | "deny"
      | "throw"
      | "break"
      | "heal"
      | "hang"
      | "release"
      | "turn"
      | "wait"
      | "partial"
      | "flush";
    const steps: Step[] = [
      "allow",
      "deny",
      "throw",
      "break",
      "heal",
      "hang",
      "release",
      "turn",
      "wait",
      "partial",
      "flush",
    ];
    const scenario = fc.record({
      level: fc.constantFrom("info", "warn", "debug"),
      queueSize: fc.integer({ min: 1, max: 12 }),
      steps: fc.array(fc.tuple(fc.constantFrom(...steps), fc.integer({ min: 1, max: 8 })), { maxLength: 40 }),
    } as const);
    await fc.assert(
      fc.asyncProperty(scenario, async ({ level, queueSize, steps }) => {
        const { audit, destination, metrics, ids } = queue({ level, queueSize, closeTimeout: 20 });
        let decided = 0;
        const taken: string[] = [];
        const check = async () => {
          const { recorded, queued, dropped } = await counts(metrics);
          assert.equal(recorded + queued + dropped, decided);
          assert.ok(queued >= 0 && queued <= queueSize);
        };
        const decide = (decision: AuditRecord["decision"], fail: boolean) => {
          const id = fail ? "" : String(decided);
          decided++;
          const ok = audit.record(decision, () => {
            if (fail) throw new Error("no");
            return auditRecord({ request_id: id });
          });
          if (ok && !(level === "warn" && decision === "ALLOW")) taken.push(id);
        };
        const act: Record<Step, (n: number) => unknown> = {
          allow: (n) => {
            numbered(n).forEach(() => {
              decide("ALLOW", false);
            });
          },
          deny: (n) => {
            numbered(n).forEach(() => {
              decide("DENY", false);
            });
          },
          throw: () => {
            decide("DENY", true);
          },
          break: () => (destination.broken = DISK_FULL),
          heal: () => (destination.broken = undefined),
          hang: () => (destination.hanging = true),
          release: () => {
            destination.release();
          },
          turn: () => new Promise((resolve) => setImmediate(resolve)),
          wait: (n) => new Promise((resolve) => setTimeout(resolve, n)),
          partial: (n) =>
            destination.script.push({ take: n }, { take: n - 1, error: n % 2 ? BUSY : DISK_FULL }),
          flush: () => void audit.flush(),
        };
        for (const [step, n] of steps) {
          await act[step](n);
          await check();
        }
        await audit.close();
        await check();
        const { recorded, queued } = await counts(metrics);
        assert.equal(queued, 0);
        assert.equal(recorded, destination.lines.length, "what counts as recorded is written");
        assert.deepEqual(ids(), taken.slice(0, recorded), "in order, none twice");
      }),
      { numRuns: runs(60) },
    );
  });
});

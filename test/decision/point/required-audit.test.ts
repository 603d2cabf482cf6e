import assert from "node:assert/strict";
import { QueuedAuditLog } from "../../../src/audit/audit-log.ts";
import { DecisionPoint } from "../../../src/decision/point/decision-point.ts";
import type { KnownState } from "../../../src/decision/decide/check-session.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import type { Decision } from "../../../src/decision/types.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { DISK_FULL, FaultyDestination } from "../../audit/support/fault.ts";
import { counts, memoryLog, outcomeCounts } from "../../audit/support/records.ts";
import { until } from "../../audit/support/wait.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  never,
  outcome,
  ruleOf,
  silentLog,
  snapshotOf,
  useIssuer,
} from "../support.ts";

const REQUIRED = snapshotOf(ruleOf("true", "audit: required"));
const ALLOWED: Decision = {
  verdict: "ALLOW",
  reason: "CONDITION_TRUE",
  snapshot: REQUIRED,
  rule: REQUIRED.ir.rules[0]!,
  clientIp: "127.0.0.1",
  trustedPeer: false,
  accepted: [],
};

const rule = (audit: string) => `policies:\n  - { resource: "GET /x", condition: exists(user.id)${audit} }\n`;
const NOBODY_ASKED = snapshotOf(rule(""));

describe("decision: an allow whose record is required", () => {
  const open: { audit: QueuedAuditLog; destination: FaultyDestination }[] = [];
  afterEach(async () => {
    for (const { audit, destination } of open.splice(0)) {
      destination.broken = undefined;
      destination.release();
      await audit.close();
    }
  });

  function pointOf() {
    const destination = new FaultyDestination();
    const metrics = createMetrics();
    const options = { level: "warn", queueSize: 100, queueBytes: 2 ** 20, closeTimeout: 50 } as const;
    const audit = new QueuedAuditLog(options, { destination, metrics, log: memoryLog() });
    open.push({ audit, destination });
    const clock = { now: 0 };
    const point = new DecisionPoint({
      decide: never,
      snapshot: () => REQUIRED,
      audit,
      metrics,
      log: silentLog,
      clock: () => clock.now,
    });
    /** @param patience - ms that are left until the deadline */
    const conclude = async (patience: number, requestId = "r-1") => {
      const context = { access: accessOf({ requestId }), at: Date.now() };
      return outcome(await point.conclude(ALLOWED, context, clock.now + patience, performance.now()));
    };
    const lines = () => destination.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const said = () => lines().map(({ decision, result, reason }) => [decision ?? result, reason].join(" "));
    const balanced = async () => {
      const { values } = await metrics.decisions.get();
      const decided = values.reduce((sum, { value }) => sum + value, 0);
      const { recorded, dropped, queued } = await counts(metrics);
      assert.equal(recorded + dropped + queued, decided);
      return { decided, recorded, dropped, queued };
    };
    return { audit, destination, metrics, clock, point, conclude, lines, said, balanced };
  }

  it("is one when the record is written, and not before", async () => {
    const { destination, conclude, said, balanced } = pointOf();
    destination.hanging = true;
    let answered = false;
    const asked = conclude(60_000).then((result) => {
      answered = true;
      return result;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(answered, false);
    assert.deepEqual(await balanced(), { decided: 0, recorded: 0, dropped: 0, queued: 0 });
    destination.release();
    assert.equal(await asked, "ALLOW CONDITION_TRUE");
    assert.deepEqual(said(), ["ALLOW CONDITION_TRUE"]);
    assert.deepEqual(await balanced(), { decided: 1, recorded: 1, dropped: 0, queued: 0 });
  });

  it("shares a write with those that come meanwhile", async () => {
    const { destination, conclude, said } = pointOf();
    let writes = 0;
    const write = destination.write.bind(destination);
    destination.write = (given) => {
      writes += 1;
      return write(given);
    };
    const all = await Promise.all(Array.from({ length: 50 }, (_, index) => conclude(60_000, `r-${index}`)));
    assert.deepEqual(new Set(all), new Set(["ALLOW CONDITION_TRUE"]));
    assert.equal(said().length, 50);
    assert.ok(writes <= 4, String(writes));
  });

  it("is denied where the record is not written in time, and the record says so", async () => {
    const { destination, conclude, said, lines, audit, balanced } = pointOf();
    destination.broken = DISK_FULL;
    assert.equal(await conclude(40), "DENY AUDIT_UNAVAILABLE");
    assert.deepEqual(await balanced(), { decided: 1, recorded: 0, dropped: 0, queued: 1 });
    destination.broken = undefined;
    await audit.flush();
    assert.deepEqual(said(), ["DENY AUDIT_UNAVAILABLE"]);
    assert.match(String(lines()[0]?.["decision_id"]), /^dec_/);
    assert.deepEqual(await balanced(), { decided: 1, recorded: 1, dropped: 0, queued: 0 });
  });

  it("is denied where the write hangs, and a line beside the record says that it came to nothing", async () => {
    const { destination, metrics, conclude, said, lines, audit, balanced } = pointOf();
    destination.hanging = true;
    assert.equal(await conclude(40), "DENY AUDIT_UNAVAILABLE");
    await balanced();
    destination.release();
    await audit.flush();
    await until(() => Promise.resolve(said().length === 2), "both lines");
    assert.deepEqual(said(), ["ALLOW CONDITION_TRUE", "not_forwarded AUDIT_UNAVAILABLE"]);
    const [record, beside] = lines();
    assert.equal(record?.["decision_id"], beside?.["decision_id"]);
    assert.deepEqual(await balanced(), { decided: 1, recorded: 1, dropped: 0, queued: 0 });
    assert.equal((await outcomeCounts(metrics)).recorded, 1);
    assert.equal((await metrics.outcomes.get()).values[0]?.value, 1);
  });

  it("is denied where a write that hung has failed, and the record says so", async () => {
    const { destination, conclude, said, audit } = pointOf();
    destination.hanging = true;
    destination.script = [{ take: 0, error: DISK_FULL }];
    assert.equal(await conclude(40), "DENY AUDIT_UNAVAILABLE");
    destination.release();
    await audit.flush();
    assert.deepEqual(said(), ["DENY AUDIT_UNAVAILABLE"]);
  });

  it("is denied where the deadline has passed when the record is written", async () => {
    const { destination, clock, conclude, said, audit } = pointOf();
    destination.hanging = true;
    const asked = conclude(1_000);
    clock.now += 2_000;
    await new Promise((resolve) => setTimeout(resolve, 10));
    destination.release();
    assert.equal(await asked, "DENY DEADLINE_EXCEEDED");
    await audit.flush();
    assert.deepEqual(said(), ["ALLOW CONDITION_TRUE", "not_forwarded DEADLINE_EXCEEDED"]);
  });

  it("stays one where it cannot be counted when its record is written", async () => {
    const { metrics, conclude, said } = pointOf();
    metrics.decisions.labels = () => {
      throw new Error("on purpose");
    };
    assert.equal(await conclude(60_000), "ALLOW CONDITION_TRUE");
    assert.deepEqual(said(), ["ALLOW CONDITION_TRUE"]);
  });

  it("is denied where something fails when its record is written, and a line beside the record says so", async () => {
    const { audit, conclude, said, balanced } = pointOf();
    const recordDurably = audit.recordDurably.bind(audit);
    audit.recordDurably = (build) => {
      const record = recordDurably(build);
      assert.ok(record !== undefined);
      const written = record.written.then(() => Promise.reject(new Error("on purpose")));
      return { written, revoke: record.revoke.bind(record) };
    };
    assert.equal(await conclude(60_000), "DENY INTERNAL_ERROR");
    await audit.flush();
    assert.deepEqual(said(), ["ALLOW CONDITION_TRUE", "not_forwarded INTERNAL_ERROR"]);
    assert.deepEqual(await balanced(), { decided: 1, recorded: 1, dropped: 0, queued: 0 });
  });

  it("is denied at the end, where its record is given up", async () => {
    const { destination, conclude, said, audit, balanced } = pointOf();
    destination.broken = DISK_FULL;
    const asked = conclude(60_000);
    await audit.close();
    assert.equal(await asked, "DENY AUDIT_UNAVAILABLE");
    assert.deepEqual(said(), []);
    assert.deepEqual(await balanced(), { decided: 1, recorded: 0, dropped: 1, queued: 0 });
  });

  describe("that a customer's own policy set requires", () => {
    const idp = useIssuer();

    const standings: KnownState = {
      customer: (id) => ({
        id,
        status: "active",
        authentication: { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] },
        policy_sets: ["first", "second"],
      }),
      sessionEnded: () => false,
      userStatus: () => "active",
    };

    /** What comes of a request while the audit takes nothing. */
    const conclude = async (sets: Readonly<Record<string, Snapshot>>) => {
      const decide = deciderOf(NOBODY_ASKED, {
        verifier: idp.verifier,
        sets,
        controlPlane: { state: () => standings },
      });
      const point = new DecisionPoint({
        decide,
        snapshot: () => NOBODY_ASKED,
        audit: {
          wantsTrace: false,
          accepting: () => false,
          record: () => false,
          recordDurably: () => undefined,
          recordRefusal: () => false,
          flush: () => Promise.resolve(),
          close: () => Promise.resolve(),
        },
        metrics: createMetrics(),
        log: silentLog,
      });
      const token = await idp.token({ customer_id: "cus_1" });
      const access = accessOf({ headers: [bearer(token)] });
      const decided = await point.decide(access);
      return outcome(
        await point.conclude(decided, { access, at: Date.now() }, access.deadline, performance.now()),
      );
    };

    const relaxed = snapshotOf(`version: v1\n${rule("")}`);
    const cases: [name: string, sets: Record<string, Snapshot>, expected: string][] = [
      ["none does", { first: relaxed, second: relaxed }, "ALLOW CONDITION_TRUE"],
      [
        "a rule of the first does",
        { first: snapshotOf(rule(", audit: required")), second: relaxed },
        "DENY AUDIT_UNAVAILABLE",
      ],
      [
        "the whole second does",
        { first: relaxed, second: snapshotOf(`audit: required\n${rule("")}`) },
        "DENY AUDIT_UNAVAILABLE",
      ],
    ];
    for (const [name, sets, expected] of cases) {
      it(`${name}: ${expected}, where the audit takes none`, async () => {
        assert.equal(await conclude(sets), expected);
      });
    }
  });
});

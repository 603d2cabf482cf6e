import assert from "node:assert/strict";
import { QueuedAuditLog } from "../../src/audit/audit-log.ts";
import type { OutcomeRecord } from "../../src/protocol/record.ts";
import type { RequestOutcome } from "../../src/extauthz/access-log.ts";
import { createOutcomeHandler, outcomeRecord } from "../../src/extauthz/access-log-record.ts";
import type { ConnectionOutcome, ResponseOutcome } from "../../src/extauthz/access-log-outcome.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { FaultyDestination } from "../audit/support/fault.ts";
import { memoryLog } from "../audit/support/records.ts";

const COMMON = {
  decisionId: "dec_1",
  handshake: false,
  at: Date.parse("2026-01-02T03:04:05.678Z") + 0.9,
  durationMs: 12.9,
  responseCode: 200,
  responseBytes: 345,
  details: "via_upstream",
};

function answer(more: Partial<ResponseOutcome> = {}): RequestOutcome {
  const response: ResponseOutcome = { result: "unchanged", paths: [], count: 0, dropped: 0, ...more };
  return { ...COMMON, event: "response", response };
}

function connection(more: Partial<ConnectionOutcome> = {}): RequestOutcome {
  const outcome: ConnectionOutcome = {
    sent: { delivered: 1, dropped: 0 },
    received: { delivered: 2, dropped: 0, masked: 0 },
    denied: [],
    paths: [],
    ...more,
  };
  return { ...COMMON, handshake: true, responseCode: 101, event: "connection", connection: outcome };
}

function handler(level: "info" | "warn" = "info") {
  const metrics = createMetrics();
  const destination = new FaultyDestination();
  const options = { level, queueSize: 100, queueBytes: 2 ** 24, closeTimeout: 1_000 };
  const audit = new QueuedAuditLog(options, { destination, metrics, log: memoryLog() });
  const ended: string[] = [];
  const handle = createOutcomeHandler({ audit, metrics, connectionEnded: (id) => ended.push(id) });
  const written = async () => {
    await audit.flush();
    return destination.lines.map((line) => JSON.parse(line) as OutcomeRecord);
  };
  return { handle, metrics, ended, written };
}

interface Metric {
  get(): Promise<{ values: { labels: object; value: number }[] }>;
}
async function series(metric: Metric): Promise<Record<string, number>> {
  const { values } = await metric.get();
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [Object.values(labels).join(), value]),
  );
}

describe("extauthz: what is done with outcomes", () => {
  it("the record of an answer", () => {
    const outcome = answer({ result: "masked", paths: ["$.ssn"], count: 2 });
    assert.deepEqual(outcomeRecord(outcome), {
      timestamp: "2026-01-02T03:04:05.678Z",
      event: "response",
      decision_id: "dec_1",
      response_code: 200,
      duration_ms: 12,
      result: "masked",
      masked_count: 2,
      masked_paths: ["$.ssn"],
      documents_dropped: 0,
      response_bytes: 345,
      detail: "via_upstream",
    });
    assert.equal(outcomeRecord(answer({ result: "refused", reason: "not_json" })).reason, "not_json");
    const stopped = { ...answer({ result: "not_forwarded" }), decisionId: "", requestId: "req_1" };
    const { decision_id: decision, request_id: request } = outcomeRecord(stopped);
    assert.deepEqual([decision, request], ["", "req_1"]);
  });

  it("the record of a connection", () => {
    const denied = [
      { direction: "send", type: "cancel", rule: "r", count: 3 },
      { direction: "send", type: "cancel", rule: "q", set: "d-2", count: 1 },
    ];
    const outcome = connection({
      sent: { delivered: 1, dropped: 3 },
      received: { delivered: 4, dropped: 5, masked: 6 },
      denied,
      paths: ["$.email"],
      sets: ["d-2"],
      closed: { code: 1008, reason: "TOKEN_EXPIRED", by: "expiry" },
    });
    assert.deepEqual(outcomeRecord(outcome), {
      timestamp: "2026-01-02T03:04:05.678Z",
      event: "connection",
      decision_id: "dec_1",
      response_code: 101,
      duration_ms: 12,
      result: "closed",
      masked_count: 6,
      masked_paths: ["$.email"],
      response_bytes: 345,
      sent_delivered: 1,
      sent_dropped: 3,
      received_delivered: 4,
      received_dropped: 5,
      denied_messages: [
        { direction: "send", type: "cancel", rule: "r", count: 3 },
        { direction: "send", type: "cancel", rule: "q", policy_digest: "d-2", count: 1 },
      ],
      policy_digests: ["d-2"],
      close_code: 1008,
      close_reason: "TOKEN_EXPIRED",
      closed_by: "expiry",
      detail: "via_upstream",
    });
  });

  it("a connection that a peer closed, or that broke off, has ended", () => {
    assert.equal(outcomeRecord(connection()).result, "ended");
    const { result, close_code } = outcomeRecord(connection({ closed: { reason: "bye", by: "peer" } }));
    assert.deepEqual([result, close_code], ["ended", undefined]);
  });

  it("counts answers, messages and connections, and records each outcome once", async () => {
    const { handle, metrics, written } = handler();
    handle(answer());
    handle(answer({ result: "masked" }));
    handle(answer({ result: "masked" }));
    handle(connection({ sent: { delivered: 0, dropped: 2 } }));
    handle(
      connection({
        received: { delivered: 0, dropped: 3, masked: 0 },
        closed: { reason: "POLICY_CHANGED", by: "policy" },
      }),
    );
    assert.deepEqual(await series(metrics.outcomes), { response: 3, connection: 2 });
    assert.deepEqual(await series(metrics.responses), { unchanged: 1, masked: 2 });
    assert.deepEqual(await series(metrics.messagesDropped), { send: 2, receive: 3 });
    assert.deepEqual(await series(metrics.connectionsClosed), { NONE: 1, POLICY_CHANGED: 1 });
    assert.equal((await written()).length, 5);
    assert.equal((await metrics.auditOutcomesRecorded.get()).values[0]?.value, 5);
  });

  it("a metric has no more reasons than it should, whoever invents them", async () => {
    const { handle, metrics } = handler();
    const closed = (reason: string, by: string) => {
      handle(connection({ closed: { reason, by } }));
    };
    closed("ANY TEXT", "policy");
    closed("MY_REASON", "peer");
    for (let i = 0; i < 100; i++) {
      closed(`R_${String.fromCharCode(65 + (i % 26), 65 + Math.floor(i / 26))}`, "policy");
    }
    const reasons = await series(metrics.connectionsClosed);
    assert.equal(reasons["PEER"], 1);
    assert.equal(reasons["OTHER"], 61);
    assert.equal(Object.keys(reasons).length, 42);
  });

  it("tells of every handshake that is over, and of no other request", () => {
    const { handle, ended } = handler();
    handle(answer());
    handle({ ...connection(), decisionId: "dec_2" });
    handle({
      ...answer({ result: "refused", reason: "not_upgraded" }),
      decisionId: "dec_3",
      handshake: true,
    });
    handle({ ...connection(), decisionId: "dec_4", handshake: false });
    assert.deepEqual(ended, ["dec_2", "dec_3", "dec_4"]);
  });

  it("at level warn, writes only what was kept back or cut off", async () => {
    const { handle, metrics, written } = handler("warn");
    const notable = [
      answer({ result: "refused", reason: "compressed" }),
      answer({ result: "masked", dropped: 1 }),
      answer({ result: "unfinished", reason: "unreadable_outcome" }),
      connection({ sent: { delivered: 0, dropped: 1 } }),
      connection({ received: { delivered: 0, dropped: 1, masked: 0 } }),
      connection({ closed: { reason: "TOKEN_EXPIRED", by: "expiry" } }),
    ];
    const usual = [
      answer({ result: "masked", count: 1 }),
      answer({ result: "unfinished" }),
      connection(),
      connection({ closed: { reason: "bye", by: "peer" } }),
    ];
    for (const outcome of [...usual, ...notable]) handle(outcome);
    assert.deepEqual(
      await written(),
      notable.map((outcome) => JSON.parse(JSON.stringify(outcomeRecord(outcome))) as unknown),
    );
    assert.deepEqual(await series(metrics.auditOutcomesDropped), { level: 4 });
  });
});

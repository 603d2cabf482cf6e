import assert from "node:assert/strict";
import fc from "fast-check";
import { createAccessLog, type RequestOutcome } from "../../src/extauthz/access-log.ts";
import type { UndecidedEntry } from "../../src/extauthz/access-log-decode.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { runs } from "../support/runs.ts";
import { message, RECORDED_LOG, type EntryParts } from "./support/access-logs.ts";
import { write } from "./support/checks.ts";
import { ACCESS_LOGS, encodeWith, loadProtos } from "./support/protos.ts";

const NOW = 1_800_000_000_000;
const MASKED = '{"response":{"result":"masked","count":1,"paths":["$.ssn"]}}';

function accessLog(
  onOutcome?: (outcome: RequestOutcome) => void,
  onRefusal?: (entry: UndecidedEntry) => void,
  onOpen?: (decisionId: string) => void,
) {
  const outcomes: RequestOutcome[] = [];
  const refusals: UndecidedEntry[] = [];
  const metrics = createMetrics();
  const logged: string[] = [];
  const take = createAccessLog({
    onOutcome: onOutcome ?? ((outcome) => outcomes.push(outcome)),
    onRefusal: onRefusal ?? ((entry) => refusals.push(entry)),
    ...(onOpen && { onOpen }),
    metrics,
    log: { error: (_, text) => logged.push(text) },
    clock: () => NOW,
  });
  const skipped = async () => {
    const { values } = await metrics.accessLogSkipped.get();
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.cause), value]));
  };
  return { take, outcomes, refusals, skipped, logged };
}

/** What comes of these entries. */
async function outcomesOf(...entries: readonly EntryParts[]) {
  const { take, outcomes, skipped } = accessLog();
  take(message(...entries));
  return { outcomes, skipped: await skipped() };
}

describe("extauthz: access log", () => {
  it("reads what Envoy 1.40 sends", () => {
    const { take, outcomes } = accessLog();
    take(RECORDED_LOG);
    assert.deepEqual(outcomes, [
      {
        event: "response",
        response: { result: "masked", paths: ["$.ssn"], count: 2, dropped: 0 },
        decisionId: "dec_1",
        handshake: false,
        at: 1_795_269_968_346.009_5,
        durationMs: 0.264_314,
        responseCode: 418,
        responseBytes: 5,
        details: "direct_response",
      },
    ]);
  });

  it("takes an answer as over with its last byte, and a connection with its stream", async () => {
    const socket = '{"websocket":{"sent":{"delivered":3},"received":{"delivered":4,"dropped":1,"masked":2}}}';
    const { outcomes, skipped } = await outcomesOf(
      { noted: { decision_id: "dec_1", outcome: MASKED } },
      { noted: { decision_id: "dec_2", outcome: socket }, decision: { state_epoch: "e" } },
    );
    const common = { responseCode: 200, responseBytes: 12, details: "via_upstream" };
    assert.deepEqual(outcomes, [
      {
        ...common,
        event: "response",
        response: { result: "masked", paths: ["$.ssn"], count: 1, dropped: 0 },
        decisionId: "dec_1",
        handshake: false,
        upstreamStatus: 200,
        at: 1_700_000_000_507.5,
        durationMs: 7.5,
      },
      {
        ...common,
        event: "connection",
        connection: {
          sent: { delivered: 3, dropped: 0 },
          received: { delivered: 4, dropped: 1, masked: 2 },
          denied: [],
          paths: [],
        },
        decisionId: "dec_2",
        handshake: true,
        at: 1_700_000_002_500,
        durationMs: 2_000,
      },
    ]);
    assert.deepEqual(skipped, {});
  });

  describe("says what it means that nothing was noted", () => {
    const cases: Record<string, [EntryParts, Partial<RequestOutcome> & object]> = {
      "the client left before the answer": [
        {
          decision: { decision_id: "dec_1" },
          common: { upstream_remote_address: { socket_address: { address: "192.0.2.1", port_value: 4 } } },
          response: { response_code: undefined, response_body_bytes: 0, response_code_details: "gone" },
        },
        {
          event: "response",
          response: { result: "unfinished", paths: [], count: 0, dropped: 0 },
          handshake: false,
          responseCode: 0,
        },
      ],
      "the answer had nothing to look at": [
        { noted: { decision_id: "dec_1", state: "done" } },
        { event: "response", response: { result: "unchanged", paths: [], count: 0, dropped: 0 } },
      ],
      "a connection without a message": [
        { noted: { decision_id: "dec_1", state: "stream" }, decision: { state_epoch: "e" } },
        {
          event: "connection",
          connection: {
            sent: { delivered: 0, dropped: 0 },
            received: { delivered: 0, dropped: 0, masked: 0 },
            denied: [],
            paths: [],
          },
        },
      ],
      "a handshake that came to nothing": [
        { decision: { decision_id: "dec_1", state_epoch: "e" } },
        {
          event: "response",
          response: { result: "unfinished", paths: [], count: 0, dropped: 0 },
          handshake: true,
        },
      ],
    };
    for (const [name, [parts, expected]] of Object.entries(cases)) {
      it(name, async () => {
        const { outcomes, skipped } = await outcomesOf(parts);
        assert.equal(outcomes.length, 1);
        assert.deepEqual({ ...outcomes[0], ...expected }, outcomes[0]);
        assert.equal(outcomes[0]?.decisionId, "dec_1");
        assert.deepEqual(skipped, {});
      });
    }
  });

  describe("keeps the decision where its outcome cannot be read", () => {
    for (const [name, outcome] of Object.entries({
      "no JSON": "{",
      "too long": `{"response":{"result":"masked","reason":"${"x".repeat(65_536)}"}}`,
      "something else": '{"response":{"result":"fine"}}',
      empty: "",
    })) {
      it(name, async () => {
        const { outcomes, skipped } = await outcomesOf({ noted: { decision_id: "dec_1", outcome } });
        assert.deepEqual(
          outcomes.map((one) => one.event === "response" && [one.decisionId, one.response]),
          [
            [
              "dec_1",
              { result: "unfinished", reason: "unreadable_outcome", paths: [], count: 0, dropped: 0 },
            ],
          ],
        );
        assert.deepEqual(skipped, { outcome: 1 });
      });
    }
  });

  it("takes an outcome of 64 KiB", async () => {
    const filler = "x".repeat(65_536 - '{"response":{"result":"masked"},"more":""}'.length);
    const outcome = `{"response":{"result":"masked"},"more":"${filler}"}`;
    assert.equal(outcome.length, 65_536);
    const { skipped } = await outcomesOf({ noted: { decision_id: "dec_1", outcome } });
    assert.deepEqual(skipped, {});
  });

  it("counts and passes over what is not the end of a request, or was decided without a plan", async () => {
    const noted = { decision_id: "dec_1", outcome: MASKED };
    const { outcomes, skipped } = await outcomesOf(
      { noted, common: { access_log_type: 5 } },
      { noted, common: { access_log_type: 10 } },
      { decision: { final: true } },
      { decision: { final: true }, noted: { decision_id: 7 } },
      { decision: { final: true }, noted: { outcome: MASKED } },
      { noted: { decision_id: "two words" } },
      { noted: { decision_id: "d".repeat(65) } },
    );
    assert.deepEqual(outcomes, []);
    assert.deepEqual(skipped, { intermediate: 2, no_plan: 3, malformed: 2 });
  });

  it("learns from entries of streams under way which connections are open, and nothing else", async () => {
    const open: string[] = [];
    const { take, outcomes, skipped } = accessLog(undefined, undefined, (id) => open.push(id));
    const common = { access_log_type: 5 };
    const noted = { decision_id: "dec_1", outcome: MASKED };
    take(
      message(
        { common, noted: {}, decision: { decision_id: "dec_1", state_epoch: "e" } },
        { common, noted, decision: { decision_id: "dec_2", state_epoch: "e" } },
        { common, noted, decision: { decision_id: "dec_3" } },
        { common, noted },
        { common, noted: {}, decision: { decision_id: "no id", state_epoch: "e" } },
        { common: { access_log_type: 4 }, noted, decision: { decision_id: "dec_4", state_epoch: "e" } },
      ),
    );
    assert.deepEqual(open, ["dec_1", "dec_2"]);
    assert.deepEqual(outcomes, []);
    assert.deepEqual(await skipped(), { intermediate: 4 });
  });

  it("takes entries of an Envoy that does not say their type", async () => {
    const { outcomes } = await outcomesOf({
      noted: { decision_id: "dec_1", outcome: MASKED },
      common: { access_log_type: 0 },
    });
    assert.equal(outcomes.length, 1);
  });

  it("has a time also where Envoy gives none that is one", async () => {
    const noted = { decision_id: "dec_1", outcome: MASKED };
    const times = async (common: object) => {
      const { outcomes } = await outcomesOf({ noted, common: { ...common } });
      return outcomes.map(({ at, durationMs }) => [at, durationMs]);
    };
    const none = { start_time: undefined, time_to_last_downstream_tx_byte: undefined, duration: undefined };
    assert.deepEqual(await times(none), [[NOW, 0]]);
    assert.deepEqual(await times({ ...none, start_time: { seconds: -1 } }), [[NOW, 0]]);
    assert.deepEqual(await times({ ...none, start_time: { seconds: 1e15 } }), [[NOW, 0]]);
    assert.deepEqual(await times({ ...none, start_time: { seconds: 1, nanos: 2e9 } }), [[NOW, 0]]);
    assert.deepEqual(await times({ start_time: { seconds: 8.64e12 }, duration: { seconds: 1 } }), [
      [NOW, 7.5],
    ]);
    assert.deepEqual(await times({ time_to_last_downstream_tx_byte: undefined }), [
      [1_700_000_002_500, 2_000],
    ]);
  });

  it("loses no other entry to a malformed one, or to a receiver that fails", async () => {
    const good = message({ noted: { decision_id: "dec_1", outcome: MASKED } });
    const torn = write((w) =>
      w
        .uint32(18)
        .fork()
        .uint32(10)
        .bytes(Buffer.from([0x0a, 0x7f]))
        .ldelim(),
    );
    const { take, outcomes, skipped } = accessLog();
    take(Buffer.concat([good, torn, good]));
    assert.equal(outcomes.length, 2);
    assert.deepEqual(await skipped(), { malformed: 1 });
    take(Buffer.concat([good, Buffer.from([0x12, 0x7f])]));
    assert.equal(outcomes.length, 3);
    assert.deepEqual(await skipped(), { malformed: 2 });

    let calls = 0;
    const failing = accessLog(() => {
      calls += 1;
      throw new Error("no");
    });
    failing.take(Buffer.concat([good, good]));
    assert.equal(calls, 2);
    assert.deepEqual(failing.logged, ["could not record an outcome", "could not record an outcome"]);
  });

  it("takes the last of a member that comes twice, and only where it is a string", () => {
    const entries = loadProtos("envoys");
    const withFields = (...fields: readonly Buffer[]) => {
      const metadata = write((w) => {
        const inner = w.uint32(10).fork().uint32(10).string("gatehouse").uint32(18).fork();
        for (const field of fields) inner.uint32(10).bytes(field);
        inner.ldelim().ldelim();
      });
      return write((w) =>
        w
          .uint32(18)
          .fork()
          .uint32(10)
          .fork()
          .uint32(10)
          .fork()
          .uint32(138)
          .bytes(metadata)
          .ldelim()
          .ldelim()
          .ldelim(),
      );
    };
    const field = (key: string, value: Buffer) =>
      write((w) => w.uint32(10).string(key).uint32(18).bytes(value));
    const text = (value: string) => write((w) => w.uint32(26).string(value));
    const yes = write((w) => w.uint32(32).bool(true));
    const idsOf = (bytes: Buffer) => {
      const { take, outcomes } = accessLog();
      take(bytes);
      return outcomes.map(({ decisionId }) => decisionId);
    };
    const one = field("decision_id", text("dec_1"));
    const two = field("decision_id", text("dec_2"));
    assert.deepEqual(idsOf(withFields(one, two)), ["dec_2"]);
    assert.deepEqual(idsOf(withFields(two, one)), ["dec_1"]);
    assert.deepEqual(idsOf(withFields(one, field("decision_id", yes))), []);
    assert.deepEqual(idsOf(withFields(field("decision_id", Buffer.concat([text("dec_1"), yes])))), []);
    assert.deepEqual(idsOf(withFields(field("decision_id", Buffer.concat([yes, text("dec_1")])))), ["dec_1"]);
    // Envoy's own reading of the same bytes
    assert.deepEqual(entries.lookupType(ACCESS_LOGS).decode(withFields(one)).toJSON(), {
      http_logs: {
        log_entry: [
          {
            common_properties: {
              metadata: {
                filter_metadata: { gatehouse: { fields: { decision_id: { stringValue: "dec_1" } } } },
              },
            },
          },
        ],
      },
    });
  });

  it("ignores logs of TCP connections", async () => {
    const { take, outcomes, skipped } = accessLog();
    const tcp = { tcp_logs: { log_entry: [{ common_properties: { stream_id: "1" } }] } };
    take(encodeWith(loadProtos("envoys"), ACCESS_LOGS, tcp));
    assert.deepEqual([outcomes, await skipped()], [[], {}]);
  });

  it("never throws, whatever the bytes are", () => {
    const sample = message(
      { noted: { decision_id: "dec_1", outcome: MASKED, state: "done" }, decision: { state_epoch: "e" } },
      { noted: { decision_id: "dec_2" } },
    );
    const mutated = fc
      .tuple(
        fc.array(fc.tuple(fc.nat(sample.length - 1), fc.nat(255)), { maxLength: 8 }),
        fc.nat(sample.length),
      )
      .map(([changes, end]) => {
        const bytes = Buffer.from(sample);
        for (const [at, value] of changes) bytes[at] = value;
        return bytes.subarray(0, end);
      });
    const anything = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.oneof(mutated, anything), (bytes) => {
        const { take, outcomes, logged } = accessLog();
        take(bytes);
        for (const { decisionId, at, durationMs, responseCode } of outcomes) {
          assert.match(decisionId, /^[\w-]{1,64}$/);
          assert.ok(new Date(at).toISOString() !== "" && durationMs >= 0 && responseCode >= 0);
        }
        assert.deepEqual(logged, []);
      }),
      { numRuns: runs(400) },
    );
  });
});

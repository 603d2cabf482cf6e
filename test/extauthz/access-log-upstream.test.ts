import assert from "node:assert/strict";
import { createAccessLog, type RequestOutcome } from "../../src/extauthz/access-log.ts";
import { outcomeRecord } from "../../src/extauthz/access-log-record.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { message, type EntryParts } from "./support/access-logs.ts";

const UPSTREAMS = new Map([
  ["backend", "http://a.test:1"],
  ["backend_1", "https://b.test"],
]);
/** Envoy's names for its flags, by the letters that its text logs have. */
const FLAGS = {
  UH: "no_healthy_upstream",
  UT: "upstream_request_timeout",
  LR: "local_reset",
  UR: "upstream_remote_reset",
  UF: "upstream_connection_failure",
  UC: "upstream_connection_termination",
  UO: "upstream_overflow",
  NR: "no_route_found",
  URX: "upstream_retry_limit_exceeded",
  UMSDR: "upstream_max_stream_duration_reached",
  UPE: "upstream_protocol_error",
  NC: "no_cluster_found",
  DF: "dns_resolution_failure",
} as const;
const SENT_ON = { upstream_remote_address: { socket_address: { address: "192.0.2.1", port_value: 4 } } };

async function readBy(everyRequest: boolean, ...entries: readonly EntryParts[]) {
  const outcomes: RequestOutcome[] = [];
  const metrics = createMetrics();
  createAccessLog({
    onOutcome: (outcome) => outcomes.push(outcome),
    onRefusal: () => undefined,
    metrics,
    upstreams: UPSTREAMS,
    everyRequest,
    log: { error: () => undefined },
  })(message(...entries));
  const [failures, skipped] = await Promise.all([
    metrics.upstreamFailures.get(),
    metrics.accessLogSkipped.get(),
  ]);
  return {
    outcomes,
    failures: failures.values.map(({ labels, value }) => [labels.upstream, labels.flag, value]),
    skipped: skipped.values.map(({ labels, value }) => [labels.cause, value]),
  };
}

/** A request that was allowed and sent on, and at which the application failed so. */
const failed = (flags: readonly (keyof typeof FLAGS)[], more: EntryParts = {}): EntryParts => ({
  decision: { final: true, record_id: "dec_1", ...more.decision },
  common: {
    ...SENT_ON,
    response_flags: Object.fromEntries(flags.map((flag) => [FLAGS[flag], true])),
    ...more.common,
  },
  response: { response_code: { value: 503 }, response_code_details: "upstream_reset", ...more.response },
  ...(more.noted && { noted: more.noted }),
});

describe("extauthz: access log, of applications that fail", () => {
  it("counts each flag by application, and nothing twice", async () => {
    const flags = Object.keys(FLAGS) as (keyof typeof FLAGS)[];
    const { failures, outcomes, skipped } = await readBy(
      false,
      ...flags.map((flag) => failed([flag])),
      failed(["UF", "URX"], { common: { upstream_cluster: "backend_1" } }),
      failed(["UC"], { common: { upstream_cluster: "backend_1" }, decision: { record_id: null } }),
    );
    assert.deepEqual(failures, [
      ...flags.map((flag) => ["http://a.test:1", flag, 1]),
      ["https://b.test", "UF", 1],
      ["https://b.test", "URX", 1],
      ["https://b.test", "UC", 1],
    ]);
    assert.deepEqual([outcomes, skipped], [[], []], "without the setting there is nothing else to say");
  });

  it("has a bounded label where no application was chosen, or nobody knows it", async () => {
    const { failures } = await readBy(
      false,
      failed(["NR"], { common: { upstream_cluster: "", upstream_remote_address: undefined } }),
      failed(["UF"], { common: { upstream_cluster: "of somebody else" } }),
      failed(["UF"], { common: { upstream_cluster: "of yet another" } }),
      { common: { upstream_cluster: "", response_flags: { no_route_found: true } } },
    );
    assert.deepEqual(failures, [
      ["none", "NR", 2],
      ["other", "UF", 2],
    ]);
  });

  it("counts other flags nowhere, and nothing before the end of a request", async () => {
    const other = {
      downstream_connection_termination: true,
      unauthorized_details: { reason: 1 },
      rate_limited: true,
    };
    const { failures } = await readBy(
      false,
      failed([], { common: { response_flags: other } }),
      failed(["UF"], { common: { access_log_type: 5 } }),
      failed([], { common: { response_flags: { upstream_connection_failure: false } } }),
    );
    assert.deepEqual(failures, []);
  });

  describe("with an outcome of every request", () => {
    const times = {
      time_to_first_upstream_tx_byte: { nanos: 2_000_000 },
      time_to_last_upstream_rx_byte: { nanos: 9_500_000 },
    };
    const record = async (parts: EntryParts) => {
      const { outcomes } = await readBy(true, parts);
      return outcomes[0] && outcomeRecord(outcomes[0]);
    };

    it("says what the application answered, and how long it took", async () => {
      const answered = { decision: { final: true, record_id: "dec_1" }, common: { ...SENT_ON, ...times } };
      const said = await record(answered);
      assert.deepEqual(said, {
        timestamp: "2023-11-14T22:13:20.507Z",
        event: "response",
        decision_id: "dec_1",
        response_code: 200,
        duration_ms: 7,
        response_bytes: 12,
        detail: "via_upstream",
        result: "delivered",
        masked_count: 0,
        masked_paths: [],
        documents_dropped: 0,
        upstream: "http://a.test:1",
        upstream_status: 200,
        upstream_ms: 7,
      });
    });

    it("says how it failed", async () => {
      const said = await record(failed(["UF", "URX"]));
      assert.deepEqual(
        [said?.result, said?.response_flags, said?.upstream_status, said?.upstream_ms, said?.response_code],
        ["failed", "UF,URX", undefined, undefined, 503],
      );
    });

    it("tells an answer that breaks off, and a client that leaves", async () => {
      const cut = await record(
        failed(["UC"], {
          response: {
            response_code: { value: 200 },
            response_code_details: "upstream_reset_after_response_started{x}",
          },
        }),
      );
      assert.deepEqual([cut?.result, cut?.upstream_status], ["failed", 200]);
      const left = await record(
        failed([], { common: { response_flags: { downstream_connection_termination: true } } }),
      );
      assert.equal(left?.result, "unfinished");
    });

    it("takes Envoy's answer for no answer that Lua has seen", async () => {
      const noted = {
        decision_id: "dec_2",
        state: "done",
        outcome: '{"response":{"result":"unchanged"}}',
        status: "503",
      };
      const said = await record(failed(["UF"], { noted }));
      assert.deepEqual(
        [said?.result, said?.upstream_status, said?.decision_id],
        ["failed", undefined, "dec_2"],
      );
    });

    it("tells what the application answered from what was delivered", async () => {
      const outcome = '{"response":{"result":"refused","reason":"not_json"}}';
      for (const [status, expected] of [
        ["200", 200],
        ["nonsense", 502],
        ["20000", 502],
      ] as const) {
        const said = await record({
          noted: { decision_id: "dec_2", state: "done", outcome, status },
          decision: { final: true, record_id: "dec_2" },
          common: SENT_ON,
          response: { response_code: { value: 502 } },
        });
        assert.deepEqual(
          [said?.result, said?.upstream_status, said?.response_code],
          ["refused", expected, 502],
        );
      }
    });

    it("has none of what was denied, or is not ours", async () => {
      const denied = { ...SENT_ON, response_flags: { unauthorized_details: { reason: 1 } } };
      const { outcomes, skipped } = await readBy(
        true,
        { decision: { final: true, record_id: "dec_1" }, common: denied },
        { decision: { final: true }, common: SENT_ON },
        { decision: { final: true, record_id: "no id\n" }, common: SENT_ON },
      );
      assert.deepEqual(outcomes, []);
      assert.deepEqual(skipped, [
        ["no_plan", 2],
        ["malformed", 1],
      ]);
    });

    it("names the decision of what was not sent on", async () => {
      const said = await record({
        decision: { final: true, record_id: "dec_1" },
        request: { request_id: "req_1" },
        response: { response_code: { value: 413 }, response_code_details: "request_payload_too_large" },
      });
      assert.deepEqual(
        [said?.result, said?.decision_id, said?.request_id],
        ["not_forwarded", "dec_1", "req_1"],
      );
    });
  });
});

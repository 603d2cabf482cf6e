import assert from "node:assert/strict";
import { serializeRecord } from "../../src/audit/serialize.ts";
import type { AuditRecord } from "../../src/protocol/record.ts";
import { readRecord } from "../../src/control/analytics/records/read-record.ts";
import { createAccessLog } from "../../src/extauthz/access-log.ts";
import {
  createRefusalHandler,
  mayBeDecided,
  notForwarded,
  refusalReason,
} from "../../src/extauthz/access-log-refusal.ts";
import { PROXY_REASONS, type ProxyReason } from "../../src/reasons.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { message, type EntryParts } from "./support/access-logs.ts";

const NOW = 1_800_000_000_000;

function refusals() {
  const records: AuditRecord[] = [];
  const errors: string[] = [];
  const metrics = createMetrics();
  const take = createAccessLog({
    onOutcome: () => assert.fail("no outcome was expected"),
    onRefusal: createRefusalHandler({
      audit: { recordRefusal: (build) => records.push(build()) > 0 },
      metrics,
      snapshot: () => ({ label: "default@v1", digest: "00" }),
      nextDecisionId: () => "dec_0",
      clientIp: ({ peer, remote, request }) =>
        [peer, remote, ...request.addresses.map((header) => header.join("="))].filter(Boolean).join("+"),
      clock: () => NOW,
    }),
    metrics,
    log: { error: (_, text) => errors.push(text) },
  });
  return {
    records,
    errors,
    metrics,
    take: (...entries: EntryParts[]) => {
      take(message(...entries));
    },
  };
}

const peer = (address: string) => ({ socket_address: { address, port_value: 4 } });

describe("extauthz: what Envoy refused itself", () => {
  it("may have been decided meanwhile where a check was under way, and then has an outcome instead", () => {
    const entry = {
      startedAt: NOW,
      endedAfter: 500,
      responseCode: 503,
      details: "ext_authz_error",
      flags: {},
      peer: "",
      remote: "",
      request: { id: "req_1", method: "GET", host: "", target: "/a", addresses: [] },
      forwarded: false,
      checkBegan: true,
    };
    const left = {
      details: "downstream_remote_disconnect",
      flags: { clientGone: true },
      responseCode: 0,
    } as const;
    assert.deepEqual(
      [
        entry,
        { ...entry, ...left },
        { ...entry, checkBegan: false },
        { ...entry, details: "local_rate_limited", responseCode: 429 },
        { ...entry, request: { ...entry.request, id: "" } },
      ].map(mayBeDecided),
      [true, true, false, false, false],
    );
    const { event, requestId, at, responseCode, ...more } = notForwarded({ ...entry, ...left });
    assert.deepEqual([event, requestId, at, responseCode], ["response", "req_1", NOW + 500, 0]);
    assert.ok("response" in more);
    assert.deepEqual([more.response.result, more.response.reason], ["not_forwarded", "CLIENT_GONE"]);
  });

  it("is a denial with what is known of the request, without values", () => {
    const { records, take } = refusals();
    take({
      common: {
        downstream_direct_remote_address: peer("192.0.2.7"),
        downstream_remote_address: peer("192.0.2.8"),
      },
      request: {
        request_method: 3,
        authority: "app.test",
        path: "/a;p=1?secret=2",
        request_id: "req-1",
        request_headers: {
          ":method": "PROPFIND",
          "x-real-ip": "192.0.2.9,192.0.2.10",
          "x-forwarded-for": "192.0.2.11,192.0.2.12",
        },
      },
      response: { response_code: { value: 429 }, response_code_details: "local_rate_limited" },
    });
    assert.deepEqual(records, [
      {
        timestamp: "2023-11-14T22:13:20.500Z",
        request_id: "req-1",
        user_id: "",
        resource: "/a;p=***",
        action: "PROPFIND",
        decision: "DENY",
        policy_set: "default@v1",
        evaluation_time_ms: 0,
        client_ip:
          "192.0.2.7+192.0.2.8+x-real-ip=192.0.2.9+x-real-ip=192.0.2.10+x-forwarded-for=192.0.2.11,192.0.2.12",
        decision_id: "dec_0",
        reason: "RATE_LIMITED",
        rule: null,
        policy_digest: "00",
        host: "app.test",
        raw_path: "/a;p=***?secret=***",
        evaluation_time_us: 0,
        detail: "local_rate_limited",
      },
    ]);
  });

  it("has no address of a list that was cut, because lists are read from their end", () => {
    const { records, take } = refusals();
    const response = { response_code: { value: 429 }, response_code_details: "local_rate_limited" };
    const common = {
      downstream_direct_remote_address: peer("192.0.2.7"),
      downstream_remote_address: peer("192.0.2.8"),
    };
    const list = (blanks: number) => `1.1.1.1,${" ".repeat(blanks)}6.6.6.6, 9.9.9.9`;
    for (const blanks of [241, 65_536])
      take({
        common,
        request: { request_headers: { "x-real-ip": "6.6.6.6", "x-forwarded-for": list(blanks) } },
        response,
      });
    const both = "192.0.2.7+192.0.2.8";
    assert.deepEqual(
      records.map(({ client_ip }) => client_ip),
      [`${both}+x-real-ip=6.6.6.6+x-forwarded-for=${list(241)}`, both],
    );
  });

  it("has the id with which it was answered: Envoy may have made its own no earlier", () => {
    const { records, take } = refusals();
    const request = { request_id: "made-up" };
    const response = { response_code: { value: 426 }, response_code_details: "low_version" };
    take(
      {
        request,
        response: { ...response, response_headers: { vary: "accept", "x-request-id": "answered" } },
      },
      { request, response: { ...response, response_headers: { vary: "accept" } } },
    );
    assert.deepEqual(
      records.map(({ request_id }) => request_id),
      ["answered", "made-up"],
    );
  });

  it("may be nothing that could be read", () => {
    const { records, take } = refusals();
    take({
      common: { start_time: undefined, response_flags: { downstream_protocol_error: true } },
      request: { path: "", request_method: 200 },
      response: { response_code: { value: 400 }, response_code_details: "http1.codec_error" },
    });
    const [record] = records;
    assert.deepEqual(
      [record?.reason, record?.action, record?.resource, record?.request_id, record?.client_ip],
      ["MALFORMED_REQUEST", "", "", "", ""],
    );
    assert.equal(record?.timestamp, new Date(NOW).toISOString());
  });

  it("is a record that the control plane takes", () => {
    const { records, take } = refusals();
    take(
      { request: { path: "" } },
      { request: { path: `/${"x".repeat(60_000)}?a=1`, authority: "a".repeat(300) } },
    );
    for (const record of records) {
      const read = readRecord(JSON.parse(serializeRecord(record, false)));
      assert.ok(typeof read === "object", typeof read === "string" ? read : "");
      assert.deepEqual([read.row.kind, read.row.decision, read.guarded], ["decision", "DENY", ""]);
    }
    assert.equal(records.length, 2);
  });

  it("is counted as a decision, by reason", async () => {
    const { metrics, take } = refusals();
    const limited = { response: { response_code_details: "local_rate_limited" } };
    take(limited, limited, { response: { response_code_details: "low_version" } });
    const { values } = await metrics.decisions.get();
    assert.deepEqual(
      values.map(({ labels, value }) => [labels.decision, labels.reason, value]),
      [
        ["DENY", "RATE_LIMITED", 2],
        ["DENY", "UPGRADE_REQUIRED", 1],
      ],
    );
  });

  it("is nothing that a decision answers for", () => {
    const { records, take } = refusals();
    take({ decision: { final: true } }, { decision: { final: false } }, { decision: { final: "true" } }, {});
    assert.equal(records.length, 3);
  });

  it("is nothing that was sent on: that is an error of ours, which is logged", async () => {
    const { records, errors, metrics, take } = refusals();
    take({ common: { upstream_remote_address: peer("192.0.2.1") } });
    assert.deepEqual(records, []);
    assert.deepEqual(errors, ["envoy forwarded a request without a decision"]);
    const { values } = await metrics.accessLogSkipped.get();
    assert.deepEqual(values[0]?.labels, { cause: "undecided" });
  });

  describe("has its reason", () => {
    const gone = { clientGone: true } as const;
    const malformed = { malformed: true } as const;
    const cases: readonly [
      details: string,
      responseCode: number,
      flags: Parameters<typeof refusalReason>[0]["flags"],
      reason: ProxyReason,
    ][] = [
      ["path_normalization_failed", 400, {}, "PATH_REFUSED"],
      ["absolute_path_rejected", 404, {}, "PATH_REFUSED"],
      ["http1.unexpected_underscore", 400, malformed, "MALFORMED_REQUEST"],
      ["http1.headers_too_large", 431, malformed, "HEADERS_TOO_LARGE"],
      ["http2.header_list_size_too_large", 0, gone, "HEADERS_TOO_LARGE"],
      ["something_new", 431, {}, "HEADERS_TOO_LARGE"],
      ["http1.too_many_headers", 431, malformed, "TOO_MANY_HEADERS"],
      ["http2.too_many_headers", 0, gone, "TOO_MANY_HEADERS"],
      ["rbac_access_denied_matched_policy[request_too_large]", 413, {}, "REQUEST_TOO_LARGE"],
      ["rbac_access_denied_matched_policy[too_many_uploads]", 503, {}, "OVERLOADED"],
      ["request_payload_too_large", 413, {}, "REQUEST_TOO_LARGE"],
      ["local_rate_limited", 429, {}, "RATE_LIMITED"],
      ["low_version", 426, malformed, "UPGRADE_REQUIRED"],
      ["upgrade_failed", 403, {}, "UPGRADE_NOT_SUPPORTED"],
      ["request_overall_timeout", 408, {}, "REQUEST_TIMEOUT"],
      ["route_not_found", 404, {}, "ROUTE_NOT_FOUND"],
      ["ext_authz_error", 503, {}, "DECISION_UNAVAILABLE"],
      ["overload", 503, { overloaded: true }, "OVERLOADED"],
      ["envoy_overloaded", 503, { overloaded: true }, "OVERLOADED"],
      ["http1.codec_error", 400, malformed, "MALFORMED_REQUEST"],
      ["http1.invalid_transfer_encoding", 501, malformed, "MALFORMED_REQUEST"],
      ["http2.remote_reset", 0, malformed, "MALFORMED_REQUEST"],
      ["http2.violation.of.messaging.rule", 0, gone, "MALFORMED_REQUEST"],
      ["missing_host_header", 400, {}, "MALFORMED_REQUEST"],
      ["http2.remote_reset", 0, gone, "CLIENT_GONE"],
      ["downstream_remote_disconnect", 0, gone, "CLIENT_GONE"],
      ["toString", 500, {}, "REFUSED_BY_PROXY"],
      ["", 0, {}, "REFUSED_BY_PROXY"],
    ];
    for (const [details, responseCode, flags, reason] of cases)
      it(`${details || "nothing"} (${responseCode}) ${JSON.stringify(flags)}: ${reason}`, () => {
        assert.equal(refusalReason({ details, responseCode, flags }), reason);
      });
    it("ext_authz_error of a check that Envoy did not let begin: OVERLOADED", () => {
      const { records, take } = refusals();
      const failed = { response_code: { value: 503 }, response_code_details: "ext_authz_error" };
      const tagged = (id: string, tags: Readonly<Record<string, string>>): EntryParts => ({
        ...{ request: { request_id: id }, response: failed },
        common: { custom_tags: tags },
      });
      take(
        tagged("req_1", {}),
        tagged("req_2", { check_bytes: "0" }),
        tagged("req_3", { check_bytes: "500", body_check_us: "99" }),
        tagged("req_4", { check_bytes: "500", body_check_us: "99", body_check_bytes: "700" }),
      );
      assert.deepEqual(
        records.map(({ request_id, reason }) => [request_id, reason]),
        [
          ["req_1", "OVERLOADED"],
          ["req_2", "DECISION_UNAVAILABLE"],
          ["req_3", "OVERLOADED"],
          ["req_4", "DECISION_UNAVAILABLE"],
        ],
      );
    });
    it("and every reason of the table has a case", () => {
      const met = new Set(cases.map(([, , , reason]) => reason));
      assert.deepEqual(
        PROXY_REASONS.filter((reason) => !met.has(reason)),
        [],
      );
    });
  });
});

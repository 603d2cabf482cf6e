import assert from "node:assert/strict";
import { renderDenial, type DenialInput } from "../../../src/decision/denial/denial.ts";
import type { Reason } from "../../../src/reasons.ts";

function render(change: Partial<DenialInput> = {}) {
  const { status, headers, body } = renderDenial({
    reason: "CONDITION_FALSE",
    requestId: "req-1",
    method: "POST",
    resource: "/a.Service/Say",
    headers: {},
    details: "none",
    now: 0,
    ...change,
  });
  assert.equal(new Set(headers.map(([name]) => name)).size, headers.length, "a header is given twice");
  return { status, headers: new Map(headers), body };
}

describe("decision: denial of gRPC calls", () => {
  describe("gRPC", () => {
    it("leaves the content type to Envoy and names a gRPC status", () => {
      const expected: Partial<Record<Reason, string>> = {
        AMBIGUOUS_PATH: "3",
        TOKEN_EXPIRED: "16",
        CONDITION_FALSE: "7",
        INTERNAL_ERROR: "13",
        POLICY_NOT_READY: "14",
      };
      for (const [reason, status] of Object.entries(expected)) {
        const { headers } = render({
          reason: reason as Reason,
          headers: { "content-type": ["application/grpc"], accept: ["text/html"] },
        });
        assert.equal(headers.get("grpc-status"), status, reason);
        assert.ok(!headers.has("content-type"));
      }
    });

    it("has a short message as its body", () => {
      const headers = { "content-type": ["application/grpc+proto"] };
      assert.equal(render({ headers }).body, "ACCESS_DENIED: access is denied");
      assert.equal(
        render({ headers, details: "reason" }).body,
        "ACCESS_DENIED: the rule's condition is false",
      );
    });

    it("is told by the content type alone, where Envoy recognizes it", () => {
      for (const [type, expected] of [
        ["application/grpc", true],
        ["application/grpc+json", true],
        ["APPLICATION/GRPC", false],
        ["application/grpc; charset=utf-8", false],
        ["application/grpc-web+proto", false],
        ["application/json", false],
      ] as const) {
        const { body } = render({ headers: { "content-type": [type] } });
        assert.equal(body.startsWith("ACCESS_DENIED"), expected, type);
      }
    });
  });

  describe("gRPC-Web, and gRPC in other spellings", () => {
    const of = (type: string, more: Partial<DenialInput> = {}) =>
      render({ headers: { "content-type": [type], accept: ["text/html"] }, ...more });

    it("keeps the HTTP status, and has gRPC's in its headers and no body", () => {
      const types = ["application/grpc-web", "application/grpc-web-text", "Application/gRPC-Web+proto"];
      for (const type of [...types, "application/grpc;x=y", "application/grpc; x", "APPLICATION/GRPC"]) {
        const { status, headers, body } = of(type);
        assert.deepEqual(
          [status, headers.get("grpc-status"), headers.get("grpc-message"), body],
          [403, "7", "ACCESS_DENIED: access is denied", ""],
          type,
        );
        assert.equal(headers.get("content-type"), undefined, type);
        assert.equal(headers.get("cache-control"), "no-store", type);
      }
    });

    it("says what HTTP says", () => {
      const { status, headers } = of("application/grpc-web", { reason: "TOKEN_EXPIRED" });
      assert.deepEqual([status, headers.get("grpc-status")], [401, "16"]);
      assert.match(headers.get("www-authenticate") ?? "", /invalid_token/);
      const overloaded = of("application/grpc-web", { reason: "OVERLOADED" }).headers;
      assert.deepEqual([overloaded.get("grpc-status"), overloaded.get("retry-after")], ["14", "1"]);
    });

    it("is not what only begins like it", () => {
      for (const type of [
        "application/grpcx",
        "application/grpc-webx",
        "application/grpc-web-textual",
        "x/grpc",
      ])
        assert.equal(of(type).headers.get("grpc-status"), undefined, type);
    });
  });
});

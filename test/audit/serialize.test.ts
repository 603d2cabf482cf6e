import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_LINE, MAX_TRACED_LINE, serializeRecord } from "../../src/audit/serialize.ts";
import type { AuditRecord } from "../../src/protocol/record.ts";
import { auditRecord } from "./support/records.ts";

const FULL = auditRecord({
  rule_name: "read a customer",
  rule_resource: "GET /api/customers/{customer_id}",
  customer_id: "c1",
  trace_id: "ab".repeat(16),
  detail: "nothing",
  unknown: ["user.department: missing"],
  accepted_ambiguities: ["dot_segment", "fragment"],
});

const TEXT_FIELDS = Object.entries(FULL)
  .filter(([, value]) => typeof value === "string")
  .map(([name]) => name)
  .filter((name) => name !== "decision");

const SECRETS = ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl", "Bearer s3cr3t-value"];

/** Text as an attacker would send it: any code unit, secrets in between, of any length. */
const hostileText = fc
  .tuple(
    fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ unit: "grapheme", maxLength: 200 })),
    fc.constantFrom("", ...SECRETS, "\u0000\r\n", '"\\', "\u202e", "\ud800", "\u2028"),
    fc.constantFrom(1, 1, 1, 50, 2_000),
  )
  .map(([text, extra, times]) => `${text} ${extra} `.repeat(times));

const hostileRecord = fc
  .record({
    texts: fc.array(hostileText, { minLength: TEXT_FIELDS.length, maxLength: TEXT_FIELDS.length }),
    number: fc.oneof(fc.double(), fc.integer()),
    accepted: fc.array(hostileText, { maxLength: 30 }),
    trace: fc.anything(),
  })
  .map(({ texts, number, accepted, trace }) => ({
    ...FULL,
    ...Object.fromEntries(TEXT_FIELDS.map((name, i) => [name, texts[i]])),
    evaluation_time_ms: number,
    evaluation_time_us: number,
    unknown: accepted,
    accepted_ambiguities: accepted,
    trace,
  }));

function assertSafe(line: string): void {
  assert.match(line, /^\{[\x20-\x7e]*\}\n$/, "one line of printable ASCII");
  const texts: string[] = [];
  JSON.parse(line, (_key, value: unknown) => {
    if (typeof value === "string") texts.push(value);
    return value;
  });
  for (const text of texts) {
    assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    assert.doesNotMatch(text, /eyJhbGciOiJ|eyJzdWIi|c2lnbmF0|s3cr3t/);
  }
}

describe("audit: a record's line", () => {
  it("is one JSON object with the fields of the contract in their order", () => {
    const trace = { matched: "policies[0]" };
    const line = serializeRecord({ ...FULL, trace }, true);
    const order = [
      [
        "timestamp",
        "request_id",
        "user_id",
        "resource",
        "action",
        "decision",
        "policy_set",
        "evaluation_time_ms",
      ],
      [
        "client_ip",
        "decision_id",
        "reason",
        "rule",
        "rule_name",
        "rule_resource",
        "policy_digest",
        "customer_id",
        "host",
        "raw_path",
      ],
      ["evaluation_time_us", "trace_id", "detail", "unknown", "accepted_ambiguities", "trace"],
    ].flat();
    assert.deepEqual(Object.keys(JSON.parse(line) as object), order);
    assert.deepEqual(JSON.parse(line), { ...FULL, trace });
    assert.ok(line.endsWith("}\n"));
  });

  it("leaves out what is absent, the trace below level debug, and what the contract does not know", () => {
    const line = serializeRecord(
      { ...auditRecord({ rule: null }), trace: {}, token: "x" } as AuditRecord,
      false,
    );
    assert.deepEqual(JSON.parse(line), auditRecord({ rule: null }));
  });

  it("has one spelling of what a rule guards, however long its pattern and the line are", () => {
    const spelled = (pattern: string, raw_path: string) => {
      const line = serializeRecord(auditRecord({ rule_resource: `GET /${pattern}`, raw_path }), false);
      return (JSON.parse(line) as AuditRecord).rule_resource;
    };
    for (const pattern of ["{id}", "a/".repeat(150), "é/".repeat(100)])
      assert.equal(spelled(pattern, `/${"r".repeat(3_000)}`), spelled(pattern, "/"));
    assert.ok((spelled("a/".repeat(1_000), "/")?.length ?? Infinity) <= 192);
  });

  it("keeps names in any script", () => {
    const line = serializeRecord(auditRecord({ user_id: "José 東京 🙂" }), false);
    assert.equal((JSON.parse(line) as AuditRecord).user_id, "José 東京 🙂");
    assertSafe(line);
  });

  it("hides query values in the paths", () => {
    const line = serializeRecord(auditRecord({ raw_path: "/a?code=1234", resource: "/a?code=1234" }), false);
    assert.ok(!line.includes("1234"));
  });

  it("rounds numbers down and has none that is not one", () => {
    const numbers = (ms: number, us: number) => {
      const line = serializeRecord(auditRecord({ evaluation_time_ms: ms, evaluation_time_us: us }), false);
      const record = JSON.parse(line) as AuditRecord;
      return [record.evaluation_time_ms, record.evaluation_time_us];
    };
    assert.deepEqual(numbers(1.9, 1900.2), [1, 1900]);
    assert.deepEqual(numbers(Number.NaN, Infinity), [0, 0]);
  });

  it("survives fields of a wrong type", () => {
    const wrong = {
      user_id: 7,
      host: { a: 1 },
      detail: null,
      accepted_ambiguities: "x",
      evaluation_time_ms: "1",
    };
    const line = serializeRecord({ ...auditRecord(), ...wrong } as unknown as AuditRecord, false);
    const { user_id, host, detail, accepted_ambiguities, evaluation_time_ms } = JSON.parse(
      line,
    ) as AuditRecord;
    assert.deepEqual(
      [user_id, host, detail, accepted_ambiguities, evaluation_time_ms],
      ["7", "", null, [], 0],
    );
  });

  it("stays under 4096 bytes and safe, whatever is in it", () => {
    fc.assert(
      fc.property(hostileRecord, (record) => {
        const line = serializeRecord(record, false);
        assert.ok(line.length < MAX_LINE, `${line.length}`);
        assertSafe(line);
      }),
    );
    const worst = Object.fromEntries(TEXT_FIELDS.map((name) => [name, "🙂".repeat(10_000)]));
    const accepted = Array.from({ length: 50 }, () => "🙂".repeat(50));
    const line = serializeRecord(
      { ...FULL, ...worst, unknown: accepted, accepted_ambiguities: accepted },
      false,
    );
    assert.ok(line.length > MAX_LINE / 2 && line.length < MAX_LINE, `${line.length}`);
  });

  it("stays under its limit at every length in between", () => {
    for (let length = 0; length < 900; length++) {
      const long = "a".repeat(2_000);
      const record = auditRecord({ raw_path: long, host: "h".repeat(250), detail: "d".repeat(length) });
      assert.ok(serializeRecord({ ...record, resource: "r".repeat(450) }, false).length < MAX_LINE);
    }
    for (let length = 64_000; length < 65_536; length++) {
      const trace = Array.from({ length: 64 }, (_, i) => "t".repeat(i === 0 ? length - 64_000 : 1_000));
      assert.ok(serializeRecord(auditRecord({ trace }), true).length < MAX_TRACED_LINE);
    }
  });

  it("stays under 64 KiB and safe with a trace, and says where the trace was too long", () => {
    fc.assert(
      fc.property(hostileRecord, (record) => {
        const line = serializeRecord(record, true);
        assert.ok(line.length < MAX_TRACED_LINE, `${line.length}`);
        assertSafe(line);
      }),
    );
    const trace = Array.from({ length: 500 }, () => "x".repeat(1_000));
    const record = JSON.parse(serializeRecord(auditRecord({ trace }), true)) as AuditRecord;
    assert.equal(record.trace, "left out: 501501 characters");
  });
});

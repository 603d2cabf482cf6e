import assert from "node:assert/strict";
import fc from "fast-check";
import { MAX_LINE, serializeOutcome } from "../../src/audit/serialize.ts";
import type { OutcomeRecord } from "../../src/protocol/record.ts";
import { runs } from "../support/runs.ts";
import { outcomeRecord } from "./support/records.ts";

const FULL: OutcomeRecord = {
  timestamp: "2026-01-02T03:04:05.678Z",
  event: "connection",
  decision_id: "dec_0",
  response_code: 101,
  duration_ms: 1,
  result: "closed",
  reason: "compressed",
  masked_count: 2,
  masked_paths: ["$.ssn", "$.rows[*].ssn"],
  documents_dropped: 3,
  response_bytes: 4,
  response_flags: "UC,URX",
  upstream: "http://127.0.0.1:3000",
  upstream_status: 200,
  upstream_ms: 9,
  sent_delivered: 5,
  sent_dropped: 6,
  received_delivered: 7,
  received_dropped: 8,
  denied_messages: [
    { direction: "send", rule: "websocket_policies[0]", type: "cancel", count: 6 },
    {
      direction: "send",
      rule: "websocket_policies[0]",
      type: "cancel",
      policy_digest: "2".repeat(64),
      count: 1,
    },
  ],
  policy_digests: ["2".repeat(64), "1".repeat(64)],
  close_code: 1008,
  close_reason: "TOKEN_EXPIRED",
  closed_by: "expiry",
  detail: "via_upstream",
};

const SECRETS = ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl", "Bearer s3cr3t-value"];
const hostileText = fc
  .tuple(
    fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ unit: "grapheme", maxLength: 200 })),
    fc.constantFrom("", ...SECRETS, "\u0000\r\n", '"\\', "\u202e", "\ud800", "\u2028"),
    fc.constantFrom(1, 1, 1, 50, 2_000),
  )
  .map(([text, extra, times]) => `${text} ${extra} `.repeat(times));
const number = fc.oneof(fc.double(), fc.integer(), fc.constant(Number.MAX_SAFE_INTEGER));
const denied = fc.record(
  { direction: hostileText, rule: hostileText, type: hostileText, policy_digest: hostileText, count: number },
  { requiredKeys: ["direction", "rule", "type", "count"] },
);

/** Every text hostile, every number any. */
const hostileRecord = fc
  .record({
    texts: fc.array(hostileText, { minLength: 10, maxLength: 10 }),
    numbers: fc.array(number, { minLength: 14, maxLength: 14 }),
    masked_paths: fc.array(hostileText, { maxLength: 60 }),
    policy_digests: fc.array(hostileText, { maxLength: 20 }),
    denied_messages: fc.array(denied, { maxLength: 30 }),
  })
  .map(({ texts, numbers, ...lists }) => {
    const members = Object.entries(FULL).map(([name, value]) => {
      if (typeof value === "string") return [name, texts.pop() ?? ""] as const;
      return [name, typeof value === "number" ? numbers.pop() : value] as const;
    });
    return { ...Object.fromEntries(members), ...lists } as unknown as OutcomeRecord;
  });

function assertSafe(line: string): void {
  assert.ok(line.length < MAX_LINE, `${line.length}`);
  assert.match(line, /^\{[\x20-\x7e]*\}\n$/, "one line of printable ASCII");
  JSON.parse(line, (_key, value: unknown) => {
    if (typeof value !== "string") return value;
    assert.doesNotMatch(value, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    assert.doesNotMatch(value, /eyJhbGciOiJ|eyJzdWIi|c2lnbmF0|s3cr3t/);
    return value;
  });
}

describe("audit: an outcome's line", () => {
  it("is one JSON object with the fields of the contract in their order", () => {
    const reversed = Object.fromEntries(Object.entries(FULL).reverse()) as unknown as OutcomeRecord;
    const line = serializeOutcome(reversed);
    assert.deepEqual(Object.keys(JSON.parse(line) as object), [
      ...["timestamp", "event", "decision_id", "response_code", "duration_ms", "result", "reason"],
      ...["masked_count", "masked_paths", "documents_dropped", "response_bytes"],
      ...["response_flags", "upstream", "upstream_status", "upstream_ms"],
      ...["sent_delivered", "sent_dropped", "received_delivered", "received_dropped", "denied_messages"],
      ...["policy_digests", "close_code", "close_reason", "closed_by", "detail"],
    ]);
    assert.deepEqual(JSON.parse(line), FULL);
    assert.ok(line.endsWith("}\n"));
  });

  it("leaves out what is absent, and what the contract does not know", () => {
    const line = serializeOutcome({ ...outcomeRecord(), value: "123-45-6789" } as OutcomeRecord);
    assert.deepEqual(JSON.parse(line), outcomeRecord());
  });

  it("stays under 4096 bytes and safe, whatever is in it", () => {
    fc.assert(
      fc.property(hostileRecord, (record) => {
        assertSafe(serializeOutcome(record));
      }),
      { numRuns: runs(100) },
    );
    const long = "🙂".repeat(5_000);
    const texts = Object.entries(FULL).map(([name, value]) => [
      name,
      typeof value === "string" ? long : 2 ** 53 - 1,
    ]);
    const worst = {
      ...(Object.fromEntries(texts) as OutcomeRecord),
      masked_paths: Array<string>(50).fill(long),
      denied_messages: Array(20).fill({
        ...{ direction: long, rule: long, type: long, policy_digest: long },
        count: 2 ** 40,
      }),
      policy_digests: Array<string>(10).fill(long),
    } as unknown as OutcomeRecord;
    const line = serializeOutcome(worst);
    assertSafe(line);
    assert.ok(line.length > MAX_LINE / 2, `${line.length}`);
  });

  it("stays under its limit at every length in between", () => {
    for (let length = 0; length < 1_500; length++) {
      const record = outcomeRecord({
        masked_paths: Array<string>(9).fill("p".repeat(250)),
        denied_messages: Array.from({ length: 4 }, () => ({
          direction: "send",
          rule: "r".repeat(80),
          type: "t",
          count: 1,
        })),
        detail: "d".repeat(250),
        close_reason: "c".repeat(length),
        reason: "r".repeat(length),
      });
      assert.ok(serializeOutcome(record).length < MAX_LINE);
    }
  });

  it("says where paths found no room", () => {
    const paths = Array.from({ length: 300 }, (_, i) => `$.rows[${i}].ssn`);
    const written = JSON.parse(serializeOutcome(outcomeRecord({ masked_paths: paths }))) as OutcomeRecord;
    const kept = written.masked_paths.slice(0, -1);
    assert.ok(kept.length > 50);
    assert.deepEqual(kept, paths.slice(0, kept.length));
    assert.equal(written.masked_paths.at(-1), "...");
    const few = JSON.parse(
      serializeOutcome(outcomeRecord({ masked_paths: paths.slice(0, 50) })),
    ) as OutcomeRecord;
    assert.deepEqual(few.masked_paths, paths.slice(0, 50));
  });

  it("keeps the sum of denied messages where not all find room", () => {
    const messages = Array.from({ length: 60 }, (_, i) => ({
      direction: "send",
      rule: `websocket_policies[${i}]`,
      type: "t".repeat(100),
      count: i,
    }));
    const line = serializeOutcome(outcomeRecord({ denied_messages: messages }));
    const { denied_messages: written = [] } = JSON.parse(line) as OutcomeRecord;
    assert.ok(written.length > 3 && written.length < 60);
    assert.deepEqual(written.slice(0, -1), messages.slice(0, written.length - 1));
    assert.equal(written.at(-1)?.type, "...");
    const sum = (list: typeof written) => list.reduce((total, { count }) => total + count, 0);
    assert.equal(sum(written), sum(messages));
  });

  it("survives fields of a wrong type", () => {
    const wrong = {
      masked_paths: "x",
      denied_messages: [null, 7, { count: "1" }],
      detail: {},
      masked_count: null,
    };
    const line = serializeOutcome({ ...FULL, ...wrong } as unknown as OutcomeRecord);
    const record = JSON.parse(line) as Record<string, unknown>;
    const empty = { direction: "", rule: "", type: "", count: 0 };
    assert.deepEqual(
      [record["masked_paths"], record["denied_messages"], record["detail"], record["masked_count"]],
      [[], [empty, empty, empty], "", null],
    );
  });
});

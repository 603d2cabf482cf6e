import assert from "node:assert/strict";
import { MAX_LINE, serializeOutcome } from "../../src/audit/serialize.ts";
import type { RolloutRecord, ShadowRecord } from "../../src/protocol/record.ts";

const SHADOW: ShadowRecord = {
  timestamp: "2026-01-02T03:04:05.678Z",
  event: "shadow_decision",
  request_id: "req-1",
  user_id: "u-1",
  customer_id: "c-1",
  resource: "/api/orders",
  action: "GET",
  difference: "denies",
  policy_set: "default@v1",
  policy_digest: "00",
  decision: "ALLOW",
  reason: "CONDITION_TRUE",
  rule: "policies[0]",
  candidate_policy_set: "default@v2",
  candidate_digest: "11",
  candidate_decision: "DENY",
  candidate_reason: "NO_MATCHING_RULE",
  candidate_rule: null,
  candidate_detail: "detail",
};
const ROLLOUT: RolloutRecord = {
  timestamp: "2026-01-02T03:04:05.678Z",
  event: "rollout",
  decision_id: "dec_0",
  change: "rolled_back",
  policy_set: "default@v2",
  policy_digest: "11",
  mode: "enforce",
  percentage: 0,
  cause: "denials",
  detail: "denials: 50.0 % with the candidate, 10.0 % with the stable set",
};

describe("audit: the line of a rollout's event", () => {
  for (const record of [SHADOW, ROLLOUT]) {
    it(`has every field in its order: ${record.event}`, () => {
      const line = serializeOutcome(record);
      assert.deepEqual(JSON.parse(line), record);
      assert.deepEqual(Object.keys(JSON.parse(line) as object), Object.keys(record));
    });

    it(`stays under 4096 bytes, and hides values in paths, whatever is in it: ${record.event}`, () => {
      const long = `/x?token=secret${"🙂\u202e".repeat(5_000)}`;
      const worst = Object.fromEntries(
        Object.entries(record).map(([name, value]) => [
          name,
          name === "event" || typeof value !== "string" ? value : long,
        ]),
      ) as unknown as typeof record;
      const line = serializeOutcome(worst);
      assert.ok(line.length < MAX_LINE, String(line.length));
      assert.match(line, /^\{[\x20-\x7e]*\}\n$/);
      const { resource } = JSON.parse(line) as { resource?: string };
      assert.ok(!resource?.includes("secret"));
    });
  }
});

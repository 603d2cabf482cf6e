import { strict as assert } from "node:assert";
import { readDecisionRecord, replayRecord } from "../../../src/decision/replay/index.ts";
import { recordOf, outcomeOf, rule } from "./support.ts";

describe("replaying the records of a rollout", () => {
  it("follows the arm of a rollout: what the candidate's rules read, and its verdict", async () => {
    const stable = rule('user.role == "admin"');
    const set = rule('user.department == "sales"');
    const user = { id: "u1", role: "admin", department: "support" };
    const keep = ["user.role", "user.department"];
    const [ofStable, ofCandidate] = await Promise.all(
      [0, 100].map((percentage) =>
        recordOf(stable, { user }, { candidate: { set, percentage, mode: "enforce" } }),
      ),
    );
    assert.ok(ofStable && ofCandidate);
    assert.deepEqual(
      [ofStable, ofCandidate].map(({ decision, rollout_arm: arm, policy_digest: digest, inputs }) => [
        ...[decision, arm, digest],
        inputs && "redacted" in inputs && inputs.redacted,
      ]),
      [
        ["ALLOW", "stable", stable.digest, ["user.role"]],
        ["DENY", "candidate", set.digest, ["user.department"]],
      ],
    );
    const kept = await recordOf(
      stable,
      { user },
      { keep, candidate: { set, percentage: 100, mode: "enforce" } },
    );
    // the stable set would permit it, and was not asked
    const { outcome, reproduced } = replayRecord(kept, { candidate: set, stable });
    assert.deepEqual([outcome, reproduced], [{ kind: "replayed", change: undefined }, true]);
    assert.equal(outcomeOf(kept, { candidate: stable }), "gains");
    const another = rule('user.department == "support"');
    const unknown = replayRecord(kept, { candidate: another, stable });
    assert.deepEqual(
      [outcomeOf(kept, { candidate: another }), unknown.reproduced],
      ["gains", undefined],
      "neither set has decided",
    );
    const shadowed = await recordOf(
      stable,
      { user },
      { keep, candidate: { set, percentage: 100, mode: "shadow" } },
    );
    assert.deepEqual([shadowed.decision, shadowed.rollout_arm], ["ALLOW", ""]);
    assert.equal(outcomeOf(shadowed, { candidate: set }), "loses");
  });

  it("takes no record of another kind for a decision, though it has a verdict", () => {
    const shadow = { event: "shadow_decision", decision: "ALLOW", reason: "CONDITION_TRUE" };
    assert.deepEqual(readDecisionRecord(shadow), { event: "shadow_decision" });
    assert.deepEqual(readDecisionRecord({ event: "response", decision_id: "dec_1" }), { event: "response" });
    assert.equal(readDecisionRecord({ ...shadow, event: 1 }), "`event` is not a string");
  });
});

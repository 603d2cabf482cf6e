import assert from "node:assert/strict";
import { stateAnswer, type RolloutTermsData } from "../../src/protocol/index.ts";

const TERMS: RolloutTermsData = {
  ...{ id: "rol_1", revision: 1, version: "v2", digest: "0".repeat(64), mode: "enforce", percentage: 5 },
  ...{ sticky_by: "user", guard: null },
};

describe("terms of a rollout, as a gateway reads them", () => {
  const parsed = (rollout?: unknown) =>
    stateAnswer.parse({
      ...{ cursor: "c", complete: true, customers: [], sessions_ended: [], users: [] },
      policy_sets: [{ name: "main", version: "v1", digest: "1", ...(rollout !== undefined && { rollout }) }],
    }).policy_sets[0]?.rollout;

  it("are none where there are none", () => {
    assert.deepEqual(parsed(TERMS), TERMS);
    assert.equal(parsed(), undefined);
  });

  it("are none where a later release has others: the active version decides", () => {
    for (const later of [
      { ...TERMS, sticky_by: "device" },
      { ...TERMS, mode: "canary" },
      { ...TERMS, percentage: 0.5 },
      { ...TERMS, guard: { window_ms: 1 } },
      "terms",
      null,
    ])
      assert.equal(parsed(later), undefined, JSON.stringify(later));
    assert.deepEqual(parsed({ ...TERMS, newer: 1 }), TERMS);
  });
});

import assert from "node:assert/strict";
import type { Candidate } from "../../../src/decision/policies/release.ts";
import {
  RolloutController,
  type RolloutChange,
  type RolloutSettings,
} from "../../../src/decision/rollout/rollout-controller.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { ruleOf, silent, snapshotOf } from "../support.ts";

const GUARD = {
  ...{ windowMs: 60_000, minRequests: 100, denialIncrease: 0.05 },
  ...{ errorIncrease: 0.01, slowdown: 3, ignoredCallers: 5 },
};
const SETTINGS: RolloutSettings = {
  ...{ mode: "enforce", percentage: 10, stickyBy: "user", steps: [], stepPauseMs: 60_000 },
  guard: GUARD,
};

const versioned = (version: string) => snapshotOf(ruleOf("true", `version: ${version}`));
const sampleOf = (decisions: number, denials: number) => ({
  ...{ decisions, denials, errors: 0, durations: [decisions], heaviest: [] },
});

describe("decision: a candidate that was taken back, which could not be published, is noted and counted", () => {
  const v2 = versioned("v2");
  let controller: RolloutController;
  let published: (Candidate | null)[];
  let changes: RolloutChange[];
  let errors: object[];
  let metrics: ReturnType<typeof createMetrics>;

  beforeEach(async () => {
    [published, changes, errors] = [[], [], []];
    metrics = createMetrics();
    let failing = false;
    controller = new RolloutController(SETTINGS, {
      publish: (candidate) => {
        if (failing) return Promise.reject(new Error("a worker cannot load it"));
        published.push(candidate);
        return Promise.resolve();
      },
      changed: (change) => changes.push(change),
      metrics,
      log: { info: silent, error: (fields) => errors.push(fields) },
      clock: () => 0,
    });
    await controller.offer(v2);
    const samples = { stable: sampleOf(1000, 100), candidate: sampleOf(200, 100) };
    controller.take({ type: "rollout_counts", candidate: v2.digest, samples });
    failing = true;
    await assert.rejects(controller.check());
    assert.equal(controller.inForce?.set, v2);
    failing = false;
  });

  const course = () => published.map((one) => one?.set.label ?? "none");
  const noted = async () => {
    const { values } = await metrics.rolloutRollbacks.get();
    return {
      changes: changes.map(({ change, set, percentage }) => `${change} ${set.label} ${percentage}`),
      logged: errors.length,
      counted: values.find(({ labels }) => labels.cause === "denials")?.value,
    };
  };

  it("if another candidate replaces it first", async () => {
    await controller.offer(versioned("v3"));
    assert.deepEqual(course(), ["test@v2", "test@v3"]);
    assert.deepEqual(await noted(), {
      changes: ["started test@v2 10", "rolled_back test@v2 0", "started test@v3 10"],
      ...{ logged: 1, counted: 1 },
    });
    assert.match(changes[1]?.detail ?? "", /50\.0 % with the candidate/);
    const { values } = await metrics.rolloutPercentage.get();
    assert.deepEqual(
      values.map(({ labels, value }) => [labels.policy_set, value]),
      [["test@v3", 10]],
    );
    await controller.check();
    assert.equal(controller.inForce?.set.label, "test@v3", "it is not taken back for the one before");
  });

  it("if other settings give it another try first", async () => {
    await controller.apply({ ...SETTINGS, guard: { ...GUARD, minRequests: 50 } });
    assert.deepEqual(await noted(), {
      changes: ["started test@v2 10", "rolled_back test@v2 0", "started test@v2 10"],
      ...{ logged: 1, counted: 1 },
    });
    await controller.check();
    assert.equal(controller.inForce?.percentage, 10, "what it did before is not held against it");
  });

  it("if the rollout ends first", async () => {
    await controller.stop();
    assert.deepEqual(course(), ["test@v2", "none"]);
    assert.deepEqual(await noted(), {
      changes: ["started test@v2 10", "rolled_back test@v2 0"],
      ...{ logged: 1, counted: 1 },
    });
  });
});

import assert from "node:assert/strict";
import type { Candidate } from "../../../src/decision/policies/release.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import type { ArmSample } from "../../../src/decision/rollout/arm-sample.ts";
import {
  RolloutController,
  type RolloutChange,
  type RolloutSettings,
  type RolloutState,
} from "../../../src/decision/rollout/rollout-controller.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { ruleOf, silent, snapshotOf } from "../support.ts";

const GUARD = {
  ...{ windowMs: 60_000, minRequests: 100, denialIncrease: 0.05 },
  ...{ errorIncrease: 0.01, slowdown: 3, ignoredCallers: 5 },
};
const BASE: RolloutSettings = {
  mode: "enforce",
  percentage: 10,
  stickyBy: "user",
  steps: [],
  stepPauseMs: 60_000,
  guard: GUARD,
};
const STEPS = { ...BASE, percentage: 0, steps: [1, 10, 100] };

const versioned = (version: string) => snapshotOf(ruleOf("true", `version: ${version}`));
const sampleOf = (decisions: number, denials: number): ArmSample => ({
  decisions,
  denials,
  errors: 0,
  durations: [decisions],
  heaviest: [],
});

describe("decision: the course of a rollout", () => {
  const v2 = versioned("v2");
  let now: number;
  let published: (Candidate | null)[];
  let changes: RolloutChange[];
  let failing: boolean;
  let metrics: ReturnType<typeof createMetrics>;
  let remembered: RolloutState | undefined;
  /** What a restart would find, had it happened while a change was on its way to the workers. */
  let rememberedAtPublish: (RolloutState | undefined)[];

  beforeEach(() => {
    [remembered, rememberedAtPublish] = [undefined, []];
    now = 0;
    published = [];
    changes = [];
    failing = false;
    metrics = createMetrics();
  });

  function controllerWith(settings: RolloutSettings): RolloutController {
    const controller: RolloutController = new RolloutController(settings, {
      publish: (candidate) => {
        rememberedAtPublish.push(remembered);
        if (failing) return Promise.reject(new Error("a worker cannot load it"));
        published.push(candidate);
        return Promise.resolve();
      },
      changed: (change) => changes.push(change),
      remember: () => {
        remembered = controller.state;
      },
      metrics,
      log: { info: silent, error: silent },
      clock: () => now,
    });
    return controller;
  }

  const count = (
    controller: RolloutController,
    set: Snapshot,
    candidate: ArmSample,
    stable = sampleOf(1000, 100),
  ) => {
    controller.take({ type: "rollout_counts", candidate: set.digest, samples: { stable, candidate } });
  };
  const course = () =>
    published.map((one) => (one === null ? "none" : `${one.set.label} ${one.mode} ${one.percentage}`));

  it("gives a candidate that was taken back another try only where the settings may", async () => {
    const controller = controllerWith(BASE);
    await controller.offer(v2);
    count(controller, v2, sampleOf(1000, 900));
    // while the guard takes it back, the settings change
    await Promise.all([controller.check(), controller.apply({ ...BASE, percentage: 50 }, { retry: false })]);
    assert.deepEqual(course(), ["test@v2 enforce 10", "none"]);
    assert.equal(controller.takenBack?.cause, "denials");
    await controller.offer(v2);
    assert.deepEqual(course(), ["test@v2 enforce 10", "none"]);
    await controller.apply({ ...BASE, percentage: 60 });
    assert.deepEqual(course(), ["test@v2 enforce 10", "none", "test@v2 enforce 60"]);
  });

  it("counts within the window since the last change, and in total since the candidate is in force", async () => {
    const controller = controllerWith({ ...BASE, guard: { ...GUARD, denialIncrease: 1, windowMs: 60_000 } });
    await controller.offer(v2);
    count(controller, v2, sampleOf(10, 1));
    now = 61_000;
    count(controller, v2, sampleOf(20, 2));
    assert.deepEqual(
      [controller.window.candidate.decisions, controller.totals.candidate.decisions],
      [20, 30],
    );
    await controller.apply({ ...BASE, percentage: 50 });
    assert.deepEqual([controller.window.candidate.decisions, controller.totals.candidate.decisions], [0, 30]);
    await controller.stop();
    await controller.offer(versioned("v3"));
    assert.equal(controller.totals.stable.decisions, 0);
  });

  it("puts a candidate in force, follows its settings, and ends", async () => {
    const controller = controllerWith({ ...BASE, mode: "shadow" });
    await controller.offer(v2);
    await controller.apply(BASE);
    await controller.apply({ ...BASE, percentage: 50 });
    await controller.apply({ ...BASE, percentage: 50, guard: { ...GUARD, minRequests: 5 } });
    await controller.stop();
    assert.deepEqual(course(), ["test@v2 shadow 0", "test@v2 enforce 10", "test@v2 enforce 50", "none"]);
    assert.deepEqual(
      changes.map(({ change, percentage }) => `${change} ${percentage}`),
      ["started 0", "changed 10", "changed 50", "stopped 0"],
    );
  });

  it("goes up a step at a time, after each pause and a comparison that found nothing", async () => {
    const controller = controllerWith(STEPS);
    await controller.offer(v2);
    now += 60_000;
    await controller.check();
    assert.deepEqual(course(), ["test@v2 enforce 1"], "without decisions nothing moves");
    count(controller, v2, sampleOf(200, 20));
    await controller.check();
    assert.deepEqual(course().at(-1), "test@v2 enforce 10");
    count(controller, v2, sampleOf(200, 20));
    await controller.check();
    assert.deepEqual(course().at(-1), "test@v2 enforce 10", "the pause begins with the step");
    now += 60_000;
    await controller.check();
    assert.deepEqual(course().at(-1), "test@v2 enforce 100");
    now += 600_000;
    await controller.check();
    assert.equal(published.length, 3);
  });

  it("begins at the first step with a new candidate", async () => {
    const controller = controllerWith(STEPS);
    await controller.offer(v2);
    now += 60_000;
    count(controller, v2, sampleOf(200, 20));
    await controller.check();
    await controller.offer(versioned("v3"));
    assert.deepEqual(course(), ["test@v2 enforce 1", "test@v2 enforce 10", "test@v3 enforce 1"]);
  });

  it("takes a candidate back that does worse, and tries it again only if something has changed", async () => {
    const controller = controllerWith(BASE);
    await controller.offer(v2);
    count(controller, v2, sampleOf(200, 100));
    await controller.check();
    assert.deepEqual(course(), ["test@v2 enforce 10", "none"]);
    const rolledBack = changes.at(-1);
    assert.deepEqual([rolledBack?.change, rolledBack?.cause], ["rolled_back", "denials"]);
    assert.match(rolledBack?.detail ?? "", /50\.0 % with the candidate, 10\.0 % with the stable set/);
    assert.match(controller.status()?.detail ?? "", /taken back/);
    const rollbacks = await metrics.rolloutRollbacks.get();
    assert.equal(rollbacks.values.find(({ labels }) => labels.cause === "denials")?.value, 1);
    // its folder is read again
    await controller.offer(v2);
    await controller.check();
    assert.equal(published.length, 2);
    await controller.offer(versioned("v3"));
    assert.deepEqual(course().at(-1), "test@v3 enforce 10");
  });

  it("goes on where it was before a restart", async () => {
    const controller = controllerWith(STEPS);
    assert.equal(controller.state, undefined);
    await controller.offer(v2, { step: 1 });
    assert.deepEqual(
      [controller.inForce?.percentage, controller.state],
      [10, { digest: v2.digest, step: 1 }],
    );
    // only the first candidate after it can have been there before
    await controller.offer(versioned("v3"), { step: 2 });
    assert.equal(controller.inForce?.percentage, 1);
    // steps that are no longer there
    const shorter = controllerWith({ ...STEPS, steps: [1, 10] });
    await shorter.offer(v2, { step: 2 });
    assert.equal(shorter.inForce?.percentage, 10);
  });

  it("does not try again after a restart what was taken back before", async () => {
    const controller = controllerWith(STEPS);
    const takenBack = { digest: v2.digest, cause: "denials", detail: "denials: 90 %" } as const;
    await controller.offer(v2, { step: 0, takenBack });
    assert.deepEqual([controller.inForce, published, controller.takenBack], [undefined, [], takenBack]);
    assert.deepEqual(controller.state, { digest: v2.digest, step: 0, takenBack });
    assert.match(controller.status()?.detail ?? "", /was taken back: denials: 90 %/);
    await controller.offer(v2);
    await controller.check();
    assert.deepEqual(published, []);
    await controller.apply({ ...STEPS, stepPauseMs: 1 });
    assert.equal(controller.inForce?.percentage, 1);
  });

  it("tries a candidate again when the settings have changed", async () => {
    const controller = controllerWith(BASE);
    await controller.offer(v2);
    count(controller, v2, sampleOf(200, 100));
    await controller.check();
    await controller.apply({ ...BASE, percentage: 1 });
    assert.deepEqual(course(), ["test@v2 enforce 10", "none", "test@v2 enforce 1"]);
  });

  it("compares within the window, and counts nothing of another candidate", async () => {
    const controller = controllerWith(BASE);
    await controller.offer(v2);
    count(controller, v2, sampleOf(200, 200));
    now += 60_001;
    await controller.check();
    count(controller, versioned("v1"), sampleOf(200, 200));
    await controller.check();
    assert.deepEqual(course(), ["test@v2 enforce 10"]);
    const { values } = await metrics.rolloutGuard.get();
    assert.deepEqual(
      values.map(({ labels }) => labels.outcome),
      ["inconclusive"],
    );
  });

  it("compares nothing without a guard, nor in shadow mode", async () => {
    const { guard, ...without } = BASE;
    for (const settings of [without, { ...BASE, mode: "shadow" as const }]) {
      const controller = controllerWith(settings);
      await controller.offer(v2);
      count(controller, v2, sampleOf(200, 200));
      await controller.check();
      assert.equal(controller.inForce?.set, v2);
    }
  });

  it("tries again to take a candidate back if that failed, and keeps what is in force if a change cannot be loaded", async () => {
    const controller = controllerWith(BASE);
    await controller.offer(v2);
    failing = true;
    await assert.rejects(controller.offer(versioned("v3")), /cannot load it/);
    await assert.rejects(controller.apply({ ...BASE, percentage: 50 }), /cannot load it/);
    count(controller, v2, sampleOf(200, 100));
    await assert.rejects(controller.check());
    assert.equal(controller.inForce?.set.label, "test@v2");
    assert.equal(controller.inForce.percentage, 10);
    failing = false;
    await controller.check();
    assert.deepEqual(course(), ["test@v2 enforce 10", "none"]);
  });

  it("takes a candidate back in the end, whatever is counted meanwhile", async () => {
    const controller = controllerWith(BASE);
    await controller.offer(v2);
    failing = true;
    count(controller, v2, sampleOf(200, 100));
    await assert.rejects(controller.check());
    assert.match(controller.status()?.detail ?? "", /could not be taken back yet/);
    // long after the window, the comparison would be inconclusive
    now += 10 * GUARD.windowMs;
    failing = false;
    await controller.check();
    assert.deepEqual(course(), ["test@v2 enforce 10", "none"]);
    assert.deepEqual(
      changes.map(({ change, cause }) => [change, cause]),
      [
        ["started", undefined],
        ["rolled_back", "denials"],
      ],
    );
  });

  it("ends in the end, if that could not be published at first", async () => {
    const controller = controllerWith(BASE);
    await controller.offer(v2);
    failing = true;
    await assert.rejects(controller.stop(), /cannot load it/);
    failing = false;
    await controller.check();
    assert.deepEqual(course(), ["test@v2 enforce 10", "none"]);
    assert.equal(controller.inForce, undefined);
  });

  it("begins other steps at the first one, also where that has the percentage in force", async () => {
    const controller = controllerWith(STEPS);
    await controller.offer(v2);
    now += STEPS.stepPauseMs;
    count(controller, v2, sampleOf(200, 20));
    await controller.check();
    assert.deepEqual([controller.inForce?.percentage, controller.state?.step], [10, 1]);
    const { guard, ...unguarded } = STEPS;
    await controller.apply({ ...unguarded, steps: [10, 20] });
    assert.equal(controller.state?.step, 0);
    await controller.check();
    assert.equal(controller.inForce?.percentage, 10, "the pause begins again");
    now += STEPS.stepPauseMs;
    await controller.check();
    assert.deepEqual(course(), ["test@v2 enforce 1", "test@v2 enforce 10", "test@v2 enforce 20"]);
  });

  it("is remembered before it reaches any worker, and as it was if it does not", async () => {
    const controller = controllerWith(STEPS);
    await controller.offer(v2);
    now += STEPS.stepPauseMs;
    count(controller, v2, sampleOf(200, 20));
    await controller.check();
    now += STEPS.stepPauseMs;
    count(controller, v2, sampleOf(200, 20));
    failing = true;
    await assert.rejects(controller.check());
    assert.deepEqual(remembered, { digest: v2.digest, step: 1 });
    failing = false;
    count(controller, v2, sampleOf(500, 400));
    await controller.check();
    const takenBack = rememberedAtPublish.at(-1)?.takenBack;
    assert.deepEqual([takenBack?.digest, takenBack?.cause], [v2.digest, "denials"]);
    assert.deepEqual(
      rememberedAtPublish.map((state) => state?.step),
      [0, 1, 2, 0],
    );
  });

  it("keeps an hour of counts in parts, and forgets each when it is over", async () => {
    const windowMs = 3_600_000;
    const controller = controllerWith({ ...BASE, guard: { ...GUARD, windowMs } });
    await controller.offer(v2);
    for (let second = 0; second < 3_600; second += 1) {
      now += 1_000;
      count(controller, v2, sampleOf(10, 1), sampleOf(20, 2));
    }
    assert.deepEqual(
      [controller.window.candidate.decisions, controller.window.stable.decisions],
      [36_000, 72_000],
    );
    now += windowMs / 2;
    const left = controller.window.candidate.decisions;
    assert.ok(left > 17_000 && left <= 18_000, String(left));
    now += windowMs / 2 + 1;
    assert.equal(controller.window.candidate.decisions, 0);
    assert.equal(controller.totals.candidate.decisions, 36_000);
  });
});

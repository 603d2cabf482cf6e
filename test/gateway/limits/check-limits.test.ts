import assert from "node:assert/strict";
import { CheckLimit } from "../../../src/gateway/check-limits.ts";
import { createLoadReporter, WorkerLoads } from "../../../src/processes/gateway/worker-load.ts";

const STEP_MS = 250;

/** A limit of 1,000 checks, of which each may wait 300 ms, and what becomes of it step by step. */
function subject() {
  const limit = new CheckLimit(1_000, 300);
  const state = { answered: 0, shed: 0, at: 0 };
  /** So many are answered per second, while so many are under way and so many are shed. */
  const steps = (count: number, perSecond: number, underWay: number, shed = 0, isBusy = true): number => {
    let found = 0;
    for (let step = 0; step < count; step += 1) {
      state.at += STEP_MS;
      state.answered += (perSecond * STEP_MS) / 1000;
      state.shed += shed;
      found = limit.next({ answered: state.answered, shed: state.shed, underWay }, state.at, isBusy);
    }
    return found;
  };
  steps(1, 0, 0);
  return steps;
}

describe("the limit of checks", () => {
  it("stays while what is under way is answered in time", () => {
    const steps = subject();
    assert.equal(steps(10, 4_000, 1_000), 1_000);
    assert.equal(steps(10, 10, 1), 1_000);
    assert.equal(steps(10, 0, 32), 1_000, "too few to say anything");
  });

  it("becomes what can be answered in time, when more is under way", () => {
    const steps = subject();
    assert.equal(steps(20, 1_000, 1_000), 300);
    assert.equal(steps(20, 500, 300, 100), 150);
  });

  it("is more than at the start where so much is answered in time", () => {
    assert.equal(subject()(20, 10_000, 1_000, 50), 2_999);
  });

  it("does not follow one bad measurement, and leaves some even where nothing is answered", () => {
    const steps = subject();
    assert.equal(steps(1, 0, 1_000), 500);
    assert.equal(steps(20, 0, 1_000), 32);
  });

  it("grows where some are shed and the workers are not busy: Envoy is, and fewer checks would not help", () => {
    const steps = subject();
    assert.equal(steps(5, 100, 1_000, 100), 60);
    assert.equal(steps(1, 100, 60, 100, false), 75);
    assert.equal(steps(100, 100, 1_000, 100, false), 16_000);
    assert.equal(subject()(20, 100, 1_000, 0, false), 1_000, "nothing was shed");
  });

  it("does not grow beyond the most that it is given", () => {
    const limit = new CheckLimit(1_000, 300, 2_000);
    let found = 0;
    for (let step = 0; step < 50; step += 1)
      found = limit.next({ answered: step, shed: step, underWay: 5_000 }, step * STEP_MS, false);
    assert.equal(found, 2_000);
  });

  it("returns while there is room", () => {
    const steps = subject();
    steps(20, 100, 1_000);
    assert.equal(steps(1, 100, 5), 40);
    assert.equal(steps(20, 100, 5), 1_000);
  });

  it("is left alone by a sample of the same moment", () => {
    const limit = new CheckLimit(1_000, 300);
    for (let time = 0; time < 5; time += 1)
      assert.equal(limit.next({ answered: 0, shed: time, underWay: 5_000 }, 1, true), 1_000);
  });
});

describe("the load of workers", () => {
  it("is their mean, of those that live and have reported it; unknown, they count as busy", () => {
    const loads = new WorkerLoads();
    assert.equal(loads.busy, true);
    assert.ok(loads.take(0, { type: "worker_load", utilization: 0.9 }));
    assert.ok(loads.take(1, { type: "worker_load", utilization: 0 }));
    assert.equal(loads.busy, false);
    loads.take(1, { type: "worker_load", utilization: 0.1 });
    assert.equal(loads.busy, true);
    loads.ended(0);
    assert.equal(loads.busy, false);
    for (const message of [undefined, {}, { type: "worker_load" }, { type: "readiness", utilization: 1 }])
      assert.equal(loads.take(0, message), false);
  });

  it("is reported when it has changed", () => {
    const sent: unknown[] = [];
    let last = { idle: 0, active: 0, utilization: 0 };
    const report = createLoadReporter(
      (message) => sent.push(message.utilization),
      () => last,
    );
    const after = (idle: number, active: number) => {
      last = { idle: last.idle + idle, active: last.active + active, utilization: 0 };
      report();
    };
    for (const [idle, active] of [
      [99, 1],
      [50, 50],
      [51, 49],
      [10, 90],
      [100, 0],
    ] as const)
      after(idle, active);
    assert.deepEqual(sent, [0.5, 0.9, 0]);
  });
});

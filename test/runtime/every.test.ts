import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { mock } from "node:test";
import { every, type Job, type JobOptions } from "../../src/runtime/every.ts";

describe("runtime: every", () => {
  let jobs: Job[];
  let logged: { level: string; message: string; code?: string }[];

  const say = (level: string) => (fields: { code?: string }, message: string) => {
    logged.push({ level, message, ...(fields.code !== undefined && { code: fields.code }) });
  };
  const log = { info: say("info"), warn: say("warn"), error: say("error") };
  const start = (work: (signal: AbortSignal) => unknown, options: Partial<JobOptions> = {}) => {
    const job = every(1_000, work, { what: "prune", log, ...options });
    jobs.push(job);
    return job;
  };
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await setImmediate();
  };

  beforeEach(() => {
    jobs = [];
    logged = [];
    mock.timers.enable({ apis: ["setInterval"] });
  });
  afterEach(async () => {
    mock.timers.reset();
    await Promise.all(jobs.map((job) => job.close()));
  });

  it("runs once an interval, and at the start where that is asked for", async () => {
    let [later, now] = [0, 0];
    start(() => (later += 1));
    start(() => (now += 1), { now: true });
    await setImmediate();
    assert.deepEqual([later, now], [0, 1]);
    await pass(999);
    assert.deepEqual([later, now], [0, 1]);
    await pass(1);
    assert.deepEqual([later, now], [1, 2]);
    await pass(1_000);
    assert.deepEqual([later, now], [2, 3]);
  });

  it("never overlaps with itself: an interval that ends during a run is passed over", async () => {
    let runs = 0;
    const first = Promise.withResolvers<undefined>();
    start(() => ((runs += 1) === 1 ? first.promise : undefined));
    await pass(1_000);
    await pass(3_000);
    assert.equal(runs, 1);
    first.resolve(undefined);
    await setImmediate();
    assert.equal(runs, 1);
    await pass(1_000);
    assert.equal(runs, 2);
  });

  it("runs when it is asked to; during a run once more, for all that asked", async () => {
    let runs = 0;
    const first = Promise.withResolvers<undefined>();
    const job = start(() => ((runs += 1) === 1 ? first.promise : undefined));
    const asked = [job.run()];
    await setImmediate();
    asked.push(job.run(), job.run());
    assert.equal(runs, 1);
    first.resolve(undefined);
    await Promise.all(asked);
    assert.equal(runs, 2);
  });

  it("runs again for work that asks for it while it runs", async () => {
    let runs = 0;
    const job: Job = start(() => {
      runs += 1;
      if (runs < 3) void job.run();
    });
    await job.run();
    assert.equal(runs, 3);
  });

  it("logs a failure once, another code again, and the first success after it", async () => {
    let fail: (() => void) | undefined = () => {
      throw Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
    };
    start(() => fail?.());
    await pass(1_000);
    await pass(1_000);
    const message = "could not prune; will retry";
    assert.deepEqual(logged, [{ level: "warn", message, code: "ECONNREFUSED" }]);
    fail = () => {
      throw new Error("no code");
    };
    await pass(1_000);
    assert.deepEqual(logged.slice(1), [{ level: "warn", message, code: "UNKNOWN" }]);
    fail = undefined;
    await pass(1_000);
    await pass(1_000);
    assert.deepEqual(logged.slice(2), [{ level: "info", message: "can prune again" }]);
  });

  it("tries again before its next run where it has failed, and not once it has worked or has ended", async () => {
    mock.timers.reset();
    mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
    let [runs, failing] = [0, true];
    const work = () => {
      runs += 1;
      if (failing) throw new Error("away");
    };
    const job = start(work, { retryMs: 100 });
    await pass(1_000);
    await pass(100);
    assert.equal(runs, 2);
    failing = false;
    await pass(100);
    await pass(700);
    assert.equal(runs, 3);
    failing = true;
    await pass(1_000);
    const before = runs;
    await job.close();
    await pass(5_000);
    assert.equal(runs, before);
  });

  it("is as loud as it is told to be, and survives what rejects", async () => {
    let runs = 0;
    start(
      async () => {
        runs += 1;
        await setImmediate();
        throw new Error("later");
      },
      { level: "error" },
    );
    for (let tick = 0; tick < 2; tick += 1) {
      await pass(1_000);
      await setImmediate();
    }
    assert.deepEqual([runs, logged.map(({ level }) => level)], [2, ["error"]]);
  });

  it("ends: the run under way is told, and waited for, and no other begins", async () => {
    let runs = 0;
    let ended = false;
    const job = start(async (signal) => {
      runs += 1;
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      });
      await setImmediate();
      ended = true;
    });
    await pass(1_000);
    void job.run();
    await job.close();
    assert.equal(ended, true);
    await pass(5_000);
    await job.run();
    await job.close();
    assert.equal(runs, 1);
  });

  it("carries out at its end what was to be done at its start", async () => {
    let runs = 0;
    await start(() => (runs += 1), { now: true }).close();
    assert.equal(runs, 1);
  });
});

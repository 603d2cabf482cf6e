import assert from "node:assert/strict";
import { ShadowCounter } from "../../../src/decision/shadow/shadow-counter.ts";
import {
  ShadowEvaluator,
  type ShadowEvaluatorOptions,
} from "../../../src/decision/shadow/shadow-evaluator.ts";
import type { ShadowTask } from "../../../src/decision/shadow/shadow-messages.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { accessOf } from "../support.ts";

const CANDIDATE = { file: "unused", label: "test@v2", digest: "d2" };
const TASK: ShadowTask = {
  access: accessOf(),
  found: {},
  checked: {},
  stable: {
    verdict: "ALLOW",
    reason: "CONDITION_TRUE",
    rule: null,
    plan: undefined,
    isJoined: false,
    label: "l",
    digest: "d",
  },
};

describe("decision: evaluating a candidate in shadow", function () {
  this.timeout(180_000);
  const opened: ShadowEvaluator[] = [];
  afterEach(() => {
    for (const evaluator of opened.splice(0)) evaluator.close();
  });

  function evaluatorThat(
    behaves: string,
    options: Partial<
      Pick<ShadowEvaluatorOptions, "capacity" | "patienceMs" | "startMs" | "restartMs" | "rest">
    > = {},
  ) {
    const metrics = createMetrics();
    const counter = new ShadowCounter();
    const warnings: string[] = [];
    const evaluator = new ShadowEvaluator(
      {
        script: new URL("./threads/failing.mjs", import.meta.url),
        data: behaves,
        ...{ restartMs: 10, rest: 0 },
        ...options,
      },
      {
        record: () => undefined,
        metrics,
        counter,
        log: { warn: ({ err }: { err?: Error }) => warnings.push(String(err?.message)) },
      },
    );
    opened.push(evaluator);
    const counted = async (result: string) =>
      (await metrics.shadowDecisions.get()).values.find(({ labels }) => labels.result === result)?.value ?? 0;
    return { evaluator, counted, counter, warnings };
  }

  for (const behaves of ["throws", "exits", "loops", "fills its memory"])
    it(`loses only the results of a thread that ${behaves}, and goes on with another one`, async () => {
      const { evaluator, counted, warnings } = evaluatorThat(behaves, {
        patienceMs: behaves === "loops" ? 300 : 30_000,
      });
      evaluator.take(CANDIDATE, TASK);
      await eventually("the first loss", async () => (await counted("failed")) === 1);
      evaluator.take(CANDIDATE, TASK);
      await eventually("the second loss", async () => (await counted("failed")) === 2);
      assert.equal(warnings.length, 2);
    });

  it("is patient with a thread that starts, and only with one that does", async () => {
    const busy = evaluatorThat("starts slowly", { patienceMs: 1_000 });
    busy.evaluator.take(CANDIDATE, TASK);
    await eventually("its result", async () => (await busy.counted("same")) === 1);
    assert.deepEqual(busy.warnings, []);
    const never = evaluatorThat("never starts", { startMs: 100 });
    never.evaluator.take(CANDIDATE, TASK);
    await eventually("the loss", async () => (await never.counted("failed")) === 1);
    assert.deepEqual(never.warnings, ["not started within 100 ms"]);
  });

  it("waits for a slow thread, and drops what does not fit into the queue", async () => {
    const { evaluator, counted } = evaluatorThat("is slow", { capacity: 10 });
    for (let n = 0; n < 25; n += 1) evaluator.take(CANDIDATE, TASK);
    assert.equal(await counted("dropped"), 15);
    await eventually("the results", async () => (await counted("same")) === 10);
    evaluator.take(CANDIDATE, TASK);
    await eventually("one more", async () => (await counted("same")) === 11);
  });

  it("lets a slow thread rest, and a fast one go on", async () => {
    const slow = evaluatorThat("is slow", { rest: 2, capacity: 10 });
    const at: number[] = [];
    for (let n = 1; n <= 2; n += 1) {
      slow.evaluator.take(CANDIDATE, TASK);
      await eventually("a result", async () => (await slow.counted("same")) === n);
      at.push(performance.now());
    }
    const [first = 0, second = 0] = at;
    // it takes a second for each batch
    assert.ok(second - first > 2_500, String(second - first));
    const fast = evaluatorThat("works", { rest: 1_000_000 });
    for (let n = 0; n < 250; n += 1) fast.evaluator.take(CANDIDATE, TASK);
    await eventually("all results", async () => (await fast.counted("same")) === 250);
  });

  it("tries a candidate that fails again and again less and less often", async () => {
    const { evaluator, counted } = evaluatorThat("throws", { restartMs: 100 });
    const at: number[] = [];
    for (let n = 1; n <= 5; n += 1) {
      evaluator.take(CANDIDATE, TASK);
      await eventually("a loss", async () => (await counted("failed")) === n);
      at.push(performance.now());
    }
    // 100, 200, 400 and 800 ms, and what the starts take
    assert.ok((at.at(-1) ?? 0) - (at[0] ?? 0) > 1_300, at.join());
  });

  it("counts a failure soon after a result as one more in a row", async () => {
    const { evaluator, counted } = evaluatorThat("throws the second time", { restartMs: 400 });
    const at: number[] = [];
    for (let n = 1; n <= 4; n += 1) {
      evaluator.take(CANDIDATE, TASK);
      await eventually("a result", async () => (await counted("same")) === n);
      evaluator.take(CANDIDATE, TASK);
      await eventually("a loss", async () => (await counted("failed")) === n);
      at.push(performance.now());
    }
    // 400, 800 and 1,600 ms, unless a start took longer than the pause before it
    assert.ok((at.at(-1) ?? 0) - (at[0] ?? 0) > 1_200, at.join());
  });

  it("does not let a candidate wait because of the one before", async () => {
    const { evaluator, counted, warnings } = evaluatorThat("throws for d2", {
      restartMs: 60_000,
      capacity: 300,
    });
    for (let n = 0; n < 300; n += 1) evaluator.take(CANDIDATE, TASK);
    await eventually("a batch of the one that fails", async () => (await counted("failed")) === 100);
    // the queue is full again
    for (let n = 0; n < 100; n += 1) evaluator.take(CANDIDATE, TASK);
    assert.equal(await counted("dropped"), 0);
    for (let n = 0; n < 5; n += 1) evaluator.take({ ...CANDIDATE, digest: "d3" }, TASK);
    // what waited for the one before is of no use any more
    assert.equal(await counted("dropped"), 300);
    await eventually("the next one's results", async () => (await counted("same")) === 5);
    assert.equal(warnings.length, 1);
  });

  it("counts every decision once, whichever candidate it is for", async () => {
    const { evaluator, counted } = evaluatorThat("works");
    for (let n = 0; n < 250; n += 1) evaluator.take({ ...CANDIDATE, digest: `d${n % 3}` }, TASK);
    await eventually("all results", async () => (await counted("same")) === 250);
    assert.equal((await counted("dropped")) + (await counted("failed")), 0);
  });

  it("does not hand over large bodies, nor anything that cannot be handed over", async () => {
    const { evaluator, counted } = evaluatorThat("works");
    evaluator.take(CANDIDATE, { ...TASK, access: accessOf({ body: "x".repeat(65_537) }) });
    assert.equal(await counted("dropped"), 1);
    evaluator.take(CANDIDATE, { ...TASK, found: { toJSON: () => 1 } as object });
    await eventually("the loss", async () => (await counted("failed")) === 1);
  });
});

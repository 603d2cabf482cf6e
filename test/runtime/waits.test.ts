import assert from "node:assert/strict";
import { Backoff, backoffMs } from "../../src/runtime/backoff.ts";
import { errorCode } from "../../src/runtime/error-code.ts";
import { inTime } from "../../src/runtime/in-time.ts";
import { sleep } from "../../src/runtime/sleep.ts";

const NEVER = new Promise<never>(() => undefined);

describe("runtime: backoff", () => {
  const options = { firstMs: 100, longestMs: 5_000 };

  it("doubles, up to the longest", () => {
    const most = () => 1;
    const waits = [1, 2, 3, 6, 7, 50, 10_000].map((failures) => backoffMs(failures, options, most));
    assert.deepEqual(waits, [100, 200, 400, 3_200, 5_000, 5_000, 5_000]);
  });

  it("leaves a half of it to chance, or the part that it is told", () => {
    assert.deepEqual(
      [0, 0.5, 1].map((chance) => backoffMs(1, options, () => chance)),
      [50, 75, 100],
    );
    assert.deepEqual(
      [0, 0.5, 1].map((chance) => backoffMs(1, { ...options, jitter: [0.8, 1.2] }, () => chance)),
      [80, 100, 120],
    );
  });

  it("counts failures in a row", () => {
    const backoff = new Backoff(options);
    for (const longest of [100, 200, 400]) {
      const ms = backoff.failed();
      assert.ok(ms >= longest / 2 && ms <= longest, String(ms));
    }
    assert.equal(backoff.failures, 3);
    backoff.succeeded();
    assert.equal(backoff.failures, 0);
    assert.ok(backoff.failed() <= 100);
  });
});

describe("runtime: a timeout", () => {
  it("gives the result, or what stands for a late one", async () => {
    assert.equal(await inTime(Promise.resolve("done"), 10_000, "late"), "done");
    assert.equal(await inTime(NEVER, 1, "late"), "late");
  });

  it("rejects as the work does, in time and unnoticed when it is late", async () => {
    await assert.rejects(inTime(Promise.reject(new Error("broken")), 10_000, "late"), /broken/);
    const work = sleep(5).then(() => {
      throw new Error("too late to matter");
    });
    assert.equal(await inTime(work, 1, "late"), "late");
    await sleep(10);
  });
});

describe("runtime: sleep", () => {
  it("waits, and no longer once it is woken", async () => {
    const begun = performance.now();
    await sleep(20);
    assert.ok(performance.now() - begun >= 19);
    const waking = new AbortController();
    const asleep = sleep(60_000, { signal: waking.signal });
    waking.abort();
    await asleep;
    await sleep(60_000, { signal: waking.signal, ref: false });
  });
});

describe("runtime: the code of an error", () => {
  it("is the text that the error carries, and of nothing else", () => {
    assert.equal(errorCode(Object.assign(new Error("gone"), { code: "ENOENT" })), "ENOENT");
    const others = [
      new Error("none"),
      Object.assign(new Error("a number"), { code: 20 }),
      undefined,
      "ENOENT",
    ];
    for (const error of [...others, { code: "ENOENT" }]) assert.equal(errorCode(error), undefined);
  });
});

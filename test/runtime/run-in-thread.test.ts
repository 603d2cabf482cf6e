import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { errorCode } from "../../src/runtime/error-code.ts";
import { runInThread, type ThreadOptions } from "../../src/runtime/run-in-thread.ts";

const SCRIPT = `
  import { parentPort, workerData } from "node:worker_threads";
  const { task } = workerData;
  if (task === "double") parentPort.postMessage({ doubled: workerData.value * 2 });
  if (task === "throw") throw Object.assign(new Error("broken"), { code: "BROKEN" });
  if (task === "spin") for (;;);
  if (task === "eat") { const all = []; for (;;) all.push(new Array(10_000).fill({})); }
`;

describe("runtime: a task in a thread of its own", () => {
  let folder: string;
  let script: URL;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-thread-"));
    const file = join(folder, "task.mjs");
    await writeFile(file, SCRIPT);
    script = pathToFileURL(file);
  });
  after(() => rm(folder, { recursive: true }));

  const run = (data: object, more: Partial<ThreadOptions> = {}) =>
    runInThread<object>({ script, data, memoryMb: 64, ...more });
  const codeOf = async (running: Promise<unknown>) =>
    running.then(
      () => assert.fail("it has a result"),
      (error: unknown) => errorCode(error),
    );

  it("has its result", async () => {
    assert.deepEqual(await run({ task: "double", value: 21 }), { doubled: 42 });
    assert.deepEqual(await run({ task: "double", value: 2 }, { timeoutMs: 60_000 }), { doubled: 4 });
  });

  it("fails as the thread does", async () => {
    await assert.rejects(run({ task: "throw" }), /broken/);
    await assert.rejects(run({ task: "nothing" }), /exited with code 0 without a result/);
  });

  it("is ended when it takes too long, or too much memory", async () => {
    assert.equal(await codeOf(run({ task: "spin" }, { timeoutMs: 200 })), "ERR_THREAD_TIMEOUT");
    assert.equal(await codeOf(run({ task: "eat" }, { memoryMb: 16 })), "ERR_WORKER_OUT_OF_MEMORY");
  });
});

import assert from "node:assert/strict";
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import {
  startWorkerPool,
  type WorkerPool,
  type WorkerPoolOptions,
} from "../../src/processes/gateway/worker-pool.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { codeOf, connectClient, until } from "./support/client.ts";

const WORKER = new URL("./support/worker.ts", import.meta.url);
const SUPERVISOR = new URL("./support/supervisor.ts", import.meta.url);

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("extauthz: worker pool", () => {
  let folder: string;
  let pools: WorkerPool[];
  let logged: { restart_in_ms?: number }[];
  const metrics = createMetrics();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-workers-"));
    pools = [];
    logged = [];
    metrics.processRestarts.reset();
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close(0)));
    await rm(folder, { recursive: true });
  });

  const socket = (index: number) => join(folder, `${index}.sock`);
  const start = (modes: readonly string[], change: Partial<WorkerPoolOptions> = {}) => {
    const pool = startWorkerPool({
      count: modes.length,
      entry: WORKER,
      argsFor: (index) => [socket(index), modes[index] ?? ""],
      log: { info: () => undefined, error: (object) => void logged.push(object) },
      metrics,
      ...change,
    });
    pools.push(pool);
    return pool;
  };
  const check = async (index: number) => {
    const client = connectClient(`unix:${socket(index)}`);
    try {
      return await codeOf(client.check(Buffer.from("x"), { deadlineMs: 60_000 }));
    } finally {
      client.close();
    }
  };
  const restarts = async () =>
    (await metrics.processRestarts.get()).values.find(({ labels }) => labels.process === "worker")?.value ??
    0;
  const pidOf = (pool: WorkerPool, index: number) => pool.workers()[index]!.pid!;

  it("is ready when every worker serves, and gathers their metrics and messages", async () => {
    const pool = start(["", ""]);
    const heard: [number, { echo: unknown; pid: number }][] = [];
    pool.onMessage((worker, event) => heard.push([worker, event as { echo: unknown; pid: number }]));
    await pool.ready();
    assert.ok(pool.workers().every(({ serving }) => serving));
    for (const index of [0, 1, 1]) assert.equal(await check(index), 0);
    assert.deepEqual(await pool.collectMetrics(60_000), [
      { worker: 0, metrics: { checks: 1 } },
      { worker: 1, metrics: { checks: 2 } },
    ]);
    pool.broadcast({ reload: true });
    await until(() => heard.length === 2, "both answer");
    assert.deepEqual(
      heard.sort(([one], [other]) => one - other),
      [0, 1].map((index) => [index, { echo: { reload: true }, pid: pidOf(pool, index) }]),
    );
  });

  it("knows when a worker stops serving", async () => {
    const pool = start([""]);
    const states: boolean[] = [];
    pool.onChange(({ serving }) => states.push(serving));
    await pool.ready();
    pool.broadcast("stop serving");
    await until(() => pool.workers()[0]?.serving === false, "not serving");
    assert.deepEqual(states, [true, false]);
  });

  it("starts a killed worker again, on the same socket, while the others go on", async () => {
    const pool = start(["", ""]);
    await pool.ready();
    const killed = pidOf(pool, 0);
    process.kill(killed, "SIGKILL");
    await until(() => pool.workers()[0]?.serving === false, "the death is noticed");
    assert.equal(await check(1), 0);
    await until(() => pool.workers()[0]?.serving === true, "it serves again");
    assert.notEqual(pidOf(pool, 0), killed);
    assert.equal(await check(0), 0);
    assert.equal(await restarts(), 1);
  });

  it("waits longer each time, and gives readiness up", async () => {
    const pool = start(["dies"], { restart: { firstDelay: 10, longestDelay: 40, attempts: 5 } });
    await assert.rejects(pool.ready(), /worker 0 keeps exiting before it serves/);
    for (const [at, longest] of [10, 20, 40, 40, 40].entries()) {
      const ms = logged[at]?.restart_in_ms ?? 0;
      assert.ok(ms >= longest / 2 && ms <= longest, `${ms} after ${at + 1} deaths`);
    }
  });

  it("forgets earlier deaths of a worker that has lived long enough", async () => {
    const pool = start([""], { restart: { firstDelay: 10, resetAfter: 0 } });
    for (let life = 0; life < 3; life += 1) {
      await until(() => pool.workers()[0]?.serving === true, "it serves");
      process.kill(pidOf(pool, 0), "SIGKILL");
      await until(() => logged.length > life, "the death is noticed");
    }
    assert.equal(logged.length, 3);
    for (const { restart_in_ms: ms = 0 } of logged) assert.ok(ms >= 5 && ms <= 10, String(ms));
  });

  it("does not wait for metrics of the dead, the mute and the broken", async () => {
    const pool = start(["", "mute", "broken", ""], { restart: { firstDelay: 60_000 } });
    await pool.ready();
    process.kill(pidOf(pool, 3), "SIGKILL");
    await until(() => pool.workers()[3]?.pid === undefined, "the death is noticed");
    assert.deepEqual(await pool.collectMetrics(5_000), [{ worker: 0, metrics: { checks: 0 } }]);
    pool.broadcast("to the living");
    await pool.close(0);
    assert.deepEqual(await pool.collectMetrics(100), []);
  });

  it("survives a module that is not there", async () => {
    const pool = start([""], { entry: join(folder, "missing.js"), restart: { firstDelay: 1, attempts: 2 } });
    await assert.rejects(pool.ready(), /keeps exiting before it serves/);
  });

  describe("closing", () => {
    it("ends all, and nothing comes back", async () => {
      const pool = start(["", ""], { restart: { firstDelay: 1 } });
      await pool.ready();
      const pids = [pidOf(pool, 0), pidOf(pool, 1)];
      await pool.close(5_000);
      assert.ok(pids.every((pid) => !alive(pid)));
      assert.deepEqual(
        pool.workers().map(({ pid, serving }) => [pid, serving]),
        [
          [undefined, false],
          [undefined, false],
        ],
      );
      assert.equal(await restarts(), 0);
    });

    it("ends a worker that cannot drain or will not, and one that has not come up yet", async () => {
      const pool = start(["clumsy", "stubborn"]);
      await pool.ready();
      const early = start(["early"], { argsFor: () => [join(folder, "early.sock")] });
      const pids = [...pool.workers(), ...early.workers()].map(({ pid }) => pid!);
      await Promise.all([pool.close(0), early.close(0)]);
      assert.ok(pids.every((pid) => !alive(pid)));
      await assert.rejects(early.ready(), /have been stopped/);
    });

    it("kills a worker that does not react at all", async () => {
      const pool = start([""]);
      await pool.ready();
      const pid = pidOf(pool, 0);
      process.kill(pid, "SIGSTOP");
      await pool.close(0);
      assert.ok(!alive(pid));
    });
  });

  it("starts nothing again once it is retired", async () => {
    const pool = start([""]);
    await pool.ready();
    pool.retire();
    logged.length = 0;
    process.kill(pool.workers()[0]!.pid!, "SIGTERM");
    await until(() => pool.workers()[0]!.pid === undefined, "the worker ends");
    assert.deepEqual(logged, []); // a restart would have been announced
    await pool.close(0);
  });

  describe("a worker", () => {
    const forkWorker = async (mode = "") => {
      const worker = fork(WORKER, [socket(0), mode], { stdio: ["ignore", "inherit", "ignore", "ipc"] });
      const messages: { type: string }[] = [];
      worker.on("message", (message: { type: string }) => messages.push(message));
      await until(() => messages.some(({ type }) => type === "serving"), "it serves");
      return { worker, messages };
    };

    it("drains on SIGTERM, and not on SIGINT", async () => {
      const { worker, messages } = await forkWorker();
      worker.kill("SIGINT");
      assert.equal(await check(0), 0);
      const exited = once(worker, "exit");
      worker.kill("SIGTERM");
      assert.deepEqual(await exited, [0, null]);
      assert.equal(messages.at(-1)?.type, "not_serving");
    });

    it("ends with its supervisor's line, even when its drain hangs", async () => {
      for (const mode of ["", "stubborn"]) {
        const { worker } = await forkWorker(mode);
        const exited = once(worker, "exit");
        worker.disconnect();
        assert.deepEqual(await exited, [mode === "" ? 0 : 1, null]);
      }
    });

    it("ends when its supervisor is killed", async () => {
      const supervisor = spawn(process.execPath, [fileURLToPath(SUPERVISOR), socket(0), socket(1)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [line] = (await once(createInterface(supervisor.stdout), "line")) as [string];
      const pids = JSON.parse(line) as number[];
      assert.ok(pids.length === 2 && pids.every(alive));
      supervisor.kill("SIGKILL");
      await until(() => !pids.some(alive), "the workers end");
    });

    it("is not started by hand", async () => {
      // as a shell starts it; this very process may be one that a parent has a line to
      const byHand = spawn(process.execPath, [fileURLToPath(WORKER), socket(0), ""], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      const [said, exit] = await Promise.all([text(byHand.stderr), once(byHand, "exit")]);
      assert.match(said, /started by its supervisor/);
      assert.deepEqual(exit, [1, null]);
    });
  });
});

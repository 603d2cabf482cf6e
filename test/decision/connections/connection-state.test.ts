import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ConnectionState,
  type ConnectionStateOptions,
} from "../../../src/decision/connections/connection-state.ts";
import type { ConnectionDirectives } from "../../../src/decision/connections/connection-registry.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { until } from "../../audit/support/wait.ts";

describe("decision: connection state, as Envoy reads it", () => {
  let parent: string;
  let folder: string;
  let states: ConnectionState[];
  let standings: ConnectionDirectives;
  let logged: string[];
  let now: number;
  let metrics: ReturnType<typeof createMetrics>;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "gatehouse-state-"));
    folder = join(parent, "connections");
    states = [];
    standings = { closed: {}, plans: {} };
    logged = [];
    now = 1_800_000_000_999;
    metrics = createMetrics();
  });
  afterEach(async () => {
    await Promise.all(states.map((state) => state.close()));
    await rm(parent, { recursive: true });
  });

  const HOURS = 3_600_000;
  const make = (options: Partial<ConnectionStateOptions> = {}) => {
    const state = new ConnectionState({
      directory: folder,
      worker: 1,
      directives: () => standings,
      metrics,
      log: {
        info: (_, message) => logged.push(message),
        warn: (_, message) => logged.push(message),
        error: (_, message) => logged.push(message),
      },
      heartbeat: HOURS,
      clock: () => now,
      ...options,
    });
    states.push(state);
    return state;
  };
  const read = async () =>
    JSON.parse(await readFile(join(folder, "1.json"), "utf8")) as Record<string, unknown>;
  const failures = async () => (await metrics.connectionStateFailures.get()).values[0]?.value;

  it("is a file of the worker's own, for its owner alone, there once it has started", async () => {
    const state = make();
    assert.equal(state.place.file, join(folder, "1.json"));
    await state.start();
    const { epoch } = state.place;
    assert.deepEqual(await read(), { epoch, at: 1_800_000_000, closed: {}, plans: {} });
    assert.equal((await stat(join(folder, "1.json"))).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    assert.deepEqual(await readdir(folder), ["1.json"]);
  });

  it("is of this life only", () => {
    assert.notEqual(make().place.epoch, make().place.epoch);
  });

  it("is written soon after a change, and many changes at once", async () => {
    let asked = 0;
    const state = make({
      collectFor: 5,
      directives: () => {
        asked += 1;
        return standings;
      },
    });
    await state.start();
    standings = { closed: { dec_1: { code: 1008, reason: "POLICY_CHANGED" } }, plans: { dec_2: '{"ir":1}' } };
    now += 1_000;
    for (let i = 0; i < 10; i += 1) state.changed();
    await until(async () => (await read())["at"] === 1_800_000_001, "the file is written");
    assert.deepEqual(await read(), {
      epoch: state.place.epoch,
      at: 1_800_000_001,
      closed: { dec_1: { code: 1008, reason: "POLICY_CHANGED" } },
      plans: { dec_2: '{"ir":1}' },
    });
    assert.equal(asked, 2);
  });

  it("is written without a change, too", async () => {
    const state = make({ heartbeat: 2 });
    await state.start();
    now += 5_000;
    await until(async () => (await read())["at"] === 1_800_000_005, "the file is written");
  });

  it("has what changed while it was being written", async () => {
    const state = make({ collectFor: 0 });
    const first = state.start();
    state.changed();
    await new Promise((resolve) => setTimeout(resolve, 2));
    standings = { closed: { dec_1: { code: 1008, reason: "POLICY_CHANGED" } }, plans: {} };
    state.changed();
    await first;
    await until(async () => Object.keys((await read())["closed"] as object).length === 1, "the change");
  });

  it("is never seen half written", async () => {
    const plan = "x".repeat(200_000);
    standings = { closed: {}, plans: { dec_1: plan } };
    const state = make({ heartbeat: 1 });
    await state.start();
    for (let i = 0; i < 200; i += 1) {
      const { plans } = await read();
      assert.equal((plans as Record<string, string>)["dec_1"]?.length, 200_000);
    }
  });

  it("is taken away at the end, and not written again", async () => {
    const state = make({ collectFor: 1, heartbeat: 1 });
    await state.start();
    state.changed();
    await state.close();
    state.changed();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(await readdir(folder), []);
  });

  it("that cannot be written is counted, said once, and tried again", async () => {
    await mkdir(folder, { mode: 0o700 });
    await mkdir(join(folder, "1.json"));
    await mkdir(join(folder, "1.json", "in-the-way"));
    const state = make({ heartbeat: 1 });
    await state.start();
    await until(async () => ((await failures()) ?? 0) >= 3, "it is tried again");
    const message = "cannot write connection state; Envoy will close WebSocket connections";
    assert.deepEqual(logged, [message]);
    await rm(join(folder, "1.json"), { recursive: true });
    await until(() => logged.length === 2, "it is written again");
    assert.equal(logged[1], "connection state is being written again");
    assert.equal((await read())["epoch"], state.place.epoch);
  });

  it("is not written where others may look or put something else in its place", async () => {
    await mkdir(folder, { mode: 0o755 });
    await chmod(folder, 0o750);
    await make().start();
    assert.deepEqual(await readdir(folder), []);
    assert.equal(await failures(), 1);

    const elsewhere = join(parent, "elsewhere");
    await mkdir(elsewhere, { mode: 0o700 });
    const link = join(parent, "link");
    await symlink(elsewhere, link);
    await make({ directory: link }).start();
    assert.deepEqual(await readdir(elsewhere), []);
    assert.equal(await failures(), 2);
  });

  it("that cannot even be made up is no reason to fall", async () => {
    const state = make({
      directives: () => {
        throw new Error("no");
      },
    });
    await state.start();
    assert.equal(await failures(), 1);
  });
});

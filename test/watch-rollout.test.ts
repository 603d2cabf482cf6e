import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump } from "js-yaml";
import { loadGatewayConfig } from "../src/config/index.ts";
import { watchRollout } from "../src/processes/gateway/watch-config.ts";
import type { Job } from "../src/runtime/every.ts";
import type { Log } from "../src/telemetry/log.ts";
import { eventually } from "./support/eventually.ts";

const ROLLOUT = { candidate: "candidate", mode: "enforce", percentage: 50, state_file: "state.json" };

describe("a gateway that follows the section `rollout` of its file", () => {
  let directory: string;
  let path: string;
  let applied: (string | undefined)[];
  let failing: boolean;
  let logged: string[];
  let watching: Job;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-watch-"));
    path = join(directory, "gateway.yaml");
    [applied, failing, logged] = [[], false, []];
    await write(ROLLOUT);
    const load = () => loadGatewayConfig({ file: path, env: {} });
    const started = load();
    assert.ok(started.ok, started.ok ? "" : started.errors);
    const say = (_fields: object, message: string) => logged.push(message);
    watching = watchRollout({ path, load }, started.config, {
      apply({ candidate, percentage }) {
        applied.push(candidate === undefined ? "none" : String(percentage));
        return failing ? Promise.reject(new Error("a worker cannot load it")) : Promise.resolve();
      },
      log: { info: say, warn: say, error: say } as unknown as Log,
    });
  });
  afterEach(async () => {
    await watching.close();
    await rm(directory, { recursive: true });
  });

  async function write(rollout: object | undefined): Promise<void> {
    const identity = { issuer: "https://login.test", audience: "app" };
    await writeFile(`${path}.new`, dump({ identity, ...(rollout && { rollout }) }));
    await rename(`${path}.new`, path);
  }

  it("ends the rollout when the section is removed, with `state_file` and all", async () => {
    await write(undefined);
    await eventually("the end", () => applied.length > 0);
    assert.deepEqual(applied, ["none"]);
    assert.deepEqual(logged, ["`rollout.state_file` takes effect only at a start"]);
  });

  it("tries again what could not be published, and goes back to what was before if the file does", async () => {
    failing = true;
    await write({ ...ROLLOUT, percentage: 0 });
    await eventually("several attempts", () => applied.length >= 3);
    assert.deepEqual(logged, ["could not follow the configuration; will retry"]);
    await write(ROLLOUT);
    failing = false;
    await eventually("the former percentage", () => applied.at(-1) === "50");
    const { length } = applied;
    await watching.run();
    assert.equal(applied.length, length, "once");
  });
});

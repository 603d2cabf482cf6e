import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig, type GatewayConfig } from "../src/config/index.ts";
import type { Candidate } from "../src/decision/policies/release.ts";
import type { SourcedSet } from "../src/decision/policies/policy-source.ts";
import type { RolloutSettings } from "../src/decision/rollout/rollout-controller.ts";
import {
  createCandidatePublishing,
  type CandidatePublishing,
  type CandidateTerms,
} from "../src/processes/gateway/publish-candidate.ts";
import { createRolloutPublishing } from "../src/processes/gateway/publish-rollout.ts";
import { createRolloutMemory } from "../src/processes/gateway/rollout-memory.ts";
import { createMetrics } from "../src/telemetry/metrics.ts";
import { ruleOf, silentLog } from "./decision/support.ts";
import { eventually } from "./support/eventually.ts";

const ENFORCE: RolloutSettings = {
  ...{ mode: "enforce", percentage: 10, stickyBy: "user", steps: [], stepPauseMs: 0 },
};
const setOf = (version: string): SourcedSet => ({
  files: [{ name: "default.yaml", text: ruleOf("true", `version: ${version}`) }],
  ...{ diagnostics: [], fingerprint: version, version },
});

function configOf(rollout: Readonly<Record<string, unknown>> = {}): GatewayConfig {
  const overrides = Object.fromEntries(
    Object.entries(rollout).map(([name, value]) => [`rollout.${name}`, value]),
  );
  const identity = { "identity.issuer": "https://login.test", "identity.audience": "app" };
  const loaded = loadGatewayConfig({ env: {}, overrides: { ...identity, ...overrides } });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
  return loaded.config;
}

describe("a gateway's candidate", () => {
  let directory: string;
  let published: string[];
  let changes: string[];
  let failing: boolean;
  let loaded: PromiseWithResolvers<SourcedSet>;
  let wanted: boolean;
  let candidates: CandidatePublishing;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-candidate-"));
    await writeFile(join(directory, "default.yaml"), ruleOf("true", "version: local"));
  });
  beforeEach(() => {
    [published, changes, failing, wanted] = [[], [], false, true];
    loaded = Promise.withResolvers();
    candidates = opened();
  });
  afterEach(() => {
    candidates.close();
  });
  after(() => rm(directory, { recursive: true }));

  function opened(memory?: ReturnType<typeof createRolloutMemory>): CandidatePublishing {
    return createCandidatePublishing(configOf(), {
      publish(candidate: Candidate | null) {
        if (failing) return Promise.reject(new Error("a worker cannot load it"));
        published.push(candidate === null ? "none" : `${candidate.set.label} ${candidate.percentage}`);
        return Promise.resolve();
      },
      changed: ({ change }, rollout) => changes.push(`${change} ${rollout}`),
      ...(memory && { memory }),
      metrics: createMetrics(),
      log: silentLog,
    });
  }
  const termsOf = (id: string, percentage: number): CandidateTerms => ({
    ...{ key: id, rollout: id, settings: { ...ENFORCE, percentage }, retry: false },
    source: { kind: "control_plane", read: () => loaded.promise, watch: () => () => undefined },
    isWanted: () => wanted,
  });

  it("is not put in force if its rollout was aborted while it was loaded", async () => {
    const following = candidates.follow(termsOf("rol_1", 10));
    wanted = false;
    loaded.resolve(setOf("v2"));
    await following;
    await candidates.follow(undefined);
    assert.deepEqual(published, []);
  });

  it("is put in force on the terms that it has once it is loaded, never on those before", async () => {
    const following = candidates.follow(termsOf("rol_1", 100));
    wanted = false;
    loaded.resolve(setOf("v2"));
    await following;
    wanted = true;
    await candidates.follow(termsOf("rol_1", 10));
    assert.deepEqual(published, ["default@v2 10"]);
  });

  it("is taken back in the end, and can be followed again, if its end could not be published", async () => {
    loaded.resolve(setOf("v2"));
    await candidates.follow(termsOf("rol_1", 10));
    failing = true;
    await assert.rejects(candidates.follow(undefined), /cannot load it/);
    assert.match(candidates.status()?.detail ?? "", /could not be taken back yet/);
    failing = false;
    await eventually("it is taken back", () => published.includes("none"));
    await candidates.follow(termsOf("rol_1", 20));
    assert.deepEqual(published, ["default@v2 10", "none", "default@v2 20"]);
    assert.deepEqual(changes, ["started rol_1", "stopped rol_1", "started rol_1"]);
  });

  it("in a folder has precedence, and nothing that it does counts for the control plane's", async () => {
    const config = configOf({ candidate: directory, mode: "enforce", percentage: 50 });
    const refresh = () => {
      published.push("refreshed");
      return Promise.resolve();
    };
    const rollout = createRolloutPublishing(config, { candidates, refresh, log: silentLog });
    await rollout.start();
    loaded.resolve(setOf("v2"));
    await rollout.follow(termsOf("rol_1", 10));
    assert.deepEqual(published, ["default@local 50"]);
    assert.equal(candidates.progress("rol_1"), undefined);
    assert.deepEqual(changes, ["started undefined"]);
    await rollout.apply(configOf().rollout);
    // before its end, because it may have just been made the gateway's own set
    assert.deepEqual(published, ["default@local 50", "refreshed", "none", "default@v2 10"]);
    assert.notEqual(candidates.progress("rol_1"), undefined);
    assert.deepEqual(changes.slice(1), ["stopped undefined", "started rol_1"]);
  });

  it("has the step at which it was, whenever it was stopped", async () => {
    const file = join(directory, "state.json");
    const settings = { ...ENFORCE, percentage: 0, steps: [1, 100], stepPauseMs: 0 };
    const terms = { ...termsOf("rol_1", 0), settings };
    loaded.resolve(setOf("v2"));
    const first = opened(createRolloutMemory(file, silentLog));
    await first.follow(terms);
    await eventually("the second step", () => published.includes("default@v2 100"));
    first.close();
    published = [];
    const second = opened(createRolloutMemory(file, silentLog));
    await second.follow(terms);
    second.close();
    assert.deepEqual(published, ["default@v2 100"]);
  });
});

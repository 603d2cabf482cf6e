import assert from "node:assert/strict";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { positionOf } from "../../src/decision/decide/rollout-arm.ts";
import { digestOf } from "../../src/decision/policies/snapshot.ts";
import { compilePolicySet } from "../../src/policy/index.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { startGateway, type RunningGateway } from "./gateway.ts";
import type { TestIssuer } from "./providers/issuer.ts";
import { changeRollout, type Arm } from "./rollout.ts";

/** The files of a set, `default.yaml` among them, under a version. */
export type SetOf = (version: string) => Readonly<Record<string, string>>;

/** A gateway whose set `default` is rolled out, and the ways in which its operator does that. */
export interface RolloutCourse {
  readonly gateway: RunningGateway;
  /** Of the present sets. */
  readonly digest: Readonly<Record<Arm, string>>;
  /** Puts the stable set in force, under a new version, without a rollout. */
  begin(): Promise<void>;
  /** The candidate decides for this part of the callers. Resolves when it is in force. */
  enforce(percentage: number): Promise<void>;
  /** Makes the candidate the stable set. Resolves when there is no rollout any more. */
  promote(): Promise<void>;
  /** Takes the candidate back. Resolves when there is no rollout any more. */
  abort(): Promise<void>;
  stop(): Promise<void>;
}

/** The control plane of a {@link RolloutCourse}. */
export interface PublishedCourse extends RolloutCourse {
  readonly plane: ControlPlaneProcess;
  readonly api: ReturnType<typeof apiClient>;
}

export interface CourseOptions {
  readonly backend: string;
  readonly issuer: TestIssuer;
  readonly sets: Readonly<Record<Arm, SetOf>>;
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The way of the gateway to its control plane. Default: directly. */
  readonly way?: (url: string) => Promise<string>;
}

/** Users whose callers get the candidate from 1, 10, 50 and 100 % on, so many of each. */
export function usersOfSteps(each: number): readonly string[] {
  const bounds = [0, 1, 10, 50, 100];
  const bands = bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? 0, to, users: [] as string[] }));
  for (let n = 0; bands.some(({ users }) => users.length < each); n += 1) {
    const user = `user-${n}`;
    const position = positionOf("default", ["user", "", user]);
    const band = bands.find(({ from, to }) => position >= from && position < to);
    if (band !== undefined && band.users.length < each) band.users.push(user);
  }
  return bands.flatMap(({ users }) => users);
}

/** A busy machine takes long to compile a set, and a gateway to load it. */
const BOUND_MS = 240_000;

async function readiness({ adminUrl }: RunningGateway): Promise<string> {
  return (await fetch(`${adminUrl}/readyz`)).text();
}

function isInForce(gateway: RunningGateway, version: string): Promise<boolean> {
  return eventually(
    `default@${version} is in force, and nothing else`,
    async () => {
      const text = await readiness(gateway);
      return text.includes(`default@${version} is in force`) && !text.includes('"rollout"');
    },
    BOUND_MS,
  );
}

function isEnforced(gateway: RunningGateway, version: string, percentage: number): Promise<boolean> {
  const expected = `default@${version} decides for ${percentage} % of the callers, by user`;
  return eventually(expected, async () => (await readiness(gateway)).includes(expected), BOUND_MS);
}

/** A candidate in a folder, and the section `rollout` of `gateway.yaml`. */
export async function startFolderCourse({
  backend,
  issuer,
  sets,
  config,
}: CourseOptions): Promise<RolloutCourse> {
  let serial = 0;
  let versions = { stable: "", candidate: "" };
  let files = { stable: sets.stable("s0"), candidate: sets.candidate("c0") };
  const gateway = await startGateway({
    ...{ backend, issuer, policies: files.stable, nodes: 2 },
    ...(config && { config }),
  });
  const writeCandidate = async () => {
    const folder = join(gateway.directory, "candidate");
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files.candidate)) {
      await writeFile(join(folder, `${name}.new`), text);
      await rename(join(folder, `${name}.new`), join(folder, name));
    }
  };
  return {
    gateway,
    get digest() {
      return { stable: digestOfFiles(files.stable), candidate: digestOfFiles(files.candidate) };
    },
    async begin() {
      serial += 1;
      versions = { stable: `s${serial}`, candidate: `c${serial}` };
      files = { stable: sets.stable(versions.stable), candidate: sets.candidate(versions.candidate) };
      await writeCandidate();
      await gateway.writePolicies(files.stable);
      await isInForce(gateway, versions.stable);
    },
    async enforce(percentage) {
      const guard = { enabled: false };
      await changeRollout(gateway, { candidate: "candidate", mode: "enforce", percentage, guard });
      await isEnforced(gateway, versions.candidate, percentage);
    },
    async promote() {
      // one right after the other, as docs/rollout.md has it
      await gateway.writePolicies(files.candidate);
      await changeRollout(gateway, undefined);
      await isInForce(gateway, versions.candidate);
    },
    async abort() {
      await changeRollout(gateway, undefined);
      await isInForce(gateway, versions.stable);
    },
    stop: () => gateway.stop(),
  };
}

function digestOfFiles(files: Readonly<Record<string, string>>): string {
  const texts = Object.entries(files).map(([name, text]) => ({ name, text }));
  const { ir, diagnostics } = compilePolicySet(texts, { name: "default" });
  assert.ok(ir, JSON.stringify(diagnostics));
  return digestOf(ir);
}

/** The configuration of the control plane, for whoever starts it again. */
export const PLANE_CONFIG = { api: { ...PRODUCTION_ONLY, rate_limits: { management: 10_000 } } };

/** A candidate that is published at the control plane. */
export async function startPublishedCourse({
  backend,
  issuer,
  sets,
  config,
  way = (url) => Promise.resolve(url),
}: CourseOptions): Promise<PublishedCourse> {
  const plane = await startControlPlaneProcess({ config: PLANE_CONFIG });
  const api = apiClient(plane.url.production, await plane.createKey("production", "full_access"));
  let serial = 0;
  const versions = { stable: "", candidate: "" };
  const digest = { stable: "", candidate: "" };
  async function call(path: string, body?: object): Promise<void> {
    const answer = await eventually(
      "a machine that is not too busy to compile a set in time",
      async () => {
        const { status, body: said } = await api("POST", `/policy-sets${path}`, body);
        const text = JSON.stringify(said);
        return !text.includes("set-too-slow") && { status, text };
      },
      BOUND_MS,
    );
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
  }
  async function publish(arm: Arm): Promise<void> {
    serial += 1;
    versions[arm] = `v${serial}`;
    const files = Object.entries(sets[arm](versions[arm])).map(([name, text]) => ({ name, text }));
    await call("", { name: "default", files, activate: arm === "stable" });
    digest[arm] = digestOfFiles(sets[arm](versions[arm]));
  }
  await publish("stable");
  const gateway = await startGateway({
    ...{ backend, issuer, policies: {}, nodes: 2 },
    config: {
      policies: { source: "control_plane", refresh_interval: "1s" },
      control_plane: {
        url: await way(plane.url.production),
        api_key: await plane.createKey("production", "gateway"),
      },
      ...config,
    },
  });
  return {
    ...{ gateway, plane, api, digest },
    async begin() {
      // of a test that has failed
      await api("POST", "/policy-sets/default/rollout/abort");
      await publish("stable");
      await publish("candidate");
      await isInForce(gateway, versions.stable);
    },
    async enforce(percentage) {
      const terms = { version: versions.candidate, mode: "enforce", percentage, guard: null };
      await call("/default/rollout", terms);
      await isEnforced(gateway, versions.candidate, percentage);
    },
    async promote() {
      await call("/default/rollout/promote");
      await isInForce(gateway, versions.candidate);
    },
    async abort() {
      await call("/default/rollout/abort");
      await isInForce(gateway, versions.stable);
    },
    async stop() {
      await gateway.stop();
      await plane.stop();
    },
  };
}

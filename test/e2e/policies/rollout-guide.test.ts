import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { blocksOf, withPlaces } from "../../authorizers/support/guide.ts";
import { runCommands } from "../../deploy/support/guide-blocks.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { changeRollout } from "../../support/rollout.ts";
import { usersOfSteps } from "../../support/rollout-course.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

const ROOT = new URL("../../../", import.meta.url);
const CLI = fileURLToPath(new URL("bin/gatehouse.js", ROOT));
const [FOLDER = ""] = readFileSync(new URL("docs/rollout.md", ROOT), "utf8").split("## Published sets");

/** The record in the guide names the fourth rule. */
const POLICIES = `version: v1
policies:
  - { resource: GET /health, condition: "true" }
  - { resource: GET /about, condition: "true" }
  - { resource: GET /me, condition: exists(user.id) }
  - { resource: GET /api/orders, condition: exists(user.id) }
`;
/** Stands for somebody's editor: another version, in which the last rule requires a role. */
const EDITOR = `#!/bin/sh
sed -i -e 's/^version: v1$/version: v2/' -e '$s/exists(user.id)/user.role == "admin"/' "$1"
`;
const USERS = usersOfSteps(2);
type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The commands and sections of docs/rollout.md about a candidate in a folder, as they are written there, except for places. */
describe("end to end: the guide to rollouts of a candidate in a folder", function () {
  this.timeout(300_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let tokens: Map<string, string>;
  const [prepare = "", differences = "", denials = "", finish = "", ...otherCommands] = blocksOf(
    FOLDER,
    "sh",
  );
  const sections = blocksOf(FOLDER, "yaml").map((block) => {
    const { rollout, ...others } = load(block) as Sections;
    assert.deepEqual(others, {});
    return rollout ?? {};
  });
  const [shadow = {}, firstDay = {}, enforce = {}, steps = {}, memory = {}, ...otherSections] = sections;

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    tokens = new Map(
      await Promise.all(
        USERS.map(async (sub) => [sub, await issuer.token({ sub, role: "viewer" })] as const),
      ),
    );
    gateway = await startGateway({
      ...{ backend: upstream.url, issuer, nodes: 2 },
      policies: { "default.yaml": POLICIES },
      config: { rollout: { state_file: "rollout.json" } },
    });
    await writeFile(join(gateway.directory, "editor"), EDITOR);
    await chmod(join(gateway.directory, "editor"), 0o700);
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([upstream.close(), issuer.close()]);
  });

  const run = (block: string) =>
    runCommands(block, {
      cwd: gateway.directory,
      prelude: `npx() { shift; '${process.execPath}' '${CLI}' "$@"; }`,
      env: { ...process.env, EDITOR: "./editor" },
    });
  const scraped = (block: string) => withPlaces(block, { "localhost:9090": new URL(gateway.adminUrl).host });
  /** The section as the guide has it, and the state file that the gateway was started with. */
  const follow = (section: object) => changeRollout(gateway, { ...section, state_file: "rollout.json" });
  const readiness = async () => (await fetch(`${gateway.adminUrl}/readyz`)).text();
  const isSaid = (text: string) =>
    eventually(`/readyz says \`${text}\``, async () => (await readiness()).includes(text));
  const statusFor = async (user: string) => {
    const headers = { authorization: `Bearer ${tokens.get(user)}` };
    return (await fetch(`${gateway.url}/api/orders`, { headers })).status;
  };
  const statuses = async () => new Set(await Promise.all(USERS.map(statusFor)));

  it("has no block that is not tried here", () => {
    assert.deepEqual([otherCommands, otherSections], [[], []]);
    assert.equal(blocksOf(FOLDER, "json").length, 1);
  });

  it("evaluates in shadow, with the record and the metrics that it shows", async () => {
    await run(prepare);
    const candidate = await readFile(join(gateway.directory, "candidate/default.yaml"), "utf8");
    assert.match(candidate, /version: v2[^]*user\.role == "admin"/);
    await follow(shadow);
    await isSaid("default@v2 is evaluated in shadow and decides nothing");
    assert.deepEqual(await statuses(), new Set([200]));
    const shown = JSON.parse(blocksOf(FOLDER, "json")[0] ?? "") as Record<string, unknown>;
    const record = await eventually("a difference", async () =>
      (await gateway.audit()).find(({ event }) => event === "shadow_decision"),
    );
    const same = Object.fromEntries(Object.keys(shown).map((name) => [name, record[name]]));
    assert.deepEqual(same, { ...shown, request_id: record["request_id"], user_id: record["user_id"] });
    const printed = await eventually("the differences of everybody", async () => {
      const text = await run(scraped(differences));
      return USERS.every((user) => text.includes(`"user_id":"${user}"`)) && text;
    });
    assert.match(
      printed,
      /^\{"difference":"denies","candidate_rule":"policies\[3\]","resource":"\/api\/orders","user_id":"user-\d+"\}$/m,
    );
    for (const metric of [
      /^gatehouse_shadow_decisions_total\{.*result="different".*\} \d+$/m,
      /^gatehouse_shadow_differences_total\{.*difference="denies".*rule="policies\[3\]".*\} \d+$/m,
    ])
      assert.match(printed, metric);
  });

  it("enforces it for 1 % of the callers, and then for more, step by step", async () => {
    await follow(enforce);
    await isSaid("default@v2 decides for 1 % of the callers, by user");
    const [first = "", , next = ""] = USERS;
    assert.deepEqual([await statusFor(first), await statusFor(next)], [403, 200]);
    const printed = await eventually("the denial", async () => {
      const text = await run(scraped(denials));
      return text.includes(first) && text;
    });
    assert.match(
      printed,
      /^\{"user_id":"user-\d+","resource":"\/api\/orders","reason":"CONDITION_FALSE","rule":"policies\[3\]"\}$/m,
    );
    assert.match(printed, /^gatehouse_rollout_percentage\{.*policy_set="default@v2".*mode="enforce".*\} 1$/m);
    await follow(steps);
    const state = await eventually("the state of the steps", async () => {
      const text = await readFile(join(gateway.directory, "rollout.json"), "utf8");
      return text.includes('"steps":[1,10,50,100]') && text;
    });
    assert.match(state, /"step":0/);
    assert.deepEqual(Object.keys(memory), ["state_file"]);
  });

  it("takes it back by each of the three ways", async () => {
    const all = { ...enforce, percentage: 100 };
    for (const back of [{ ...all, percentage: 0 }, { ...all, mode: "shadow" }, undefined]) {
      await follow(all);
      await isSaid("default@v2 decides for 100 % of the callers, by user");
      assert.deepEqual(await statuses(), new Set([403]));
      if (back === undefined) await changeRollout(gateway, undefined);
      else await follow(back);
      await eventually("the stable set decides for everybody", async () =>
        [...(await statuses())].every((status) => status === 200),
      );
    }
  });

  it("finishes without anybody noticing", async () => {
    await follow({ ...enforce, percentage: 100 });
    await isSaid("default@v2 decides for 100 % of the callers, by user");
    const seen = new Set<number>();
    let running = true;
    const load = USERS.map(async (user) => {
      while (running) seen.add(await statusFor(user));
    });
    try {
      await run(finish);
      await changeRollout(gateway, undefined);
      await eventually("there is no rollout any more", async () => {
        const text = await readiness();
        return text.includes("default@v2 is in force") && !text.includes('"rollout"');
      });
      assert.deepEqual(await statuses(), new Set([403]));
    } finally {
      running = false;
      await Promise.all(load);
    }
    assert.deepEqual(seen, new Set([403]));
  });

  it("begins with a candidate alone, which denies nothing on the first day", async () => {
    await gateway.stop();
    gateway = await startGateway({
      ...{ backend: upstream.url, issuer, policies: {} },
      config: { rollout: firstDay },
    });
    await mkdir(join(gateway.directory, "candidate"));
    await writeFile(join(gateway.directory, "candidate/default.yaml"), POLICIES);
    await isSaid("NO POLICY SET IS ENFORCED");
    assert.match(gateway.stderr(), /NO POLICY SET IS ENFORCED/);
    await isSaid("default@v1 is evaluated in shadow and decides nothing");
    assert.equal((await fetch(`${gateway.url}/api/orders`)).status, 200);
    await eventually("what it would deny", async () =>
      (await gateway.audit()).some(
        ({ event, difference, resource }) =>
          event === "shadow_decision" && difference === "denies" && resource === "/api/orders",
      ),
    );
  });
});

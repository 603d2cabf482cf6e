import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { eventually } from "../../support/eventually.ts";
import { CANDIDATE, changeRollout, DIGEST, STABLE, useRolloutGateway } from "../../support/rollout.ts";

const POSTS = `
version: v1
policies:
  - resource: POST /people
    condition: exists(user.id)`;

describe("end to end: a candidate in shadow", function () {
  this.timeout(240_000);
  const from = useRolloutGateway();
  const shadow = (more: object = {}) =>
    changeRollout(from.gateway, { candidate: "candidate", mode: "shadow", ...more });
  const shadowIsOn = () =>
    eventually("the shadow is on", async () =>
      (await (await fetch(`${from.gateway.adminUrl}/readyz`)).text()).includes("shadow and decides nothing"),
    );
  const differences = async () =>
    (await from.gateway.audit()).filter(({ event }) => event === "shadow_decision");

  it("changes nothing, and every difference is a record and counted by rule", async () => {
    await shadow();
    await shadowIsOn();
    assert.equal(await from.armOfPath("user-1"), "stable");
    assert.equal(await from.armOfMask("user-1"), "stable");
    assert.equal(await from.armOfGraphql("user-1"), "stable");
    assert.equal(await from.armOfSocket(await from.connect("user-1")), "stable");
    const found = await eventually("all differences", async () => {
      const records = await differences();
      return records.length >= 5 ? records : undefined;
    });
    assert.deepEqual(
      found.map((one) => `${String(one["action"])} ${one.resource} ${String(one["difference"])}`).sort(),
      [
        "GET /arm denies",
        "GET /feed plan",
        "GET /people plan",
        "POST /graphql allows",
        "POST /graphql denies",
      ],
    );
    const arm = found.find(({ resource }) => resource === "/arm");
    assert.deepEqual(
      [arm?.decision, arm?.reason, arm?.["rule"], arm?.["policy_digest"], arm?.["user_id"]],
      ["ALLOW", "CONDITION_TRUE", "policies[0]", DIGEST.stable, "user-1"],
    );
    assert.deepEqual(
      [
        arm?.["candidate_decision"],
        arm?.["candidate_reason"],
        arm?.["candidate_rule"],
        arm?.["candidate_digest"],
      ],
      ["DENY", "CONDITION_UNKNOWN", "policies[0]", DIGEST.candidate],
    );
    const decided = (await from.gateway.audit()).find(({ request_id }) => request_id === arm?.["request_id"]);
    assert.equal(decided?.decision, "ALLOW");
    const denies = { difference: "denies", rule: "policies[0]" };
    assert.equal(await from.gateway.metric("gatehouse_shadow_differences_total", denies), 1);
    await eventually("the equation holds", async () => {
      const [ended, recorded] = [
        await from.gateway.metric("gatehouse_outcomes_total"),
        await from.gateway.metric("gatehouse_audit_outcomes_recorded_total"),
      ];
      return ended > 5 && ended === recorded;
    });
  });

  it("records nothing where both sets decide the same", async () => {
    await from.writeCandidate(STABLE.replace("version: stable", "version: same"));
    await shadow();
    await shadowIsOn();
    await from.armOfMask("user-1");
    await from.armOfGraphql("user-1");
    await from.armOfSocket(await from.connect("user-1"));
    await eventually(
      "all are compared",
      async () => (await from.gateway.metric("gatehouse_shadow_decisions_total", { result: "same" })) === 4,
    );
    assert.deepEqual(await differences(), []);
  });

  it("says nothing of a request whose body only the candidate reads", async () => {
    await from.restart({ policies: { "default.yaml": POSTS } });
    await from.writeCandidate(
      `${POSTS.replace("v1", "v2")} and request.body.kind == "x" and user.id == "user-1"`,
    );
    await shadow();
    await shadowIsOn();
    const post = (user: string) =>
      fetch(`${from.gateway.url}/people`, {
        method: "POST",
        headers: { ...from.headers(user), "content-type": "application/json" },
        body: '{"kind":"x"}',
      });
    assert.equal((await post("user-1")).status, 200);
    // denied whatever the body says
    assert.equal((await post("user-2")).status, 200);
    await eventually(
      "one is not compared",
      async () =>
        (await from.gateway.metric("gatehouse_shadow_decisions_total", { result: "dropped" })) === 1,
    );
    const found = await eventually("the other one's difference", async () => {
      const records = await differences();
      return records.length > 0 && records;
    });
    assert.deepEqual(
      found.map((one) => [one["user_id"], one["difference"], one["candidate_reason"]]),
      [["user-2", "denies", "CONDITION_FALSE"]],
    );
  });

  for (const [version, what] of [
    ["throws", "that throws"],
    ["second", "that takes a second for each batch"],
  ] as const)
    it(`decides the same beside a candidate ${what}`, async () => {
      const faults = new URL("../../support/shadow-faults.ts", import.meta.url).href;
      await from.restart({ policies: { "default.yaml": STABLE }, nodeOptions: `--import=${faults}` });
      await from.writeCandidate(CANDIDATE.replace("version: candidate", `version: ${version}`));
      await shadow();
      await shadowIsOn();
      const result = version === "throws" ? "failed" : "different";
      await eventually("its thread had work", async () => {
        assert.equal(await from.armOfPath("user-1"), "stable");
        assert.equal(await from.armOfMask("user-1"), "stable");
        return (await from.gateway.metric("gatehouse_shadow_decisions_total", { result })) > 0;
      });
      assert.equal((await from.gateway.children()).workers.length, 1);
      assert.doesNotMatch(from.gateway.stderr(), /exited|not ready/);
    });

  it("lets everything pass where there is no set yet, and records what would be denied", async () => {
    await from.restart({
      policies: { "candidate/default.yaml": CANDIDATE },
      config: {
        policies: { directory: "nothing" },
        rollout: { stable: "none", mode: "shadow", candidate: "policies/candidate" },
      },
    });
    await eventually("the log says so", () => from.gateway.stderr().includes("NO POLICY SET IS ENFORCED"));
    const ready = await (await fetch(`${from.gateway.adminUrl}/readyz`)).text();
    assert.match(ready, /NO POLICY SET IS ENFORCED/);
    await shadowIsOn();
    assert.equal((await from.get("user-1", "/arm")).status, 200);
    assert.equal((await from.get("user-1", "/anything")).status, 200);
    assert.equal((await fetch(`${from.gateway.url}/arm`)).status, 200);
    const socket = await from.connect("user-1");
    assert.equal(socket.refusal(), undefined);
    const found = await eventually("the differences", async () => {
      const records = await differences();
      return records.length >= 4 ? records : undefined;
    });
    assert.deepEqual(
      found
        .map((one) => `${one.resource} ${String(one["difference"])} ${String(one["candidate_reason"])}`)
        .sort(),
      [
        "/anything denies NO_MATCHING_RULE",
        "/arm denies CONDITION_UNKNOWN",
        "/arm denies IDENTITY_REQUIRED",
        "/feed plan CONDITION_TRUE",
      ],
    );
  });

  it("does not start where a set is there that would not be enforced", async () => {
    const { directory } = from.gateway;
    await changeRollout(from.gateway, { stable: "none", mode: "shadow", candidate: "candidate" });
    const cli = fileURLToPath(new URL("../../../bin/gatehouse.js", import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [cli, "authz", "--config", "gateway.yaml"], {
      cwd: directory,
      encoding: "utf8",
      timeout: 60_000,
    });
    assert.equal(status, 1, stderr);
    assert.match(stderr, /has the policy set `default`: remove `rollout.stable`/);
  });

  it("denies everything where the set is missing that the configuration speaks of", async () => {
    await from.restart({
      policies: { "candidate/default.yaml": CANDIDATE },
      config: {
        policies: { directory: "nothing" },
        rollout: { mode: "shadow", candidate: "policies/candidate" },
      },
      unready: true,
    });
    await eventually("it says so", () => from.gateway.stderr().includes("every request is denied"));
    const ready = await (await fetch(`${from.gateway.adminUrl}/readyz`)).text();
    assert.doesNotMatch(ready, /NO POLICY SET IS ENFORCED/);
  });
});

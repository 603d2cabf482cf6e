import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerOf } from "../../support/answer-of.ts";
import { eventually } from "../../support/eventually.ts";
import {
  CANDIDATE,
  changeRollout,
  DIGEST,
  getsCandidate,
  STABLE,
  useRolloutGateway,
  USERS,
  type Arm,
} from "../../support/rollout.ts";

describe("end to end: a candidate that is rolled out", function () {
  this.timeout(240_000);
  const from = useRolloutGateway();

  it("decides on paths, responses, GraphQL and connections of the same users", async () => {
    await from.enforce(50);
    await from.percentageIs(50);
    const seen = new Set<Arm>();
    for (const user of USERS) {
      const arm: Arm = getsCandidate(user, 50) ? "candidate" : "stable";
      seen.add(arm);
      assert.deepEqual(
        [
          await from.armOfPath(user),
          await from.armOfMask(user),
          await from.armOfGraphql(user),
          await from.armOfSocket(await from.connect(user)),
        ],
        [arm, arm, arm, arm],
        user,
      );
    }
    assert.equal(seen.size, 2);
    await eventually(
      "records of all users",
      async () => (await from.gateway.audit()).length >= USERS.length * 5,
    );
    for (const record of await from.gateway.audit()) {
      if (record["event"] !== undefined) continue;
      const arm: Arm = getsCandidate(String(record["user_id"]), 50) ? "candidate" : "stable";
      assert.deepEqual([record["rollout_arm"], record["policy_digest"]], [arm, DIGEST[arm]]);
    }
  });

  it("takes as many of a thousand users as it says, and gives none of them back when it rises", async () => {
    const users = Array.from({ length: 1_000 }, (_, n) => `person-${n}`);
    await from.addUsers(users);
    let before = new Set<string>();
    for (const percentage of [1, 10, 50, 100]) {
      await from.enforce(percentage);
      await from.percentageIs(percentage);
      const taken = new Set<string>();
      const waiting = users.values();
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (const user of waiting) if ((await from.armOfPath(user)) === "candidate") taken.add(user);
        }),
      );
      const share = percentage / 100;
      const expected = users.length * share;
      // four standard deviations of the binomial distribution
      const bound = 4 * Math.sqrt(expected * (1 - share));
      assert.ok(Math.abs(taken.size - expected) <= bound, `${percentage} %: ${taken.size} users`);
      assert.deepEqual(
        [...before].filter((user) => !taken.has(user)),
        [],
        `${percentage} %`,
      );
      before = taken;
    }
  });

  it("moves open connections when the percentage changes, and only those whose arm changes", async () => {
    await from.enforce(10);
    await from.percentageIs(10);
    const sockets = await Promise.all(USERS.map(async (user) => [user, await from.connect(user)] as const));
    for (const percentage of [10, 50, 0]) {
      await from.enforce(percentage);
      await from.percentageIs(percentage);
      for (const [user, socket] of sockets) {
        const arm: Arm = getsCandidate(user, percentage) ? "candidate" : "stable";
        // Lua reads new plans every second
        await eventually(
          `${user} has the plan of ${arm}`,
          async () => (await from.armOfSocket(socket)) === arm,
        );
        assert.equal(socket.closed(), undefined);
      }
    }
  });

  it("goes up and back under load: no request fails, nobody goes back and forth, and records explain verdicts", async () => {
    let running = true;
    const answers = new Map<string, Arm[]>(USERS.map((user) => [user, []]));
    let failed = 0;
    const load = USERS.map(async (user) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (running) {
        const status = await answerOf(from.gateway.port, agent, from.headers(user), "/arm");
        if (status !== 200 && status !== 403) failed += 1;
        else answers.get(user)?.push(status === 200 ? "stable" : "candidate");
      }
      agent.destroy();
    });
    try {
      for (const percentage of [1, 10, 50, 100]) {
        await from.enforce(percentage);
        await from.percentageIs(percentage);
      }
      await eventually("everybody has an answer of the candidate", () =>
        [...answers.values()].every((arms) => arms.includes("candidate")),
      );
      await changeRollout(from.gateway, undefined);
      await eventually("the rollout has ended", async () =>
        (await Promise.all(USERS.map(from.armOfPath))).every((arm) => arm === "stable"),
      );
    } finally {
      running = false;
      await Promise.all(load);
    }
    assert.equal(failed, 0);
    for (const [user, arms] of answers) {
      const changes = arms.filter((arm, index) => index > 0 && arm !== arms[index - 1]).length;
      assert.ok(changes <= 2, `${user}: ${changes} changes`);
      assert.equal(arms.at(0), getsCandidate(user, 1) ? arms.at(0) : "stable");
    }
    for (const record of await from.gateway.audit()) {
      if (record["event"] !== undefined) continue;
      const expected = record.decision === "DENY" ? DIGEST.candidate : DIGEST.stable;
      assert.equal(record["policy_digest"], expected, JSON.stringify(record));
    }
  });

  it("keeps the stable set while the candidate does not compile, and says why", async () => {
    await from.writeCandidate(
      "version: broken\npolicies:\n  - { resource: GET /arm, condition: user.role = }\n",
    );
    await from.enforce(100);
    await eventually("the findings", () => /candidate.*|there is no candidate/.test(from.gateway.stderr()));
    await eventually("readyz says so", async () =>
      (await (await fetch(`${from.gateway.adminUrl}/readyz`)).text()).includes(
        "candidate: no policy set is in force",
      ),
    );
    assert.equal(await from.armOfPath("user-1"), "stable");
    await from.writeCandidate(CANDIDATE);
    await from.percentageIs(100);
    assert.equal(await from.armOfPath("user-1"), "candidate");
    await from.writeCandidate("policies: [");
    await eventually("the error", () => from.gateway.stderr().includes("stays in force"));
    assert.equal(await from.armOfPath("user-1"), "candidate");
  });

  it("is taken back by the guard, which says so", async () => {
    await from.enforce(50, { guard: { min_requests: 20, window: "1m" } });
    await from.percentageIs(50);
    await eventually("the guard takes it back", async () => {
      await Promise.all(USERS.map(from.armOfPath));
      return (await from.gateway.metric("gatehouse_rollout_rollbacks_total", { cause: "denials" })) === 1;
    });
    assert.deepEqual(new Set(await Promise.all(USERS.map(from.armOfPath))), new Set<Arm>(["stable"]));
    const ready = await (await fetch(`${from.gateway.adminUrl}/readyz`)).text();
    assert.match(ready, /the candidate was taken back: denials/);
    await eventually("the log says so", () =>
      from.gateway.stderr().includes("does worse than the stable set and was taken back"),
    );
    const record = await eventually("its record", async () =>
      (await from.gateway.audit()).find(({ change }) => change === "rolled_back"),
    );
    assert.deepEqual(
      [record["event"], record["policy_digest"], record["percentage"], record["cause"]],
      ["rollout", DIGEST.candidate, 0, "denials"],
    );
  });

  it("goes up by itself, step by step", async () => {
    await changeRollout(from.gateway, {
      ...{ candidate: "candidate", mode: "enforce", steps: [10, 100], step_pause: "1s" },
      guard: { enabled: false },
    });
    await from.percentageIs(100);
    const changes = await eventually("two records", async () => {
      const found = (await from.gateway.audit()).filter(({ event }) => event === "rollout");
      return found.length === 2 ? found : undefined;
    });
    assert.deepEqual(
      changes.map(({ change, percentage }) => [change, percentage]),
      [
        ["started", 10],
        ["changed", 100],
      ],
    );
  });

  describe("after a restart", () => {
    let directory: string;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), "gatehouse-rollout-"));
      await writeFile(join(directory, "default.yaml"), CANDIDATE);
    });
    after(() => rm(directory, { recursive: true, force: true }));
    const restart = (section: object) =>
      from.restart({
        policies: { "default.yaml": STABLE },
        nodes: 2,
        config: {
          rollout: {
            ...{ candidate: directory, mode: "enforce", state_file: join(directory, "state.json") },
            ...section,
          },
        },
      });

    it("has the step that it had, from the first answer", async () => {
      const section = { steps: [10, 100], step_pause: "1s", guard: { enabled: false } };
      await restart(section);
      await from.percentageIs(100);
      await restart({ ...section, step_pause: "1h" });
      assert.deepEqual(new Set(await Promise.all(USERS.map(from.armOfPath))), new Set<Arm>(["candidate"]));
    });

    it("does not try again what the guard has taken back", async () => {
      const section = { percentage: 50, guard: { min_requests: 20, window: "1m" } };
      await restart(section);
      const isTakenBack = async () =>
        (await (await fetch(`${from.gateway.adminUrl}/readyz`)).text()).includes("was taken back: denials");
      await eventually("the guard takes it back", async () => {
        await Promise.all(USERS.map(from.armOfPath));
        return isTakenBack();
      });
      await restart(section);
      assert.deepEqual(new Set(await Promise.all(USERS.map(from.armOfPath))), new Set<Arm>(["stable"]));
      assert.ok(await isTakenBack());
    });
  });

  it("ends without the version before for anybody, where nobody is told that the stable set has changed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gatehouse-rollout-"));
    for (const [name, text] of [
      ["one", STABLE],
      ["two", CANDIDATE],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "default.yaml"), text);
    }
    // as in a ConfigMap: what is watched does not change, but what its name leads to does
    const directory = join(folder, "policies");
    await symlink("one", directory);
    const policies = { directory, refresh_interval: "24h" };
    await from.restart({ policies: {}, nodes: 2, config: { policies } });
    await from.writeCandidate(CANDIDATE);
    await from.enforce(100);
    await from.percentageIs(100);
    const seen = new Set<Arm>();
    let running = true;
    const load = USERS.slice(0, 4).map(async (user) => {
      while (running) seen.add(await from.armOfPath(user));
    });
    try {
      await symlink("two", `${directory}.new`);
      await rename(`${directory}.new`, directory);
      await changeRollout(from.gateway, undefined);
      await eventually("the candidate is the stable set, and nothing else is in force", async () => {
        const text = await (await fetch(`${from.gateway.adminUrl}/readyz`)).text();
        return text.includes("default@candidate is in force") && !text.includes('"rollout"');
      });
      assert.deepEqual(new Set(await Promise.all(USERS.map(from.armOfPath))), new Set<Arm>(["candidate"]));
    } finally {
      running = false;
      await Promise.all(load);
      await rm(folder, { recursive: true });
    }
    assert.deepEqual(seen, new Set<Arm>(["candidate"]));
  });

  it("follows no configuration with errors", async () => {
    await from.enforce(100);
    await from.percentageIs(100);
    await changeRollout(from.gateway, { candidate: "candidate", mode: "enforced" });
    await eventually("the finding", () =>
      from.gateway.stderr().includes("the changed configuration has errors"),
    );
    assert.equal(await from.armOfPath("user-1"), "candidate");
    await changeRollout(from.gateway, { candidate: "candidate", stable: "none" });
    await eventually("the error", () => from.gateway.stderr().includes("takes effect only at a start"));
    assert.equal(await from.armOfPath("user-1"), "candidate");
  });
});

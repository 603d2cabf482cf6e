import assert from "node:assert/strict";
import { Agent } from "node:http";
import { positionOf } from "../../../src/decision/decide/rollout-arm.ts";
import { answerOf } from "../../support/answer-of.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { networkTo, type Network } from "../../support/partition.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { CANDIDATE, STABLE, USERS } from "../../support/rollout.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

const SET = "main";
/** Takes back nothing: the machine may be busy. */
const PATIENT = { min_requests: 10, denial_increase: 1, slowdown: 1_000 };
const isNew = (user: string, percentage: number) => positionOf(SET, ["user", "", user]) < percentage;

interface Rollout {
  readonly id: string;
  readonly state: string;
  readonly revision: number;
  readonly percentage: number;
  readonly cause: string | null;
  readonly detail: string | null;
  readonly comparison: { readonly outcome: string } | null;
  readonly totals: Readonly<Record<"stable" | "candidate", { decisions: number; denials: number }>>;
  readonly shadow: {
    readonly same: number;
    readonly different: number;
    readonly rules: readonly { difference: string; rule: string; count: number }[];
  };
  readonly gateways: readonly { readonly id: string; readonly revision: number }[];
}

describe("end to end: a rollout of a published set", function () {
  this.timeout(300_000);
  let plane: ControlPlaneProcess;
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let api: ReturnType<typeof apiClient>;
  let network: Network;
  let tokens: Map<string, string>;
  const gateways: RunningGateway[] = [];
  let versions = 0;

  before(async () => {
    plane = await startControlPlaneProcess({
      config: { api: { ...PRODUCTION_ONLY, rate_limits: { management: 10_000 } } },
    });
    const url = plane.url.production;
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    api = apiClient(url, await plane.createKey("production", "full_access"));
    tokens = new Map(
      await Promise.all(USERS.map(async (sub) => [sub, await issuer.token({ sub })] as const)),
    );
    await publish(STABLE, true);
    const key = await plane.createKey("production", "gateway");
    network = await networkTo(url);
    // the second one can be cut off
    for (const [id, plane] of [
      ["one", url],
      ["two", network.url],
    ] as const)
      gateways.push(
        await startGateway({
          backend: upstream.url,
          issuer,
          policies: {},
          config: {
            gateway: { cluster: { id, nodes: 2 } },
            policies: { source: "control_plane", policy_set: SET, refresh_interval: "1s" },
            control_plane: { url: plane, api_key: key },
            ...(id === "one" && { audit: { destination: "control_plane" } }),
          },
        }),
      );
  });
  after(async () => {
    for (const gateway of gateways) gateway.process.kill("SIGKILL");
    await network.close();
    await Promise.all([upstream.close(), issuer.close()]);
    await plane.stop();
  });

  /** @returns the version */
  async function publish(text: string, activate: boolean): Promise<string> {
    const version = `v${(versions += 1)}`;
    const files = [
      { name: "main.yaml", text: text.replace(/^version: .*/m, `policy_set: ${SET}\nversion: ${version}`) },
    ];
    const answer = await api("POST", "/policy-sets", { name: SET, files, activate });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return version;
  }
  const rollout = async (method: "GET" | "POST", path = "", body?: object): Promise<Rollout> => {
    const answer = await api(method, `/policy-sets/${SET}/rollout${path}`, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data as Rollout;
  };
  const headers = (user: string) => ({ authorization: `Bearer ${tokens.get(user)}` });
  async function decides(gateway: RunningGateway, user: string): Promise<"stable" | "candidate"> {
    const { status } = await fetch(`${gateway.url}/arm`, { headers: headers(user) });
    assert.ok(status === 200 || status === 403, String(status));
    return status === 200 ? "stable" : "candidate";
  }
  const everywhere = (what: string, expected: (user: string) => boolean) =>
    eventually(what, async () => {
      for (const gateway of gateways)
        for (const user of USERS)
          if (((await decides(gateway, user)) === "candidate") !== expected(user)) return false;
      return true;
    });

  it("is evaluated in shadow everywhere, and its differences are counted and recorded", async () => {
    const version = await publish(CANDIDATE, false);
    const started = await rollout("POST", "", { version });
    assert.deepEqual([started.state, started.revision, started.percentage], ["running", 1, 0]);
    // a gateway follows when it has said so
    await eventually("both follow", async () => (await rollout("GET")).gateways.length === 2);
    for (const user of USERS)
      for (const gateway of gateways) assert.equal(await decides(gateway, user), "stable");
    const seen = await eventually("the differences of both", async () => {
      const found = await rollout("GET");
      return found.shadow.different >= 2 * USERS.length && found;
    });
    assert.deepEqual(
      seen.shadow.rules.map(({ difference, rule }) => [difference, rule]),
      [["denies", "policies[0]"]],
    );
    const records = await eventually("the records of the first", async () => {
      const { data } = (await api("GET", `/audit/logs?kind=shadow&limit=100`)).body;
      return data.length >= USERS.length && (data as Record<string, unknown>[]);
    });
    for (const record of records) {
      const { kind, difference, candidate_policy_set: set, candidate_decision: decision, resource } = record;
      assert.deepEqual(
        [kind, difference, set, decision, resource],
        ["shadow", "denies", `${SET}@${version}`, "DENY", "/arm"],
      );
    }
    const changed = (await api("GET", "/audit/logs?kind=rollout")).body.data as Record<string, unknown>[];
    assert.deepEqual(
      changed.map(({ change, rollout_id: id, mode }) => [change, id, mode]),
      [["started", started.id, "shadow"]],
    );
    await rollout("POST", "/abort", { detail: "seen enough" });
  });

  it("goes up by its steps, moves nobody back, is promoted, and rolled back, under load and without a failure", async () => {
    const version = await publish(CANDIDATE, false);
    const agent = new Agent({ keepAlive: true });
    const failures: string[] = [];
    const histories = new Map<string, string[]>();
    let running = true;
    const load = gateways.flatMap((gateway, index) =>
      USERS.slice(0, 12).map(async (user) => {
        const seen: string[] = [];
        histories.set(`${index} ${user}`, seen);
        while (running) {
          const answer = await answerOf(gateway.port, agent, headers(user), "/arm");
          if (answer !== 200 && answer !== 403) failures.push(String(answer));
          const arm = answer === 200 ? "stable" : "candidate";
          if (seen.at(-1) !== arm) seen.push(arm);
        }
      }),
    );
    try {
      const terms = {
        ...{ version, mode: "enforce", steps: [30, 60, 100], step_pause_seconds: 1 },
        guard: PATIENT,
      };
      await rollout("POST", "", terms);
      for (const percentage of [60, 100]) {
        await eventually(`${percentage} %`, async () => (await rollout("GET")).percentage >= percentage);
        if (percentage === 60) assert.ok((await rollout("GET")).revision >= 2);
      }
      await everywhere("all get the candidate", () => true);
      const ended = await rollout("POST", "/promote");
      assert.equal(ended.state, "promoted");
      const set = (await api("GET", `/policy-sets/${SET}`)).body.data as { active_version: string };
      assert.equal(set.active_version, version);
      await eventually("no gateway has a candidate", async () => {
        const texts = await Promise.all(
          gateways.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/readyz`)).text()),
        );
        return texts.every(
          (text) => text.includes(`${SET}@${version} is in force`) && !text.includes("rollout"),
        );
      });
    } finally {
      running = false;
      await Promise.all(load);
      agent.destroy();
    }
    assert.deepEqual(failures, []);
    for (const [who, seen] of histories)
      assert.ok(["stable", "candidate", "stable,candidate"].includes(seen.join()), `${who}: ${seen.join()}`);
    assert.equal((await api("POST", `/policy-sets/${SET}/rollback`)).status, 200);
    await everywhere("all get the version before", () => false);
  });

  it("has the same callers at every gateway, and changes its terms while it runs", async () => {
    const version = await publish(CANDIDATE, false);
    const terms = { version, mode: "enforce", guard: null };
    await rollout("POST", "", { ...terms, percentage: 50 });
    await everywhere("half of them", (user) => isNew(user, 50));
    await rollout("POST", "", { ...terms, percentage: 80 });
    await everywhere("most of them", (user) => isNew(user, 80));
    await rollout("POST", "", { ...terms, mode: "shadow" });
    await everywhere("none", () => false);
    await rollout("POST", "/abort");
  });

  it("is taken back by the counts of all gateways together, and announced", async () => {
    const version = await publish(CANDIDATE, false);
    // neither gateway alone has as many
    const guard = { ...PATIENT, min_requests: 120, denial_increase: 0.2 };
    const { id } = await rollout("POST", "", { version, mode: "enforce", percentage: 50, guard });
    await everywhere("half of them", (user) => isNew(user, 50));
    const agent = new Agent({ keepAlive: true });
    // the arms of all users together: 90 requests of each arm at each gateway
    for (const gateway of gateways)
      for (const arm of ["stable", "candidate"] as const) {
        const users = USERS.filter((user) => isNew(user, 50) === (arm === "candidate"));
        for (let n = 0; n < 90; n += 1) {
          const user = users[n % users.length] ?? "";
          await answerOf(gateway.port, agent, headers(user), "/arm");
        }
      }
    agent.destroy();
    const ended = await eventually("the end", async () => {
      const found = await rollout("GET");
      return found.state !== "running" && found;
    });
    assert.deepEqual([ended.id, ended.state, ended.cause], [id, "aborted", "denials"]);
    await everywhere("none", () => false);
    const { data } = (await api("GET", "/analytics/events?type=policy_set.rollout_aborted&limit=1")).body;
    const [event] = data as { data: { rollout: { id: string; cause: string } } }[];
    assert.deepEqual([event?.data.rollout.id, event?.data.rollout.cause], [id, "denials"]);
  });

  it("is taken back by a gateway that is cut off, which says so when it is back", async () => {
    const version = await publish(CANDIDATE, false);
    const guard = { ...PATIENT, min_requests: 30, denial_increase: 0.2 };
    const { id } = await rollout("POST", "", { version, mode: "enforce", percentage: 50, guard });
    await everywhere("half of them", (user) => isNew(user, 50));
    network.cut("refused");
    const [, second] = gateways as [RunningGateway, RunningGateway];
    await eventually("the second one has taken it back", async () => {
      for (const user of USERS) await decides(second, user);
      return (await (await fetch(`${second.adminUrl}/readyz`)).text()).includes("was taken back");
    });
    await eventually("the second one gives everybody the version before", async () => {
      for (const user of USERS) if ((await decides(second, user)) !== "stable") return false;
      return true;
    });
    assert.equal((await rollout("GET")).state, "running", "nobody else knows yet");
    network.mend();
    const ended = await eventually("the end", async () => {
      const found = await rollout("GET");
      return found.state !== "running" && found;
    });
    assert.deepEqual([ended.id, ended.state, ended.cause], [id, "aborted", "denials"]);
    assert.match(ended.detail ?? "", /^gateway two: denials: /);
    await everywhere("none", () => false);
  });
});

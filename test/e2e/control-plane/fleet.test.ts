import assert from "node:assert/strict";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const setOf = (version: string) =>
  `policy_set: main\nversion: ${version}\npolicies:\n  - { resource: "GET /public", condition: "true" }\n`;

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly address: string;
  readonly policies: { readonly version: string; readonly digest: string; readonly active_digest: string };
  readonly rollout: {
    readonly mode: string;
    readonly percentage: number;
    readonly decisions: Readonly<Record<"stable" | "candidate", number>>;
  } | null;
  readonly workers: { readonly expected: number; readonly ready: number };
}

describe("end to end: a fleet of gateways", () => {
  let plane: ControlPlaneProcess;
  let upstream: RecordingUpstream;
  let api: ReturnType<typeof apiClient>;
  const gateways: RunningGateway[] = [];

  before(async () => {
    plane = await startControlPlaneProcess({ config: { api: PRODUCTION_ONLY } });
    const url = plane.url.production;
    upstream = await startRecordingUpstream();
    api = apiClient(url, await plane.createKey("production", "full_access"));
    await publish("v1");
    const key = await plane.createKey("production", "gateway");
    for (const id of ["one", "two"])
      gateways.push(
        await startGateway({
          backend: upstream.url,
          issuer: { url, audience: "gatehouse" },
          policies: {},
          config: {
            gateway: {
              cluster: { coordination: "control_plane", id, nodes: 1, health_check_interval: "1s" },
            },
            policies: { source: "control_plane", policy_set: "main" },
            control_plane: { url, api_key: key },
          },
        }),
      );
  });
  after(async () => {
    for (const gateway of gateways) gateway.process.kill("SIGKILL");
    await upstream.close();
    await plane.stop();
  });

  async function publish(version: string): Promise<void> {
    const answer = await api("POST", "/policy-sets", {
      name: "main",
      files: [{ name: "main.yaml", text: setOf(version) }],
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }
  const list = async () => (await api("GET", "/gateways?sort=id&order=asc")).body.data as Listed[];
  const until = (what: string, seen: (listed: readonly Listed[]) => boolean) =>
    eventually(what, async () => {
      const listed = await list();
      return seen(listed) && listed;
    });

  it("is known with what each enforces, and follows a new version", async () => {
    const known = await until(
      "both",
      (listed) =>
        listed.length === 2 &&
        listed.every(({ status, workers }) => status === "alive" && workers.ready === 1),
    );
    assert.deepEqual(
      known.map(({ id, address, policies }) => [id, address, policies.version]),
      gateways.map(({ url }, index) => [["one", "two"][index], url, "v1"]),
    );
    assert.ok(known.every(({ workers }) => workers.expected === 1));
    await publish("v2");
    await until("the new version", (listed) =>
      listed.every(({ policies }) => policies.version === "v2" && policies.digest === policies.active_digest),
    );
  });

  it("is known with what each version has decided during a rollout", async () => {
    const files = [{ name: "main.yaml", text: setOf("v3") }];
    const answer = await api("POST", "/policy-sets", { name: "main", files, activate: false });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    const roll = async (expected: number, terms: object) => {
      const { status, body } = await api("POST", "/policy-sets/main/rollout", { version: "v3", ...terms });
      assert.equal(status, expected, JSON.stringify(body));
    };
    const [first] = gateways as [RunningGateway];
    const ask = async () => {
      assert.equal((await fetch(`${first.url}/public`)).status, 200);
    };
    await roll(201, {});
    await until("the candidate", (listed) => listed.every(({ rollout }) => rollout !== null));
    // in shadow, which counts for neither
    await ask();
    await roll(200, { mode: "enforce", percentage: 0 });
    await until("both versions", (listed) => listed.every(({ rollout }) => rollout?.mode === "enforce"));
    for (let n = 0; n < 3; n += 1) await ask();
    await until("three decisions of the active version", ([one]) => one?.rollout?.decisions.stable === 3);
    await roll(200, { mode: "enforce", percentage: 100 });
    await until("the candidate for all", (listed) =>
      listed.every(({ rollout }) => rollout?.percentage === 100),
    );
    for (let n = 0; n < 2; n += 1) await ask();
    const [one, two] = await until(
      "two of the candidate",
      ([listed]) => listed?.rollout?.decisions.candidate === 2,
    );
    assert.deepEqual(one?.rollout?.decisions, { stable: 3, candidate: 2 });
    assert.deepEqual(two?.rollout?.decisions, { stable: 0, candidate: 0 });
    assert.equal((await api("POST", "/policy-sets/main/rollout/abort")).status, 200);
    await until("the end", (listed) => listed.every(({ rollout }) => rollout === null));
  });

  it("misses who was killed, says so once, and not who has left", async () => {
    const [first, second] = gateways as [RunningGateway, RunningGateway];
    await second.stop();
    await until("the departure", (listed) => listed.length === 1);
    first.process.kill("SIGKILL");
    await until("the loss", (listed) => listed[0]?.status === "lost");
    const told = await eventually("the event", async () => {
      const { data } = (await api("GET", "/analytics/events?type=gateway.lost")).body;
      return data.length > 0 && (data as { data: { gateway: object } }[]);
    });
    assert.deepEqual(
      told.map(({ data: { gateway } }) => (gateway as { id: string }).id),
      ["one"],
    );
  });
});

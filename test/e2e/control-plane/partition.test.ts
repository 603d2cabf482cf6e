import assert from "node:assert/strict";
import {
  apiClient,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { networkTo, type Cut, type Network } from "../../support/partition.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `policies:
  - { resource: "GET /mine", condition: exists(user.id) }
  - { resource: "GET /public", condition: "true" }
`;
/** The least that the configuration takes. */
const MAX_STALE_MS = 10_000;
const CUTS: readonly Cut[] = ["refused", "silent"];

describe("end to end: a gateway that is cut off from the control plane", () => {
  let plane: ControlPlaneProcess;
  let upstream: RecordingUpstream;
  let api: ReturnType<typeof apiClient>;
  let customer: string;
  const parts = new Map<Cut, { readonly network: Network; readonly gateway: RunningGateway }>();

  before(async () => {
    plane = await startControlPlaneProcess();
    const url = plane.url.sandbox;
    upstream = await startRecordingUpstream();
    api = apiClient(url, await plane.createKey("sandbox", "full_access"));
    const made = await api("POST", "/customers", { name: "Acme" });
    customer = made.body.data.id as string;
    const key = await plane.createKey("sandbox", "gateway");
    await Promise.all(
      CUTS.map(async (cut) => {
        const network = await networkTo(url);
        const gateway = await startGateway({
          backend: upstream.url,
          issuer: { url, audience: "gatehouse" },
          policies: { "default.yaml": POLICIES },
          config: { control_plane: { url: network.url, api_key: key, max_stale: `${MAX_STALE_MS}ms` } },
        });
        parts.set(cut, { network, gateway });
      }),
    );
  });
  after(async () => {
    for (const { gateway, network } of parts.values()) {
      await gateway.stop();
      await network.close();
    }
    await upstream.close();
    await plane.stop();
  });

  const signIn = async (sub: string): Promise<string> => {
    const person = { email: `${sub}@acme.example`, name: sub };
    const answer = await api("POST", "/sandbox/tokens", { customer_id: customer, person });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data.access_token as string;
  };

  /** Both at once: each mostly waits. */
  it("decides with what it knows up to max_stale, then denies, and recovers", () =>
    Promise.all(CUTS.map(goesThrough)));

  async function goesThrough(cut: Cut): Promise<void> {
    const { gateway, network } = parts.get(cut)!;
    const [ann, bob] = [await signIn(`ann-${cut}`), await signIn(`bob-${cut}`)];
    const get = async (path: string, token?: string) => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await fetch(`${gateway.url}${path}`, { headers });
      const reason = /"reason":"(\w+)"/.exec(await answer.text())?.[1];
      return `${answer.status}${reason === undefined ? "" : ` ${reason}`}`;
    };
    const lastSync = async () =>
      1000 * (await gateway.metric("gatehouse_control_plane_last_answer_timestamp_seconds"));
    await eventually("the first permission", async () => (await get("/mine", ann)) === "200");
    const before = await lastSync();
    await eventually("a new sync", async () => (await lastSync()) > before);
    network.cut(cut);
    const since = performance.now();
    // what happens meanwhile is not known there
    const users = (await api("GET", `/users?limit=100`)).body.data as { id: string; email: string }[];
    const { id } = users.find(({ email }) => email === `bob-${cut}@acme.example`)!;
    assert.equal((await api("PUT", `/users/${id}`, { status: "suspended" })).status, 200);
    let decided = 0;
    while (performance.now() - since < MAX_STALE_MS / 2) {
      const both = [await get("/mine", ann), await get("/mine", bob)];
      // on a busy machine the last sync may have been long before the cut
      if (Date.now() - (await lastSync()) >= MAX_STALE_MS) break;
      assert.deepEqual(both, ["200", "200"]);
      decided += 1;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    assert.ok(decided > 0, "what it knew at the cut was not too old");
    const answers = new Set<string>();
    await eventually("the denial", async () => {
      const answer = await get("/mine", ann);
      answers.add(answer);
      return answer !== "200";
    });
    assert.deepEqual([...answers], ["200", "503 CUSTOMER_STATE_NOT_READY"]);
    assert.equal(await get("/public"), "200", "what reads no identity is decided as before");
    network.mend();
    await eventually("the recovery", async () => (await get("/mine", ann)) === "200");
    assert.match(
      await get("/mine", bob),
      /^40[13] (?:SESSION_ENDED|USER_SUSPENDED)$/,
      "with what it has missed",
    );
  }

  it("starts without a state as not ready, and serves no user", async () => {
    const { network } = parts.get("refused")!;
    network.cut("refused");
    const port = await freePort();
    const gateway = await startGateway({
      backend: upstream.url,
      issuer: { url: plane.url.sandbox, audience: "gatehouse" },
      policies: { "default.yaml": POLICIES },
      config: {
        gateway: { listen_port: port },
        control_plane: { url: network.url, api_key: await plane.createKey("sandbox", "gateway") },
      },
      unready: true,
    });
    try {
      const headers = { authorization: `Bearer ${await signIn("eve")}` };
      const get = async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/mine`, { headers });
        await answer.arrayBuffer();
        return answer.status;
      };
      assert.equal(await eventually("an answer", get), 503);
      network.mend();
      await eventually("the first permission", async () => (await get()) === 200);
    } finally {
      await gateway.stop();
    }
  });
});

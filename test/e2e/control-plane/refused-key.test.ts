import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { allWorkersAnswer } from "../../support/all-workers.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `policies:
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /mine", condition: user.role == "admin" }
`;

describe("end to end: a gateway whose API key is revoked", () => {
  let plane: ControlPlaneProcess;
  let issuer: TestIssuer;
  let upstream: RecordingUpstream;
  let gateway: RunningGateway;
  let api: ReturnType<typeof apiClient>;
  let keyFile: string;
  let keys: string[];
  let token: string;
  let asked = 0;

  before(async () => {
    plane = await startControlPlaneProcess({ config: { api: PRODUCTION_ONLY } });
    const url = plane.url.production;
    api = apiClient(url, await plane.createKey("production", "full_access"));
    issuer = await startIssuer();
    token = await issuer.token({ role: "admin", sid: "ses_1" });
    upstream = await startRecordingUpstream();
    keys = [await plane.createKey("production", "gateway"), await plane.createKey("production", "gateway")];
    const folder = await temporaryDirectory();
    keyFile = join(folder, "gateway.key");
    await writeFile(keyFile, `${keys[0] ?? ""}\n`);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      nodes: 2,
      config: {
        control_plane: { url, api_key_file: keyFile, key_refused_grace: "15s" },
        audit: { destination: "control_plane", spool_directory: join(folder, "spool") },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
    await issuer.close();
    assert.equal(await plane.stop(), 0, plane.stderr());
  });

  const ask = async (path: string, bearer = true) => {
    asked += 1;
    const answer = await fetch(`${gateway.url}${path}`, {
      headers: bearer ? { authorization: `Bearer ${token}` } : {},
    });
    const reason = /"reason":"(\w+)"/.exec(await answer.text())?.[1];
    return `${answer.status}${reason === undefined ? "" : ` ${reason}`}`;
  };
  const ready = async () => {
    const answer = await fetch(`${gateway.adminUrl}/readyz`);
    const text = await answer.text();
    const { checks } = JSON.parse(text) as { checks: Record<string, { ok: boolean; detail: string }> };
    return { status: answer.status, checks, text };
  };
  const refused = () => gateway.metric("gatehouse_control_plane_key_refused");

  it("is ready with a key that is taken", async () => {
    assert.equal(await ask("/mine"), "200");
    const { status, checks } = await ready();
    assert.equal(status, 200);
    assert.deepEqual(checks["control_plane"], { ok: true, detail: "in sync" });
    assert.equal(await refused(), 0);
  });

  it("is not ready at once when it is revoked, says so, and goes on for the grace", async () => {
    const listed = (await plane.cli("keys", "list", "--environment", "production", "--json"))
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { id: string; scope: string });
    // newest first
    const first = listed.filter(({ scope }) => scope === "gateway").at(-1);
    await plane.cli("keys", "revoke", "--environment", "production", first?.id ?? "");
    const { checks, text } = await eventually("it is not ready", async () => {
      const found = await ready();
      return found.status === 503 && found;
    });
    assert.match(
      checks["control_plane"]?.detail ?? "",
      /it refused this gateway's API key \(401 API_KEY_REVOKED: the API key was revoked\); the last state .* is used until /,
    );
    assert.ok(!text.includes(keys[0] ?? "?"));
    await eventually("the log says so", () =>
      gateway
        .stderr()
        .includes("the control plane refused this gateway's API key; using the last state for at most 15 s"),
    );
    // two workers and the supervisor
    await eventually("the metric of each process", async () => (await refused()) === 3);
    assert.equal(await ask("/open", false), "200");
  });

  it("refuses tokens after the grace, and decides about open rules all the same", async () => {
    await allWorkersAnswer("the refusal", "503 CUSTOMER_STATE_NOT_READY", () => ask("/mine"));
    assert.equal(await ask("/open"), "200");
    assert.equal(await ask("/open", false), "200");
    assert.equal(await ask("/mine", false), "401 IDENTITY_REQUIRED");
    assert.match((await ready()).checks["control_plane"]?.detail ?? "", /is no longer used$/);
    await eventually("the log says so", () =>
      gateway.stderr().includes("still refuses this gateway's API key; refusing tokens of its users"),
    );
    await eventually(
      "records in the spool",
      async () => (await gateway.metric("gatehouse_audit_spool_bytes")) > 0,
    );
  });

  it("is ready again with another key in the file, without a restart, and hands over every record", async () => {
    const before = await gateway.children();
    await writeFile(keyFile, `${keys[1] ?? ""}\n`);
    await eventually("readiness", async () => (await ready()).status === 200);
    await allWorkersAnswer("the token's owner", "200", () => ask("/mine"));
    // the supervisor's, too
    await eventually("the metric of each process", async () => (await refused()) === 0);
    assert.deepEqual(await gateway.children(), before);
    const counted = async () => {
      const { body } = await api("GET", "/audit/logs?kind=decision&limit=1");
      return body.pagination?.total_items as number;
    };
    await eventually(`all ${asked} records`, async () => (await counted()) === asked);
    assert.equal(await gateway.metric("gatehouse_audit_dropped_total"), 0);
    const why = await api("GET", "/audit/logs?kind=decision&reason=CUSTOMER_STATE_NOT_READY&limit=1");
    assert.match(
      JSON.stringify(why.body.data[0]),
      /session ses_1; control plane: it refused this gateway's API key \(401 API_KEY_REVOKED/,
    );
    for (const key of keys) assert.ok(!gateway.stderr().includes(key));
  });
});

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { policyExplainCommand } from "../../../src/cli/policy-explain.ts";
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

const POLICIES = `policy_set: main
version: v1
attributes:
  colleague: { source: users, key: path.user_id, types: { department: string } }
policies:
  - { resource: "GET /colleagues/{user_id}", condition: colleague.department == user.department }
  - { resource: "GET /public", condition: "true" }
`;
const NEXT = POLICIES.replace("version: v1", "version: v2").replace('"true"', "request.query.open == 'yes'");

describe("end to end: policy explain with a control plane", function () {
  this.timeout(240_000);
  let plane: ControlPlaneProcess;
  let upstream: RecordingUpstream;
  let gateway: RunningGateway;
  let api: ReturnType<typeof apiClient>;
  let url: string;
  const keys = new Map<string, string>();

  before(async () => {
    plane = await startControlPlaneProcess({ config: { api: PRODUCTION_ONLY } });
    url = plane.url.production;
    upstream = await startRecordingUpstream();
    api = apiClient(url, await plane.createKey("production", "full_access"));
    await publish(POLICIES);
    const gatewayKey = await plane.createKey("production", "gateway");
    gateway = await startGateway({
      backend: upstream.url,
      issuer: { url, audience: "gatehouse" },
      policies: {},
      config: {
        policies: { source: "control_plane", policy_set: "main" },
        control_plane: { url, api_key: gatewayKey },
        audit: { destination: "control_plane" },
        attribute_sources: { users: { type: "control_plane" } },
      },
    });
    for (const [name, key] of [
      ["gateway", gatewayKey],
      ["read_only", await plane.createKey("production", "read_only")],
      ["wrong", "gh_live_0000000000000000000000000000"],
    ] as const) {
      const file = join(gateway.directory, `${name}.key`);
      await writeFile(file, `${key}\n`);
      keys.set(name, file);
    }
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
    await plane.stop();
  });

  async function publish(text: string): Promise<void> {
    const answer = await api("POST", "/policy-sets", { name: "main", files: [{ name: "main.yaml", text }] });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
  }

  const explain = async (...args: string[]): Promise<string> => {
    let text = "";
    await policyExplainCommand((more) => (text += more)).parseAsync(args, { from: "user" });
    return text;
  };
  const from = (key: string) => ["--from", url, "--api-key-file", keys.get(key) ?? "", "-s", "main"];

  it("asks the set in force, with a gateway's key or one that reads", async () => {
    for (const key of ["gateway", "read_only"]) {
      const text = await explain(...from(key), "-r", "GET /public");
      assert.match(text, /^ALLOW CONDITION_TRUE: .*\npolicy set main@v1\n/, key);
    }
  });

  it("asks what a gateway that follows is configured to, users included", async () => {
    const config = ["--config", join(gateway.directory, "gateway.yaml")];
    const user = ["--user", '{"id":"u","department":"sales"}'];
    const path = "GET /colleagues/usr_00000000000000000000000000";
    const text = await explain(...config, ...user, "-r", path);
    assert.match(text, /^DENY \(403\) CONDITION_UNKNOWN: .*\npolicy set main@v1\n/);
    assert.match(text, /colleague\.department is missing/);
  });

  it("finds a past decision and the version that made it, whatever is in force by now", async () => {
    const answer = await fetch(`${gateway.url}/public`);
    assert.equal(answer.status, 200);
    const id = answer.headers.get("x-request-id") ?? "";
    await publish(NEXT);
    const known = await eventually("the record", async () => {
      const { body } = await api("GET", `/audit/logs?kind=decision&request_id=${id}`);
      return body.data[0];
    });
    assert.equal(known.reason, "CONDITION_TRUE");
    assert.match(await explain(...from("read_only"), "-r", "GET /public"), /^DENY .*\npolicy set main@v2\n/);
    const text = await explain(...from("read_only"), "--request-id", id);
    assert.match(text, /^ALLOW CONDITION_TRUE: .*\nGET \/public at /);
    assert.match(text, /policy set main@v1, digest [0-9a-f]{64}\nfound in version v1 of http:/);
    assert.match(text, /same outcome:/);
    assert.equal(await explain(...from("read_only"), "--request-id", known.decision_id), text);
  });

  it("says what is wrong", async () => {
    await assert.rejects(
      explain(...from("wrong"), "-r", "GET /public"),
      /\((UNAUTHORIZED|INVALID_API_KEY)\)/,
    );
    await assert.rejects(
      explain("--from", url, "--api-key-file", keys.get("gateway") ?? "", "-s", "none", "-r", "GET /"),
      /has no active version of policy set `none`/,
    );
    await assert.rejects(explain(...from("read_only"), "--request-id", "none"), /has no decision record/);
    await assert.rejects(explain(...from("gateway"), "--request-id", "none"), /INSUFFICIENT_SCOPE/);
    await assert.rejects(
      explain("--from", "http://192.0.2.1", "--api-key-file", keys.get("gateway") ?? "", "-r", "GET /"),
      /https/,
    );
  });
});

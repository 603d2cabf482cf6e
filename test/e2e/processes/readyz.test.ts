import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";

describe("end to end: a gateway that has nothing it needs", () => {
  let gateway: RunningGateway;
  let port: number;

  before(async () => {
    port = await freePort();
    gateway = await startGateway({
      backend: "http://127.0.0.1:1",
      issuer: { url: "https://login.example.invalid/tenant", audience: "api" },
      policies: { "default.yaml": 'policies:\n  - { resource: GET /x, conditon: "true" }\n' },
      config: { control_plane: { url: `http://127.0.0.1:${port}`, api_key: "gh_live_s3cret" } },
      nodes: 2,
      unready: true,
    });
  });
  after(() => gateway.stop());

  const ready = async () => {
    const answer = await fetch(`${gateway.adminUrl}/readyz`);
    const text = await answer.text();
    const { checks } = JSON.parse(text) as { checks: Record<string, { ok: boolean; detail: string }> };
    return { status: answer.status, text, checks };
  };

  it("says why, for each", async () => {
    const { checks, text, status } = await eventually("reports of all workers", async () => {
      const found = await ready();
      const told = [found.checks["issuer_keys"], found.checks["control_plane"], found.checks["envoy"]];
      const settled =
        (told[0]?.detail ?? "").startsWith("cannot") &&
        (told[1]?.detail ?? "").startsWith("no state") &&
        told[2]?.ok;
      return settled && found.text.includes("default.yaml") && found;
    });
    assert.equal(status, 503);
    const details = Object.fromEntries(
      Object.entries(checks).map(([name, { ok, detail }]) => [name, `${ok} ${detail}`]),
    );
    assert.match(
      details["policies"] ?? "",
      /^false no policy set is in force: default\.yaml:2:\d+: .+ \(and 1 more\)$/,
    );
    assert.equal(details["issuer_keys"], "false cannot resolve login.example.invalid");
    assert.equal(details["control_plane"], `false no state yet: 127.0.0.1:${port} refused the connection`);
    assert.equal(details["envoy"], "true running");
    assert.match(details["workers"] ?? "", /^false 0 of \d+ are ready$/);
    assert.ok(!text.includes("s3cret"));
  });

  it("says so in the metrics, and in the log without a set that stays", async () => {
    assert.equal(await gateway.metric("gatehouse_policy_reload_failed", { source: "folder" }), 1);
    assert.match(gateway.stderr(), /^the policy set has errors; fix them: /m);
    assert.match(
      gateway.stderr(),
      /"the policy set has errors; no policy set is in force, so every request is denied"/,
    );
    assert.match(
      gateway.stderr(),
      /"could not sync with the control plane; no state yet; refusing tokens of its users"/,
    );
    assert.doesNotMatch(gateway.stderr(), /stays/);
  });

  it("says of the policies that they are there once they are", async () => {
    await gateway.writePolicies({
      "default.yaml": 'policies:\n  - { resource: GET /x, condition: "true" }\n',
    });
    const { checks, status } = await eventually("the policies", async () => {
      const found = await ready();
      return found.checks["policies"]?.ok && found;
    });
    assert.deepEqual(checks["policies"], { ok: true, detail: "default@v0 is in force" });
    assert.equal(status, 503);
    assert.equal(await gateway.metric("gatehouse_policy_reload_failed", { source: "folder" }), 0);
  });
});

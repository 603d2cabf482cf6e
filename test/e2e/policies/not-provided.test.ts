import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const set = (version: string, source: string) => `
version: ${version}
attributes:
  target: { source: ${source}, key: path.id, types: { department: string } }
policies:
  - { resource: GET /open, condition: true }
  - name: colleagues
    resource: GET /people/{id}
    condition: user.department == target.department
  - name: gold
    resource: GET /gold
    condition: user.tier == "gold"
`;

describe("end to end: policies that the configuration cannot feed", () => {
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": set("v1", "people") },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const warnings = (version: string) =>
    gateway
      .stderr()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line["policy_set"] === `default@${version}` && line["configure"] !== undefined)
      .map(({ rule_name, at, configure, level }) => [rule_name, at, configure, level]);

  it("are in force, and every rule that is not fed is in the log, at start and at each reload", async () => {
    assert.equal((await fetch(`${gateway.url}/open`)).status, 200);
    const v1 = await eventually("the warnings", () =>
      warnings("v1").length > 1 ? warnings("v1") : undefined,
    );
    const level = v1[0]?.[3];
    assert.deepEqual(v1, [
      ["colleagues", "default.yaml:7", "attribute_sources.people", level],
      ["gold", "default.yaml:10", "identity.claims.user.tier", level],
    ]);
    await gateway.writePolicies({ "default.yaml": set("v2", "persons") });
    const v2 = await eventually("the warnings", () =>
      warnings("v2").length > 1 ? warnings("v2") : undefined,
    );
    assert.deepEqual(
      v2.map(([, , configure]) => configure),
      ["attribute_sources.persons", "identity.claims.user.tier"],
    );
    assert.match(
      gateway.stderr(),
      /`target` is always unknown: its attribute source `persons` is not configured/,
    );
    assert.equal((await fetch(`${gateway.url}/open`)).status, 200);
  });

  it("leave records that name what was unknown, and why", async () => {
    const headers = { authorization: `Bearer ${await issuer.token({ department: "sales" })}` };
    for (const [path, unknown] of [
      ["/people/7", "target.department: unavailable, source persons failed or is not configured"],
      ["/gold", "user.tier: missing"],
    ]) {
      assert.equal((await fetch(`${gateway.url}${path ?? ""}`, { headers })).status, 403);
      const record = await eventually("the record", async () =>
        (await gateway.audit()).find(({ resource }) => resource === path),
      );
      assert.deepEqual([record.reason, record["unknown"]], ["CONDITION_UNKNOWN", [unknown]]);
    }
  });
});

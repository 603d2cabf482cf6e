import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

/** Two rules that are only ever both open or both closed. */
const policies = (version: string, open: boolean) => `
version: ${version}
policies:
  - resource: "GET /left"
    condition: "${open}"
  - resource: "GET /right"
    condition: "${open}"
`;

describe("end to end: policies that change while the gateway runs", () => {
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": policies("v1", true) },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const status = async (path: string) => (await fetch(`${gateway.url}${path}`)).status;
  const inForce = (text: string, expected: number) =>
    eventually(`answer ${expected}`, async () => {
      await gateway.writePolicies({ "default.yaml": text });
      return (await status("/left")) === expected;
    });

  it("takes a new set over, and names it in the records", async () => {
    assert.equal(await status("/left"), 200);
    await inForce(policies("v2", false), 403);
    const record = await eventually("the record", async () =>
      (await gateway.audit()).find((line) => line["policy_set"] === "default@v2"),
    );
    assert.equal(record.decision, "DENY");
    await inForce(policies("v3", true), 200);
  });

  it("never mixes two sets in one answer", async () => {
    let running = true;
    const clients = Array.from({ length: 4 }, async () => {
      while (running) {
        const path = Math.random() < 0.5 ? "/left" : "/right";
        const found = await status(path);
        assert.ok(found === 200 || found === 403, String(found));
      }
    });
    for (let round = 0; round < 6; round += 1) {
      await inForce(policies(`m${round}`, round % 2 === 1), round % 2 === 1 ? 200 : 403);
    }
    running = false;
    await Promise.all(clients);
    const seen = (await gateway.audit()).filter((line) => /@m\d/.test(String(line["policy_set"])));
    assert.ok(seen.length > 0);
    for (const line of seen) {
      const open = Number(/@m(\d)/.exec(String(line["policy_set"]))?.[1]) % 2 === 1;
      assert.equal(line.decision, open ? "ALLOW" : "DENY");
    }
  });

  const broken: Readonly<Record<string, string>> = {
    "not YAML": "policies: [",
    "an unknown key": 'policies:\n  - resource: "GET /left"\n    condition: "true"\n    conditon: x',
    "a bad condition": 'policies:\n  - resource: "GET /left"\n    condition: user.role = "x"',
    "a duplicate rule":
      'policies:\n  - {resource: GET /left, condition: "true"}\n  - {resource: GET /left, condition: "true"}',
    "many aliases": `a: &a [x]\n${Array.from(
      { length: 200 },
      (_, i) =>
        `k${i}: &b${i} [${Array(20)
          .fill(i === 0 ? "*a" : `*b${i - 1}`)
          .join(",")}]`,
    ).join("\n")}`,
    "deep nesting": `policies: ${"[".repeat(20_000)}${"]".repeat(20_000)}`,
    "a huge file": `policies:\n${'  - {resource: "GET /x", condition: "true"}\n'.repeat(200_000)}`,
    "a deep condition": `policies:\n  - resource: "GET /left"\n    condition: ${"(".repeat(50_000)}true${")".repeat(50_000)}`,
    "no file's bytes": "\u0000\u0001\u0002",
  };
  for (const [name, text] of Object.entries(broken)) {
    it(`keeps the last good set when the new one has ${name}`, async () => {
      await inForce(policies("good", true), 200);
      const failures = await gateway.metric("gatehouse_policy_reload_total", { result: "failed" });
      await gateway.writePolicies({ "default.yaml": text });
      await eventually(
        "the failed reload",
        async () => (await gateway.metric("gatehouse_policy_reload_total", { result: "failed" })) > failures,
      );
      assert.equal(await status("/left"), 200);
      assert.equal(await status("/right"), 200);
      assert.ok((await gateway.metric("gatehouse_policy_reload_failed")) >= 1);
    });
  }

  it("evaluates a condition of 10,000 terms", async () => {
    const terms = Array.from({ length: 10_000 }, (_, index) => `request.path == "/${index}"`).join(" or ");
    const text = `version: big\npolicies:\n  - resource: "GET /{any}"\n    condition: ${JSON.stringify(terms)}\n`;
    await inForce(text, 403);
    assert.equal(await status("/9999"), 200);
    assert.equal(await status("/10000"), 403);
  });

  it("serves nothing before there is a good set, says why, and starts to serve when there is", async () => {
    const other = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": "policies: {" },
      unready: true,
    });
    try {
      const ready = await fetch(`${other.adminUrl}/readyz`);
      assert.equal(ready.status, 503);
      await eventually("the log says why", () => /default\.yaml:1:\d+/.test(other.stderr()));
      await writeFile(join(other.directory, "policies", "default.yaml"), policies("late", true));
      await eventually("readiness", async () => (await fetch(`${other.adminUrl}/readyz`)).status === 200);
    } finally {
      await other.stop();
    }
  });
});

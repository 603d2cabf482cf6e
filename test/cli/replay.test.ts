import { strict as assert } from "node:assert";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

const policies = (department: string) =>
  `policies:\n  - { resource: "GET /orders", condition: 'user.department == "${department}"' }\n`;

const recordOf = (department: string, decision: string, more: object = {}) =>
  JSON.stringify({
    ...{
      timestamp: "2026-01-01T00:00:00.000Z",
      decision,
      reason: "CONDITION_TRUE",
      decision_id: `dec_${department}`,
    },
    ...{
      user_id: `u-${department}`,
      customer_id: "c1",
      action: "GET",
      resource: "/orders",
      rule: "policies[0]",
    },
    ...{ rule_resource: "GET /orders", policy_set: "default@v0", client_ip: "10.0.0.1" },
    inputs: {
      ...{ at: 0, environment: "production", method: "GET", path: "/orders", host: "a", scheme: "http" },
      ...{ protocol: "HTTP/1.1", caller: "identified", values: { "user.department": department } },
    },
    ...more,
  });

describe("cli: replay", () => {
  const kept = keptCommandLine();
  let folder: Folder;

  beforeEach(async () => {
    folder = await folderOf({
      "stable/default.yaml": policies("sales"),
      "candidate/default.yaml": policies("support"),
      "audit.log": `${recordOf("sales", "ALLOW")}\n${recordOf("support", "DENY")}\n${recordOf("other", "DENY")}\n`,
    });
  });
  afterEach(() => folder.remove());
  after(kept.close);

  const replay = (...args: string[]) =>
    kept.gatehouse(["replay", "--records", "audit.log", ...args], { cwd: folder.path });

  it("says who would lose and who would gain access, and exits with 1", async () => {
    const { code, stdout } = await replay("--candidate", "candidate", "--stable", "stable", "--json");
    const report = JSON.parse(stdout) as Record<string, unknown> & { by: { user: object[] } };
    assert.equal(code, 1);
    assert.deepEqual(
      [report["decisions"], report["unchanged"], report["loses"], report["gains"], report["coverage"]],
      [3, 1, 1, 1, 1],
    );
    assert.deepEqual(report.by.user, [
      { name: "u-sales", loses: 1 },
      { name: "u-support", gains: 1 },
    ]);
    assert.deepEqual([report["reproduced"], report["not_reproduced"]], [3, 0]);
  });

  it("exits with 0 if nothing changes, also for gzip and rotated files", async () => {
    writeFileSync(join(folder.path, "old.gz"), gzipSync(`${recordOf("sales", "ALLOW")}\n`));
    await folder.add({ "audit.log.1": `${recordOf("sales", "ALLOW")}\n` });
    const { code, stdout } = await replay("old.gz", "--rotated", "--candidate", "stable");
    assert.match(stdout, /^5 decisions: 5 unchanged.*\ncoverage 100\.0 %/);
    assert.equal(code, 0);
  });

  it("reports bad lines with their position, and what it cannot replay", async () => {
    await folder.add({
      "audit.log": `{"decision":\n${recordOf("sales", "ALLOW", { inputs: undefined })}\n[]\n{"event":"response"}\n`,
    });
    const { code, stdout } = await replay("--candidate", "stable");
    assert.match(stdout, /1 decision: 0 unchanged.*1 not replayable/);
    assert.match(stdout, /1 {2}not replayable: the record has no inputs/);
    assert.match(stdout, /audit\.log:1: not JSON/);
    assert.match(stdout, /audit\.log:3: not a JSON object/);
    // nothing was replayed
    assert.equal(code, 1);
  });

  it("counts records of a rollout: its candidate's decisions, and what would differ in shadow", async () => {
    const shadow = { event: "shadow_decision", decision: "ALLOW", reason: "CONDITION_TRUE" };
    await folder.add({
      "audit.log": `${recordOf("sales", "ALLOW", { rollout_arm: "stable" })}
${recordOf("support", "ALLOW", { rollout_arm: "candidate", policy_digest: "another" })}
${recordOf("support", "ALLOW", shadow)}
{"event":"rollout"}
{"event":"shadow_decision","decision":"DENY"}
`,
    });
    const args = ["--candidate", "stable", "--stable", "stable"];
    const { stdout } = await replay(...args, "--json");
    const report = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual(
      [report["decisions"], report["candidate_arm"], report["other_records"], report["bad_lines"]],
      [2, 1, { shadow_decision: 2, rollout: 1 }, 0],
    );
    // the stable set did not decide on the second one
    assert.deepEqual([report["reproduced"], report["not_reproduced"], report["loses"]], [1, 0, 1]);
    const text = await replay(...args);
    assert.match(text.stdout, /1 decision of the candidate of a rollout/);
    assert.match(text.stdout, /records of other kinds: 2 shadow_decision, 1 rollout/);
  });

  describe("from an address", () => {
    let server: Server;
    let url: string;
    const lines = `${recordOf("sales", "ALLOW")}\n${recordOf("support", "DENY")}\n`;
    const asked: (string | undefined)[] = [];
    beforeEach(async () => {
      asked.length = 0;
      server = createServer((request, response) => {
        asked.push(request.headers.authorization);
        const { pathname } = new URL(request.url ?? "", url);
        if (pathname === "/moved") response.writeHead(302, { location: "/records" }).end();
        else if (request.headers.authorization !== "Bearer gh_test_1") response.writeHead(401).end();
        else if (pathname === "/records.gz") response.end(gzipSync(lines));
        else if (pathname === "/cut") {
          response.writeHead(200, { "content-length": String(lines.length) });
          response.write(lines.slice(0, -40), () => request.socket.destroy());
        } else response.end(lines);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await folder.add({ key: "gh_test_1\n" });
    });
    afterEach(() => {
      server.close();
      server.closeAllConnections();
    });

    const from = (path: string, ...args: string[]) =>
      kept.gatehouse(["replay", "--records", `${url}${path}`, "--candidate", "candidate", ...args], {
        cwd: folder.path,
      });

    it("decides the same as from a file, compressed or not", async () => {
      const local = await replay("--candidate", "candidate", "--json");
      await folder.add({ "audit.log": lines });
      const expected = await replay("--candidate", "candidate", "--json");
      assert.notEqual(expected.stdout, local.stdout);
      for (const path of ["/records?signature=secret", "/records.gz"]) {
        const { code, stdout } = await from(path, "--api-key-file", "key", "--json");
        assert.deepEqual([code, stdout], [1, expected.stdout], path);
      }
      assert.deepEqual(asked, ["Bearer gh_test_1", "Bearer gh_test_1"]);
    });

    it("says why it cannot, without what may be secret, and never as half of the records", async () => {
      const refused: readonly (readonly [string, readonly string[], string])[] = [
        ["/records?signature=secret", [], "status 401: the key is missing or not valid (--api-key-file)"],
        ["/moved", ["--api-key-file", "key"], "status 302"],
        ["/cut", ["--api-key-file", "key"], "closed the connection"],
        ["/records", ["--api-key-file", "none"], "cannot read `--api-key-file`"],
      ];
      for (const [path, args, expected] of refused) {
        const { code, stdout, stderr } = await from(path, ...args);
        assert.deepEqual([code, stdout], [2, ""], path);
        assert.ok(stderr.includes(expected) && !stderr.includes("secret"), stderr);
      }
      const plain = await replay("http://records.test/a", "--candidate", "candidate");
      assert.match(plain.stderr, /must be an https address, or http on loopback/);
    });
  });

  it("refuses what it cannot read", async () => {
    const missing = await kept.gatehouse(["replay", "--records", "none", "--candidate", "stable"], {
      cwd: folder.path,
    });
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /there is no file `none`/);
  });
});

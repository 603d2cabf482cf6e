import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { decodeJwt } from "jose";
import { demoExamples } from "../../../src/demo/examples.ts";
import type { UpState } from "../../../src/cli/demo.ts";
import { ownCommand, ownNode } from "../../../src/cli/own-command.ts";
import { apiClient } from "../../support/control-plane.ts";
import { createBrowser } from "../../support/sign-in.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { eventually } from "../../support/eventually.ts";
import { FREE_PORTS, ROOT, startUp, upFolder, type RunningUp } from "../../support/up.ts";

const run = promisify(execFile);

describe("end to end: `gatehouse up` as the README has it", () => {
  let folder: string;
  let up: RunningUp;

  before(async () => {
    folder = await upFolder();
    up = await startUp(folder);
  });

  after(() => up.stop());

  it("prints examples that work as it says", async () => {
    const { stdout } = up;
    const noCurl = spawnSync("curl", ["--version"]).error !== undefined;
    const curl = noCurl ? `${process.execPath} ${join(ROOT, "test/support/curl.ts")} ` : "curl ";
    const commands = { gatehouse: ownCommand(folder), node: ownNode(folder) };
    for (const { title, command, expect } of demoExamples(up.url, commands)) {
      assert.ok(stdout.includes(command), title);
      const line = command.replace(/^curl /, curl);
      const { stdout: answer } = await run("sh", ["-c", line], { cwd: folder });
      if (expect.status !== undefined)
        assert.match(answer, new RegExp(`^HTTP/1.1 ${expect.status} `), `${title}: ${answer}`);
      if (expect.absent !== undefined) assert.ok(!answer.includes(expect.absent), `${title}: ${answer}`);
      assert.ok(answer.includes(expect.body), `${title}: ${answer}`);
    }
    const audit = /^ {2}(curl .*\/audit\/logs\?kind=decision)&limit=3'$/m.exec(stdout)?.[1];
    assert.ok(audit !== undefined, "the command for the audit trail");
    const line = `${audit}&user_id=u-2&limit=100'`.replace(/^curl -s /, noCurl ? curl : "curl -s ");
    const records = await eventually("the manager's records", async () => {
      const { stdout: answer } = await run("sh", ["-c", line], { cwd: folder });
      const { data } = JSON.parse(answer.slice(answer.indexOf('{"success"'))) as {
        data: { decision: string }[];
      };
      return data.length >= 5 ? data : undefined;
    });
    assert.deepEqual(new Set(records.map(({ decision }) => decision)), new Set(["ALLOW", "DENY"]));
  });

  it("signs in whom one asks for", async () => {
    const token = async (...options: string[]) => {
      const args = [join(ROOT, "bin/gatehouse.js"), "demo", "token", ...options];
      return decodeJwt((await run(process.execPath, args, { cwd: folder })).stdout.trim());
    };
    const admin = await token("--role", "admin");
    assert.deepEqual([admin["employee_id"], admin["account"], admin["role"]], ["u-1", "c-1", "admin"]);
    assert.match(admin.sub ?? "", /^usr_/);
    const other = await token(
      ...["--user", "u-99", "--customer", "c-9", "--department", "legal"],
      ...["--permissions", "a,b", "--expires-in", "-60"],
    );
    assert.deepEqual(
      [other["employee_id"], other["account"], other["department"], other["permissions"], other["role"]],
      ["u-99", "c-9", "legal", ["a", "b"], "manager"],
    );
    assert.ok(other.exp! < Date.now() / 1000);
  });

  it("signs in through the sandbox's own provider, and is refused after logout", async () => {
    const state = JSON.parse(await readFile(join(folder, ".gatehouse", "up.json"), "utf8")) as UpState;
    const api = apiClient(state.sandbox_url, (await readFile(state.api_key_file, "utf8")).trim());
    const returnUrl = "http://localhost:3000/callback";
    const started = await api("POST", "/auth/authorize", {
      customer_id: state.customer_id,
      return_url: returnUrl,
      login_hint: "marco.bianchi@example.com",
    });
    assert.equal(started.status, 200, JSON.stringify(started.body));
    const arrived = await createBrowser().walk(started.body.data.authorization_url, { until: returnUrl });
    assert.ok(arrived.kind === "sent", JSON.stringify(arrived));
    assert.equal(arrived.url.searchParams.get("state"), started.body.data.state);
    const code = arrived.url.searchParams.get("code");
    const { body } = await api("POST", "/auth/token", { code, customer_id: state.customer_id });
    const read = () =>
      fetch(`${up.url}/api/customers/c-1`, {
        headers: { authorization: `Bearer ${body.data.access_token}` },
      });
    assert.equal((await read()).status, 200);
    const ended = await api("DELETE", "/auth/logout", { session_id: body.data.session.id });
    assert.equal(ended.status, 200);
    assert.match(ended.body.data.end_session_url, /\/idp\//);
    await eventually("the refusal", async () => (await (await read()).text()).includes("SESSION_ENDED"));
  });

  it("has a first policy of one's own in force a moment later", async () => {
    const page = await readFile(join(ROOT, "docs/first-rule.md"), "utf8");
    const rule = /```yaml\n( {2}- name: only-finance-exports\n[^`]*)```/.exec(page)?.[1];
    assert.ok(rule !== undefined, "the page's rule");
    const cli = [join(ROOT, "bin/gatehouse.js")];
    const path = join(folder, "policies", "default.yaml");
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace(/^web_policies:/m, `${rule}\nweb_policies:`));
    await run(process.execPath, [...cli, "policy", "validate"], { cwd: folder });

    const { stdout: token } = await run(
      process.execPath,
      [...cli, "demo", "token", "--department", "finance"],
      { cwd: folder },
    );
    await eventually("the rule", async () => {
      const answer = await fetch(`${up.url}/api/exports/2026`, {
        headers: { authorization: `Bearer ${token.trim()}` },
      });
      return answer.status === 404; // the application has no such page: the request went through
    });
    const explained = await run(
      process.execPath,
      [...cli, "policy", "explain", "-r", "GET /api/exports/2026", "-u", '{"department":"sales"}'],
      { cwd: folder },
    );
    assert.match(explained.stdout, /^DENY \(403\) CONDITION_FALSE/);
    assert.match(explained.stdout, /user\.department is "sales"/);
  });

  it("says that a folder with errors is not published, and what is in force meanwhile", async () => {
    const admin = /^ {2}metrics +(http\S+)\/metrics$/m.exec(up.stdout)?.[1] ?? "";
    const failed = async (labels: string) =>
      new RegExp(`^gatehouse_policy_reload_failed\\{${labels}\\} (\\d)$`, "m").exec(
        await (await fetch(`${admin}/metrics`)).text(),
      )?.[1];
    const folderFailed = () => failed('source="folder",environment="sandbox"');
    assert.deepEqual([await folderFailed(), await failed('source="control_plane"')], ["0", "0"]);
    const path = join(folder, "policies", "default.yaml");
    const text = await readFile(path, "utf8");
    await writeFile(path, `${text}\nnonsense: [`);
    await eventually("the metric", async () => (await folderFailed()) === "1");
    // what was published before decides
    assert.equal(await failed('source="control_plane"'), "0");
    const ready = await fetch(`${admin}/readyz`);
    assert.equal(ready.status, 200);
    const { checks } = (await ready.json()) as { checks: Record<string, { detail: string }> };
    assert.match(checks["policies"]?.detail ?? "", /^default@\S+ is in force$/);
    await writeFile(path, text);
    await eventually("the metric again", async () => (await folderFailed()) === "0");
  });
});

describe("end to end: a port that is taken", () => {
  it("ends `up` with a failure and leaves no process behind", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    const folder = await upFolder();
    const up = spawn(
      process.execPath,
      [join(ROOT, "bin/gatehouse.js"), "up", ...FREE_PORTS, "--admin-port", String(port)],
      {
        cwd: folder,
        env: { ...process.env, ENVOY_BIN: await envoyBinary() },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    let stderr = "";
    up.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    try {
      // with all that it said
      const ended = new Promise((resolve) => up.once("close", resolve));
      assert.equal(await ended, 1);
      assert.match(
        stderr,
        /^gatehouse: telemetry\.port: 127\.0\.0\.1:\d+ is in use by `.+` \(process \d+\); .*\n$/,
      );
    } finally {
      up.kill("SIGKILL");
      taken.close();
    }
  });
});

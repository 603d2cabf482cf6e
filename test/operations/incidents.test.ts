import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withPlaces } from "../authorizers/support/guide.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../bin/gatehouse.js", import.meta.url));
const PAGE = fileURLToPath(new URL("../../docs/operations/incidents.md", import.meta.url));
const POLICIES = `policies:\n  - { resource: "GET /reports/{id}", condition: user.role == "editor" }\n`;

/** The blocks of commands in a page, those in lists included, each with the heading above it. */
function commandBlocks(): readonly { readonly section: string; readonly commands: string }[] {
  return readFileSync(PAGE, "utf8")
    .split(/^## /m)
    .flatMap((text) =>
      [...text.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent = "", block = ""]) => ({
        section: text.slice(0, text.indexOf("\n")),
        commands: block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      })),
    );
}

describe("operations: the commands for incidents", function () {
  // a control plane, a gateway and a dozen commands, on a machine that may be busy
  this.timeout(600_000);
  let plane: ControlPlaneProcess;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let leaked: string;

  before(async () => {
    issuer = await startIssuer();
    const folder = await temporaryDirectory();
    await mkdir(join(folder, "policies"));
    await writeFile(join(folder, "policies/default.yaml"), POLICIES);
    const identity = { issuer: issuer.url, audience: issuer.audience };
    plane = await startControlPlaneProcess({
      config: {
        api: PRODUCTION_ONLY,
        telemetry: { control_plane_port: 0, log_level: "info" },
        // the gateway's part of the file, for the commands that read it
        ...{ gateway: { backend: issuer.url }, identity, policies: { directory: join(folder, "policies") } },
      },
    });
    const url = plane.url.production;
    const api = apiClient(url, await plane.createKey("production", "full_access"));
    for (const version of ["v1", "v2"]) {
      const file = { name: "default.yaml", text: `policy_set: default\nversion: ${version}\n${POLICIES}` };
      const answer = await api("POST", "/policy-sets", { name: "default", files: [file] });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
    gateway = await startGateway({
      backend: issuer.url,
      issuer,
      policies: {},
      config: {
        policies: { source: "control_plane", policy_set: "default" },
        control_plane: { url, api_key: await plane.createKey("production", "gateway") },
        audit: { destination: "control_plane", spool_directory: join(folder, "spool") },
      },
    });
    assert.equal((await fetch(`${gateway.url}/reports/1`)).status, 401);
    await eventually("the record", async () => {
      const { body } = (await api("GET", "/audit/logs?kind=decision")) as {
        body: { data: readonly object[] };
      };
      return body.data.length > 0;
    });
    await plane.createKey("production", "read_only");
    const [newest = ""] = (await plane.cli("keys", "list", "--environment", "production", "--json")).split(
      "\n",
    );
    leaked = (JSON.parse(newest) as { id: string }).id;
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    assert.equal(await plane.stop(), 0, plane.stderr());
  });

  it("do what the page says, one after the other", async () => {
    const [, metrics = ""] = /"admin":"(http:[^"]+)"/.exec(plane.stderr()) ?? [];
    // an answer need not end its line
    const script = commandBlocks().map(
      ({ section, commands }) => `printf '\\n## %s\\n' "${section}"\n${commands}`,
    );
    const prelude = `gatehouse() { "${process.execPath}" "${CLI}" "$@"; }\n`;
    const places = {
      "http://127.0.0.1:9090": gateway.adminUrl,
      "http://127.0.0.1:9091": metrics,
      "http://127.0.0.1:8080": plane.url.production,
      "key_...": leaked,
    };
    const { stdout } = await run(
      "bash",
      ["--norc", "-euo", "pipefail", "-c", prelude + withPlaces(script.join("\n"), places)],
      { cwd: plane.directory, env: { ...process.env }, maxBuffer: 1e7 },
    );
    const printed = new Map(
      stdout
        .split(/^## /m)
        .map((text) => [text.slice(0, text.indexOf("\n")), text.slice(text.indexOf("\n"))]),
    );
    const says = (section: string, pattern: RegExp) => {
      assert.match(printed.get(section) ?? "", pattern, stdout);
    };
    says("First look", /"ready":true.*^gatehouse_check_ok\{check="policies"\} 1$.*"status":"ok"/ms);
    says("New policies are not in force", /default/);
    says("Requests are denied that should not be", /"success":true.*"v1"/s);
    says("Requests are denied that should not be", /"reason":"IDENTITY_REQUIRED"/);
    says("Requests are denied that should not be", /DENY \(403\) CONDITION_FALSE/);
    says("Overload and floods", /reason="IDENTITY_REQUIRED"/);
    says("The API is slow", /^gatehouse_database_pool_exhausted_total\{.*\} 0$/m);
    says("A gateway is lost or diverges", /^\s*\{"success":true/);
    says("Webhook deliveries are delayed", /^\s*\{"success":true/);
    says("A key has leaked", new RegExp(leaked));
    says("The encryption key is lost", /\S/);
    assert.ok(!stdout.includes('"success":false'), stdout);
    const keys = (await plane.cli("keys", "list", "--environment", "production", "--json"))
      .trim()
      .split("\n");
    const found = keys.map((line) => JSON.parse(line) as { id: string; status: string });
    assert.equal(found.find(({ id }) => id === leaked)?.status, "revoked");
  });
});

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PROBLEMS, SEVERITIES, type ProblemCode } from "../../src/doctor/index.ts";
import { askAdmin } from "../../src/gateway/envoy-admin.ts";
import { startGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { managerOf, type Loose } from "../doctor/support.ts";
import { fromPage } from "../docs/support/from-page.ts";
import { folderOf, keptCommandLine, type Folder } from "./support.ts";

interface Report {
  readonly version: number;
  readonly envoy: { readonly version: string | null; readonly filter_chains: readonly string[] } | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly findings: readonly {
    readonly code: ProblemCode;
    readonly severity: string;
    readonly where: string;
  }[];
}

const IDENTITY = "identity: { issuer: https://login.test, audience: app }\n";

describe("cli: doctor", () => {
  const kept = keptCommandLine();
  let gateway: TestGateway;
  let folder: Folder;
  let admin: string;

  before(async () => {
    gateway = await startGateway({
      overrides: { "gateway.listen_address": "127.0.0.1" },
      change: (bootstrap) => {
        const changed = structuredClone(bootstrap) as Loose;
        managerOf(changed).http_filters.find(
          ({ name }: Loose) => name === "envoy.filters.http.ext_authz",
        ).typed_config.failure_mode_allow = true;
        return changed;
      },
    });
    admin = "socketPath" in gateway.envoy.admin ? `unix:${gateway.envoy.admin.socketPath}` : "";
    folder = await folderOf({
      "gateway.yaml": `${IDENTITY}policies: { directory: policies }\n`,
      "policies/default.yaml":
        'policies:\n  - { resource: "POST /x", condition: \'request.body.a == "b"\' }\n',
      "broken.json": '{ "configs": [',
    });
  });
  after(async () => {
    await gateway.stop();
    await folder.remove();
    await kept.close();
  });

  const doctor = (...args: string[]) => kept.gatehouse(["doctor", ...args], { cwd: folder.path });

  it("says what can happen, where, and how to mend it; exit code 1", async () => {
    const { code, stdout } = await doctor("--envoy-admin", admin);
    assert.equal(code, 1, stdout);
    const { title, risk, mend } = PROBLEMS.FAILURE_MODE_ALLOW;
    assert.ok(
      stdout.startsWith(
        `critical: ${title} [FAILURE_MODE_ALLOW]\n  ${risk}\n  ${mend}\n    listener gateway / filter chain 0: `,
      ),
      stdout,
    );
    assert.match(stdout, /\n1 filter chain: 1 critical, 0 warning, 0 info\n$/);
  });

  it("prints the same as JSON, and from a file", async () => {
    const { stdout } = await doctor("--envoy-admin", admin, "--json");
    const report = JSON.parse(stdout) as Report;
    assert.equal(report.version, 1);
    assert.match(report.envoy?.version ?? "", /^\d+\.\d+\.\d+$/);
    assert.deepEqual(report.counts, { critical: 1, warning: 0, info: 0 });
    assert.deepEqual(
      report.findings.map(({ code, severity }) => [code, severity]),
      [["FAILURE_MODE_ALLOW", "critical"]],
    );
    const { body } = await askAdmin(gateway.envoy.admin, "GET", "/config_dump?include_eds");
    await folder.add({ "dump.json": body });
    const fromFile = await doctor("--config-dump", "dump.json", "--json");
    assert.deepEqual((JSON.parse(fromFile.stdout) as Report).findings, report.findings);
  });

  it("finds the same by the commands of docs/doctor.md, also in a dump", async () => {
    const { body } = await askAdmin(gateway.envoy.admin, "GET", "/config_dump?include_eds");
    await folder.add({ "envoy.json": body });
    const functions = `kubectl() { [ "\${*: -2}" = "GET config_dump?include_eds" ] && cat envoy.json; }`;
    const cwd = folder.path;
    await fromPage("docs/doctor.md", "pilot-agent request", { cwd, functions });
    const places = { "127.0.0.1:9901": admin };
    const printed = await fromPage("docs/doctor.md", "gatehouse doctor --envoy-admin", { cwd, places });
    assert.match(printed, /^critical: .*\[FAILURE_MODE_ALLOW\]$/m);
    const report = JSON.parse(printed.slice(printed.indexOf("\n{"))) as Report;
    assert.ok(report.findings.some(({ code }) => code === "FAILURE_MODE_ALLOW"));
  });

  it("exits by the severity that is asked for", async () => {
    await folder.add({ "open.yaml": `${IDENTITY}audit: { enabled: false }\n` });
    const codeOf = async (severity: string) =>
      (await doctor("--config", "open.yaml", "--fail-on", severity)).code;
    assert.deepEqual(
      [await codeOf("critical"), await codeOf("warning"), await codeOf("info"), await codeOf("never")],
      [0, 1, 1, 0],
    );
  });

  it("refuses what it cannot look at, with exit code 2", async () => {
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [
        ["--envoy-admin", "127.0.0.1:1"],
        /cannot read the configuration of Envoy at `127\.0\.0\.1:1`: .*ECONNREFUSED/,
      ],
      [["--envoy-admin", "https://a:1"], /is plain http/],
      [["--config-dump", "broken.json"], /`broken\.json`: the config_dump is not JSON; is it complete\?/],
      [["--config-dump", "gateway.yaml"], /not JSON/],
      [["--config-dump", "none.json"], /no such file/],
      [["--config-dump", "a", "--envoy-admin", "b"], /use either/],
    ];
    for (const [args, message] of refused) {
      const { code, stderr, stdout } = await doctor(...args);
      assert.deepEqual([code, stdout], [2, ""], args.join(" "));
      assert.match(stderr, message);
    }
    const empty = await folderOf({});
    const { code, stderr } = await kept.gatehouse(["doctor"], { cwd: empty.path });
    assert.deepEqual([code, stderr.includes("nothing to look at")], [2, true]);
    await empty.remove();
  });

  it("has a page with each problem that is fresh (GATEHOUSE_UPDATE=1 writes it)", () => {
    const page = fileURLToPath(new URL("../../docs/doctor.md", import.meta.url));
    const text = readFileSync(page, "utf8");
    const [head = "", rest = ""] = text.split("<!-- problems -->\n");
    const [, tail = ""] = rest.split("<!-- end -->\n");
    const lines = SEVERITIES.flatMap((severity) =>
      Object.entries(PROBLEMS)
        .filter(([, problem]) => problem.severity === severity)
        .map(
          ([code, { title, risk, mend }]) => `| \`${code}\` | ${severity} | ${title} | ${risk} | ${mend} |`,
        ),
    );
    const table = [
      "| code | severity | what is wrong | what can happen | how to mend it |",
      "|---|---|---|---|---|",
      ...lines,
    ];
    const fresh = `${head}<!-- problems -->\n${table.join("\n")}\n<!-- end -->\n${tail}`;
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(page, fresh);
    assert.equal(readFileSync(page, "utf8"), fresh);
  });
});

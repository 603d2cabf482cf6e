import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { freePort } from "../../support/free-port.ts";
import { isInstalled } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { deployText } from "../support/deploy-file.ts";
import { commandBlocks, runCommands } from "../support/guide-blocks.ts";
import { buildContext } from "../support/image.ts";
import { Processes } from "../support/processes.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const UNITS = globSync("*.service", { cwd: join(ROOT, "deploy/systemd") }).sort();
/** Folders of a machine; the tests have them below a temporary one. */
const PLACES = [
  "/usr/local",
  "/opt/envoy",
  "/etc/gatehouse",
  "/etc/sysusers.d",
  "/etc/systemd/system",
] as const;

/** The values of a directive in a unit. */
function valuesOf(unit: string, directive: string): readonly string[] {
  return [...unit.matchAll(new RegExp(`^${directive}=(.*)$`, "gm"))].map(([, value = ""]) => value);
}

describe("deploy: units of systemd", function () {
  this.timeout(600_000);

  it("are those of the three services", () => {
    assert.deepEqual(
      UNITS,
      ["authz", "control-plane", "gateway"].map((name) => `gatehouse-${name}.service`),
    );
  });

  it("run each service as a user of its own, which gatehouse.conf makes", () => {
    const made = [...deployText("systemd/gatehouse.conf").matchAll(/^u (\S+) - /gm)].map(([, name]) => name);
    const users = UNITS.flatMap((file) => valuesOf(deployText(`systemd/${file}`), "User"));
    assert.deepEqual(users, made.toSorted());
    assert.equal(new Set(users).size, UNITS.length);
  });

  if (isInstalled("systemd-analyze", "whether systemd accepts the units"))
    it("are what systemd accepts, and hardened", async () => {
      const folder = await temporaryDirectory();
      for (const file of UNITS) {
        const unit = deployText(`systemd/${file}`).replaceAll("/usr/local/bin/gatehouse", "/bin/true");
        await writeFile(join(folder, file), unit);
        // unknown keys are only warnings
        const { stdout, stderr } = await run("systemd-analyze", ["verify", join(folder, file)]);
        assert.equal(
          (stdout + stderr)
            .split("\n")
            .filter((line) => line.includes("gatehouse"))
            .join("\n"),
          "",
        );
        // in tenths: "OK" is below 5
        await run("systemd-analyze", ["security", "--offline=true", "--threshold=20", join(folder, file)]);
      }
    });

  describe("with the guide's commands", () => {
    const processes = new Processes();
    let root: string;
    let checkout: string;
    let upstream: AnsweringUpstream;
    let issuer: TestIssuer;
    let databases: readonly TestDatabase[];
    let places: Readonly<Record<string, string>>;
    const port: Record<"gateway" | "telemetry" | "api" | "sandbox" | "metrics", number> = {
      ...{ gateway: 0, telemetry: 0, api: 0, sandbox: 0, metrics: 0 },
    };
    /** `systemctl` and what makes users are not run, nor is anything as root. */
    const PRELUDE = `sudo() {
  local words=()
  while [ $# -gt 0 ]; do
    if [ "$1" = -g ]; then shift 2; else words+=("$1"); shift; fi
  done
  "\${words[@]}"
}
systemctl() { :; }
systemd-sysusers() { :; }`;

    before(async () => {
      [upstream, issuer, root, checkout] = await Promise.all([
        startAnsweringUpstream(),
        startIssuer(),
        temporaryDirectory(),
        buildContext(),
      ]);
      databases = [await testDatabase(), await testDatabase()];
      for (const place of PLACES) await mkdir(join(root, place), { recursive: true });
      await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
      await symlink(join(ROOT, "deploy/systemd"), join(checkout, "deploy/systemd"));
      for (const name of Object.keys(port) as (keyof typeof port)[]) port[name] = await freePort();
      places = {
        ...Object.fromEntries(PLACES.map((place) => [place, join(root, place)])),
        "http://127.0.0.1:3000": upstream.url,
        "https://login.example.com": issuer.url,
        "my-api": issuer.audience,
        "http://127.0.0.1:8000": `http://127.0.0.1:${port.gateway}`,
        "postgres://gatehouse:password@127.0.0.1:5432/gatehouse": databases[0]?.url ?? "",
        "postgres://gatehouse:password@127.0.0.1:5432/sandbox": databases[1]?.url ?? "",
      };
    });
    after(async () => {
      await processes.stop();
      await Promise.all([upstream.close(), issuer.close()]);
      for (const database of databases) await database.close();
    });

    const only = (commands: string) =>
      Object.fromEntries(Object.entries(places).filter(([written]) => commands.includes(written)));
    const follow = (commands: string) => {
      const { PATH = "" } = process.env;
      const env = { ...process.env, PATH: `${join(root, "/usr/local/bin")}:${PATH}` };
      return runCommands(commands, { cwd: checkout, env, prelude: PRELUDE, places: only(commands) });
    };
    /** Runs what an installed unit says, and then what says whether it has started. */
    const start = async (name: string) => {
      const unit = await readFile(join(root, `/etc/systemd/system/gatehouse-${name}.service`), "utf8");
      const placed = (text: string) =>
        PLACES.reduce((result, place) => result.replaceAll(place, join(root, place)), text);
      const environment = Object.fromEntries(
        valuesOf(unit, "Environment").map((pair) => placed(pair).split("=") as [string, string]),
      );
      for (const file of valuesOf(unit, "EnvironmentFile").map((path) => placed(path.replace(/^-/, "")))) {
        const text = await readFile(file, "utf8").catch(() => "");
        for (const line of text.split("\n").filter((one) => one !== ""))
          environment[line.slice(0, line.indexOf("="))] = line
            .slice(line.indexOf("=") + 1)
            .replace(/^'(.*)'$/, "$1");
      }
      const [program = "", ...args] = placed(valuesOf(unit, "ExecStart")[0] ?? "").split(" ");
      const state = await temporaryDirectory();
      const env = {
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
        GATEHOUSE_GATEWAY_LISTEN_PORT: String(port.gateway),
        GATEHOUSE_TELEMETRY_PORT: String(port.telemetry),
        GATEHOUSE_TELEMETRY_CONTROL_PLANE_PORT: String(port.metrics),
        GATEHOUSE_API_PORT: String(port.api),
        GATEHOUSE_API_SANDBOX_PORT: String(port.sandbox),
        GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
        ...environment,
      };
      await processes.start(program, args, { cwd: state, env }, (printed) => printed.includes("ready on"));
      const [curl = "", ...options] = (valuesOf(unit, "ExecStartPost")[0] ?? "")
        .replace(/^-/, "")
        .replace("127.0.0.1:9090", `127.0.0.1:${port.telemetry}`)
        .replace("127.0.0.1:8080", `127.0.0.1:${port.api}`)
        .split(" ");
      await run(curl.replace("/usr/bin/", ""), options);
    };

    it("a gateway allows one request and denies another", async () => {
      const [install = "", configure = "", ask = ""] = commandBlocks("systemd", 5);
      await follow(install);
      await follow(configure);
      await start("gateway");
      await follow(ask);
    });

    it("a control plane has its secrets in a file that only root can read, and makes a key for the gateway", async () => {
      const [, , , configure = "", create = ""] = commandBlocks("systemd", 5);
      await follow(configure);
      const file = join(root, "/etc/gatehouse/control-plane.env");
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      await start("control-plane");
      await chmod(join(root, "/etc/gatehouse"), 0o755);
      await follow(create);
      const key = join(root, "/etc/gatehouse/gateway.key");
      assert.equal((await stat(key)).mode & 0o777, 0o640);
      assert.match(await readFile(key, "utf8"), /^\S{20,}\n$/);
    });
  });
});

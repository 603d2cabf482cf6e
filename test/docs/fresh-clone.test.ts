import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { isInstalled, leaveOut } from "../support/programs.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { makeDataDirectory, temporaryDirectory } from "../support/temporary-directory.ts";
import { ROOT } from "../support/up.ts";
import { startAnsweringUpstream, type AnsweringUpstream } from "../support/upstreams/answering-upstream.ts";
import { followTutorial } from "./support/follow-tutorial.ts";
import { blocksIn, type PageBlock } from "./support/page-blocks.ts";
import { Reader } from "./support/reader.ts";

const run = promisify(execFile);
/** A package manager and a compiler of Envoy's wheel may be slow, and everything is downloaded. */
const INSTALL_MS = 2_400_000;
/** What a run of tests sets, and what belongs to the person who starts it. */
const NOT_OF_A_MACHINE =
  /^(?:npm_|GATEHOUSE_|TEST_|XDG_|MAKE|MFLAGS|GNUMAKEFLAGS|NODE_(?!EXTRA_CA_CERTS)|ENVOY_BIN$|INIT_CWD$)/;

/** The environment of somebody who has just got the machine; where packages come from is as it is here. */
function newcomer(home: string): NodeJS.ProcessEnv {
  const { PATH = "", ...others } = process.env;
  const registry = spawnSync("npm", ["config", "get", "registry"], { cwd: "/", encoding: "utf8" });
  return {
    ...Object.fromEntries(Object.entries(others).filter(([name]) => !NOT_OF_A_MACHINE.test(name))),
    PATH: PATH.split(delimiter)
      .filter((folder) => !folder.includes("node_modules"))
      .join(delimiter),
    HOME: home,
    npm_config_registry: registry.stdout.trim(),
    // the machine may be busy
    GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
  };
}

const isClonable = existsSync(join(ROOT, ".git"));
if (!isClonable) leaveOut("README and tutorial on a fresh clone", "the repository", "is not here");
if (isClonable && isInstalled("curl", "README and tutorial on a fresh clone"))
  describe("docs: README and tutorial, on a fresh clone in an empty home directory", function () {
    this.timeout(2 * INSTALL_MS);
    let clone: string;
    let env: NodeJS.ProcessEnv;
    let reader: Reader;
    let ports: Readonly<Record<"gateway" | "telemetry" | "api" | "sandbox" | "metrics", number>>;
    let issuer: TestIssuer;
    let application: AnsweringUpstream;

    before(async () => {
      clone = await temporaryDirectory();
      await run("git", ["clone", "--quiet", ROOT, clone]);
      // or root's PostgreSQL would keep its data where nobody removes them
      await makeDataDirectory(join(clone, ".gatehouse"));
      env = newcomer(await temporaryDirectory());
      reader = new Reader(clone, env);
      ports = {
        gateway: await freePort(),
        telemetry: await freePort(),
        api: await freePort(),
        sandbox: await freePort(),
        metrics: await freePort(),
      };
      [issuer, application] = await Promise.all([startIssuer(), startAnsweringUpstream()]);
    });
    after(async () => {
      await reader.stop();
      await Promise.all([issuer.close(), application.close()]);
    });

    /** For commands that stay: ports that the page has may be taken. */
    const onFreePorts = () => ({
      GATEHOUSE_GATEWAY_LISTEN_PORT: String(ports.gateway),
      GATEHOUSE_TELEMETRY_PORT: String(ports.telemetry),
      GATEHOUSE_TELEMETRY_CONTROL_PLANE_PORT: String(ports.metrics),
      GATEHOUSE_API_PORT: String(ports.api),
      GATEHOUSE_API_SANDBOX_PORT: String(ports.sandbox),
    });
    const change = async (file: string, edit: (text: string) => string) => {
      const path = join(clone, file);
      const text = await readFile(path, "utf8");
      const changed = edit(text);
      assert.notEqual(changed, text, file);
      await writeFile(path, changed);
    };
    const POLICIES = "policies/default.yaml";

    it("README.md gives what it says, block after block", async () => {
      const page = await readFile(join(clone, "README.md"), "utf8");
      const blocks = [...blocksIn(page)];
      /** The next block of the page, which must be in that language. */
      const next = (language: string): PageBlock => {
        const block = blocks.shift();
        assert.equal(block?.language, language, block?.text);
        return block;
      };
      /** A command in a sentence of the page. */
      const said = (command: string) => {
        assert.ok(page.replaceAll(/\s+/g, " ").includes(`\`${command}\``), command);
        return reader.run(`${command}\n`);
      };
      reader.places["http://127.0.0.1:8000"] = `http://127.0.0.1:${ports.gateway}`;
      reader.places["http://127.0.0.1:8080"] = `http://127.0.0.1:${ports.api}`;
      reader.places["http://127.0.0.1:8081"] = `http://127.0.0.1:${ports.sandbox}`;

      // the other line is `make test`, which takes more than this test and runs it
      const [make = "", test = "", ...more] = next("sh").text.trim().split("\n");
      assert.match(make, /^make run +#/);
      assert.match(test, /^make test +#/);
      assert.deepEqual(more, []);
      await reader.start(make, (printed) => printed.includes("Ctrl-C"), {
        boundMs: INSTALL_MS,
        env: onFreePorts(),
      });
      await reader.run(next("sh").text);
      const { text: allowed } = next("sh");
      await eventually("the records of three requests", async () => {
        const printed = await reader.run(allowed);
        const { data } = JSON.parse(printed.slice(printed.lastIndexOf('{"success"'))) as {
          data: readonly Readonly<Record<string, unknown>>[];
        };
        return data.length === 3 && data.every(({ decision, reason }) => decision && reason);
      });
      assert.match(await said("make help"), /^ {2}make run /m);

      // the first rule
      const { text: rule } = next("yaml");
      await change(POLICIES, (text) => text.replace(/^# --- The web pages/m, `${rule}\n$&`));
      const explained = await reader.run(next("sh").text);
      assert.match(explained, /^DENY \(403\) CONDITION_FALSE.*^ +user\.department is "sales"$/ms);
      assert.ok(page.includes("`DENY (403) CONDITION_FALSE`"));
      const { text: finance } = next("sh");
      const csv = await eventually("the rule is in force", () => reader.run(finance));
      assert.match(csv, /^content-type: text\/csv/im);
      const { text: filter } = next("yaml");
      await change(POLICIES, (text) => text.replace(/^response_filters:\n/m, `$&${filter}`));
      const { text: masked } = next("sh");
      assert.match(masked, / # \.\.\. "tax_id"/);
      await eventually("the filter is in force", () => reader.run(masked));
      assert.equal(bodyOf(await reader.run(finance)), bodyOf(csv));

      // an error
      await change(POLICIES, (text) =>
        text.replace('user.department == "finance" and', (part) => part.replace("==", "=")),
      );
      const { text: validate } = next("sh");
      await assert.rejects(reader.run(validate), ({ stdout = "" }: { stdout?: string }) => {
        assert.match(stdout, /default\.yaml:\d+:\d+.*`==`/s);
        return true;
      });
      await change(POLICIES, (text) =>
        text.replace('user.department = "finance" and', (part) => part.replace("=", "==")),
      );
      assert.match(
        await said("npx gatehouse policy test"),
        /only-finance-exports.*never reached|never reached.*only-finance-exports/s,
      );
      assert.match(await said("npx gatehouse policy coverage"), /\S/);
      await reader.stop();

      // in front of one's own application
      const config = next("yaml");
      Object.assign(reader.places, {
        "http://127.0.0.1:3000": application.url,
        "https://login.example.com": issuer.url,
        "listen_port: 8000": `listen_port: ${ports.gateway}`,
      });
      await reader.save(config.file ?? "", config.text);
      const isReady = (printed: string) => printed.includes("gatehouse gateway ready on");
      await reader.start(next("sh").text, isReady, { env: onFreePorts() });
      const ask = async (path: string) => (await fetch(`http://127.0.0.1:${ports.gateway}${path}`)).status;
      assert.deepEqual([await ask("/health"), await ask("/api/customers")], [200, 401]);
      assert.deepEqual(
        application.seen.map(({ url }) => url),
        ["/health"],
      );
      assert.ok((await fetch(`http://127.0.0.1:${ports.telemetry}/readyz`)).ok);
      await assert.rejects(said("npx gatehouse policy validate --config gateway.yaml"), /Command failed/);
      await reader.stop();

      // the control plane
      const isServed = (printed: string) => printed.includes("gatehouse control plane ready on");
      await reader.start(next("sh").text, isServed, { env: onFreePorts() });
      const { success, data } = JSON.parse(await reader.run(next("sh").text)) as {
        readonly success: boolean;
        readonly data: { readonly allowed_roles: readonly string[] };
      };
      assert.deepEqual([success, data.allowed_roles], [true, ["manager", "viewer"]]);
      await reader.stop();
      assert.deepEqual(blocks, [], "every block is tried here");
    });

    it("docs/tutorial.md leads to a policy that was changed while the gateway ran", async () => {
      const page = await readFile(join(clone, "docs/tutorial.md"), "utf8");
      const newReader = new Reader(clone, env);
      try {
        await followTutorial(newReader, page, { firstMs: INSTALL_MS, env: onFreePorts() });
      } finally {
        await newReader.stop();
      }
    });
  });

/** What `curl -i` prints after the headers. */
function bodyOf(printed: string): string {
  return printed.slice(printed.indexOf("\r\n\r\n"));
}

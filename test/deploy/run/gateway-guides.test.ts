import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guideBlock, withPlaces } from "../../authorizers/support/guide.ts";
import { selfSigned } from "../../gateway/support/certificate.ts";
import { DEMO_POLICIES } from "../../support/demo-policies.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { freePort } from "../../support/free-port.ts";
import { isInstalled } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startFrontApplication, type FrontApplication } from "../support/front-application.ts";
import { commandBlocks, NPX, runCommands } from "../support/guide-blocks.ts";
import { Processes } from "../support/processes.ts";
import { frontConfiguration } from "../support/run-proxy.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CLI = join(ROOT, "bin/gatehouse.js");

describe("deploy: guides to the gateway", function () {
  this.timeout(180_000);
  const processes = new Processes();
  let applications: readonly [FrontApplication, FrontApplication];
  let issuer: TestIssuer;
  let token: string;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    applications = [await startFrontApplication("app"), await startFrontApplication("shop")];
    issuer = await startIssuer();
    token = await issuer.token({ sub: "ada", role: "viewer" });
    env = {
      ...process.env,
      ENVOY_BIN: await envoyBinary(),
      GATEHOUSE_GATEWAY_CLUSTER_NODES: "1",
      GATEHOUSE_TELEMETRY_PORT: "0",
      GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s",
      TOKEN: token,
    };
  });
  after(async () => {
    await Promise.all([issuer.close(), ...applications.map((application) => application.close())]);
  });
  afterEach(() => processes.stop());

  const places = (listen: number) => ({
    "https://login.example.com": issuer.url,
    "my-api": issuer.audience,
    "http://127.0.0.1:3000": applications[0].url,
    "listen_port: 8000": `listen_port: ${listen}`,
  });
  /** Commands that end with one that stays. */
  const serve = (commands: string, cwd: string) => {
    const words = ["--norc", "-euo", "pipefail", "-c", `${NPX}\n${commands}`, "bash", process.execPath, CLI];
    return processes.start("bash", words, { cwd, env }, (printed) => printed.includes("gateway ready on"));
  };

  it("gateway.md leads from nothing to requests that are allowed, and others that are denied", async () => {
    const folder = await temporaryDirectory();
    const port = await freePort();
    await writeFile(join(folder, "gateway.yaml"), withPlaces(guideBlock("gateway", "yaml"), places(port)));
    const [rules = "", explain = "", start = "", ask = ""] = commandBlocks("gateway", 4);
    const prelude = `npx() { shift; "${process.execPath}" "${CLI}" "$@"; }`;
    // as in a checkout, with the demo's rules; the last command would check the rules of the page
    await cp(DEMO_POLICIES, join(folder, "policies"), { recursive: true });
    const validate = rules.slice(rules.indexOf("npx gatehouse policy validate --config gateway.yaml"));
    await assert.rejects(
      runCommands(validate, { cwd: folder, env, prelude }),
      ({ stdout = "" }: { stdout?: string }) => {
        assert.match(stdout, /source `users` is not configured/);
        return true;
      },
    );
    await rm(join(folder, "policies"), { recursive: true });
    await runCommands(rules, { cwd: folder, env, prelude });
    assert.match(await runCommands(explain, { cwd: folder, env, prelude }), /DENY \(403\) CONDITION_FALSE/);
    await serve(start, folder);
    const asked = { cwd: folder, env, places: { "127.0.0.1:8000": `127.0.0.1:${port}` } };
    assert.match(await runCommands(ask, asked), /"name":"app","url":"\/private".*"x-user-id":"ada"/);
  });

  if (isInstalled("nginx", "the guide to a gateway behind a proxy"))
    it("front-proxy.md leads from nothing to requests that are allowed, and others that are denied", async () => {
      const folder = await temporaryDirectory();
      const [gateway, port] = [await freePort(), await freePort()];
      await mkdir(join(folder, "deploy/nginx"), { recursive: true });
      const written = await readFile(join(ROOT, "deploy/front-proxy.yaml"), "utf8");
      const other = applications[1].url;
      await writeFile(
        join(folder, "deploy/front-proxy.yaml"),
        withPlaces(written, { ...places(gateway), "http://127.0.0.1:3001": other }),
      );
      const [start = "", proxy = "", ask = ""] = commandBlocks("front-proxy", 3);
      await serve(start, folder);

      // nginx as the machine has it until then
      const conf = join(folder, "nginx.conf");
      await writeFile(conf, "events {}\n");
      const own = ["-e", "stderr", "-p", folder, "-c", conf, "-g", `pid ${folder}/pid; daemon off;`];
      await processes.start("nginx", own, {}, async () =>
        (await readFile(join(folder, "pid"), "utf8")).trim(),
      );
      const { certificate, privateKey } = selfSigned("app.example.com");
      await writeFile(join(folder, "site.pem"), certificate);
      await writeFile(join(folder, "site.key"), privateKey);
      const [first, second] = applications;
      const placed = frontConfiguration("nginx", {
        ...{ folder, port, gateway, host: "app.example.com" },
        applications: [first.port, second.port],
      });
      // how it runs is on the command line here
      await writeFile(
        join(folder, "deploy/nginx/front-proxy.conf"),
        placed.replace(/^daemon off; pid [^;]+;/, ""),
      );
      const words = own.map((word) => `'${word}'`).join(" ");
      await runCommands(proxy, {
        cwd: folder,
        prelude: `nginx() { command nginx ${words} "$@" 2>&1; }`,
        places: { "/etc/nginx/nginx.conf": conf },
      });

      const curl = `curl() { command curl -k --retry 20 --retry-connrefused --retry-delay 1 ${["app", "shop"]
        .map((name) => `--resolve ${name}.example.com:${port}:127.0.0.1`)
        .join(" ")} "$@"; }`;
      const printed = await runCommands(ask, {
        ...{ cwd: folder, env, prelude: curl },
        places: {
          "app.example.com/": `app.example.com:${port}/`,
          "shop.example.com/": `shop.example.com:${port}/`,
          "X-Backend-URL: http://127.0.0.1:3001": `X-Backend-URL: ${other}`,
        },
      });
      const served = [...printed.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
      assert.deepEqual(served, ["app", "shop", "app", "app"]);
    });
});

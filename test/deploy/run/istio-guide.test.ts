import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guideBlock, withPlaces } from "../../authorizers/support/guide.ts";
import { freePort } from "../../support/free-port.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { deployText } from "../support/deploy-file.ts";
import { startFrontApplication, type FrontApplication } from "../support/front-application.ts";
import { APPLIED, commandBlocks, NPX, runCommands } from "../support/guide-blocks.ts";
import { applyPatches, sidecarBootstrap, type ConfigPatch } from "../support/istio-patches.ts";
import { Processes } from "../support/processes.ts";
import { resourcesIn } from "../support/schemas.ts";
import { runEnvoy } from "../support/run-envoy.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CLI = join(ROOT, "bin/gatehouse.js");

/** The commands for a cluster, with a process for each of its pods, and a real Envoy for its proxies. */
describe("deploy: the guide to Istio's sidecars", function () {
  this.timeout(300_000);
  const processes = new Processes();
  let application: FrontApplication;
  let issuer: TestIssuer;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    [application, issuer] = await Promise.all([startFrontApplication("orders"), startIssuer()]);
    env = { ...process.env, GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s" };
  });
  after(async () => {
    await Promise.all([application.close(), issuer.close()]);
  });
  afterEach(() => processes.stop());

  it("istio.md has the configuration of workload.yaml", () => {
    const [config] = resourcesIn(deployText("istio/workload.yaml"));
    assert.equal(guideBlock("istio", "yaml"), (config?.["data"] as Record<string, string>)["gateway.yaml"]);
  });

  it("istio.md leads from nothing to a request that is allowed, and one that is denied", async () => {
    const folder = await temporaryDirectory();
    const [listen, admin] = [await freePort(), await freePort()];
    const [config] = resourcesIn(deployText("istio/workload.yaml"));
    const { "gateway.yaml": gateway = "", "default.yaml": policies = "" } = config?.["data"] as Record<
      string,
      string
    >;
    await mkdir(join(folder, "policies"));
    await symlink(join(ROOT, "deploy"), join(folder, "deploy"));
    await writeFile(join(folder, "policies/default.yaml"), policies);
    await writeFile(
      join(folder, "gateway.yaml"),
      withPlaces(gateway, {
        "http://127.0.0.1:3000": application.url,
        "127.0.0.1:9191": `127.0.0.1:${await freePort()}`,
        "/var/run/gatehouse/connections": join(folder, "connections"),
        "https://login.example.com": issuer.url,
        "my-api": issuer.audience,
        "0.0.0.0": "127.0.0.1",
        "port: 9090": `port: ${await freePort()}`,
      }),
    );
    const [install = "", ask = "", doctor = "", provide = ""] = commandBlocks("istio", 4);
    const prelude = `${NPX.replace("NODE=$1 CLI=$2", `NODE='${process.execPath}' CLI='${CLI}'`)}
${APPLIED}
kubectl() {
  case "$1 $2" in
    "rollout status") ;;
    "exec --namespace") while [ "$1" != -- ]; do shift; done; shift; "$@" ;;
    *) applied "$@" ;;
  esac
}
curl() { command curl --connect-to orders:3000:127.0.0.1:${listen} "$@"; }
istioctl() { command curl -s "http://127.0.0.1:${admin}/config_dump?include_eds"; }`;
    const follow = (commands: string, places = {}) =>
      runCommands(commands, { cwd: folder, env, prelude, places });

    await follow(install, { "--port 3000": `--port ${application.port}` });
    const filter = JSON.parse(await readFile(join(folder, "envoy-filter.json"), "utf8")) as {
      readonly spec: { readonly configPatches: readonly ConfigPatch[] };
    };
    const sidecar = sidecarBootstrap({ listen, port: application.port, admin });
    const args = [CLI, "authz", "--config", "gateway.yaml"];
    await processes.start(process.execPath, args, { cwd: folder, env }, (printed) =>
      printed.includes("authz ready"),
    );
    const bootstrap = applyPatches(sidecar, filter.spec.configPatches);
    await runEnvoy(processes, { folder, bootstrap, admin });
    assert.match(await follow(ask), /"name":"orders","url":"\/public"/);
    await follow(doctor);
    await follow(provide);
  });
});

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guideBlock } from "../../authorizers/support/guide.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { eventually } from "../../support/eventually.ts";
import { leaveOut } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { commandBlocks, runCommands } from "../support/guide-blocks.ts";
import { helmBinary, KUBE_VERSION } from "../support/helm.ts";
import { Processes } from "../support/processes.ts";
import { PodRunner, type RunningPod } from "../support/run-pods.ts";
import { resourcesIn } from "../support/schemas.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CLI = join(ROOT, "bin/gatehouse.js");

/** The guide's commands: `helm` renders instead of installing, `kubectl` keeps Secrets in a folder, and runs what a pod would. */
describe("deploy: the guide to the Helm chart", function () {
  this.timeout(600_000);
  const helm = helmBinary();
  if (helm === undefined) {
    leaveOut("the guide to the Helm chart", "helm", "is not installed, and Go cannot make it");
    return;
  }
  const processes = new Processes();
  let folder: string;
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let database: TestDatabase;
  let env: NodeJS.ProcessEnv;
  const [install = "", ask = "", upgrade = "", key = ""] = commandBlocks("helm", 4);

  before(async () => {
    [upstream, issuer, folder] = await Promise.all([
      startAnsweringUpstream(),
      startIssuer(),
      temporaryDirectory(),
    ]);
    database = await testDatabase();
    env = { GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s", ENVOY_BIN: await envoyBinary() };
    await symlink(join(ROOT, "deploy"), join(folder, "deploy"));
    await mkdir(join(folder, "secrets"));
    const values = guideBlock("helm", "yaml")
      .replace("http://orders.shop.svc:3000", upstream.url)
      .replace("https://login.example.com", issuer.url)
      .replace("my-api", issuer.audience);
    await writeFile(join(folder, "values.yaml"), values);
  });
  after(async () => {
    await processes.stop();
    await Promise.all([upstream.close(), issuer.close()]);
    await database.close();
  });

  const prelude = (inPod = "false") => `helm() {
  case "$1" in install|upgrade) ;; *) return 1 ;; esac
  shift
  local words=()
  for word; do case "$word" in --create-namespace|--wait) ;; *) words+=("$word") ;; esac; done
  '${helm}' template "\${words[@]}" --kube-version ${KUBE_VERSION} > rendered.yaml
}
kubectl() {
  case "$1 $2" in
    "create secret")
      mkdir -p "secrets/$4"
      for word; do case "$word" in
        --from-literal=*) word=\${word#*=}; printf '%s' "\${word#*=}" > "secrets/$4/\${word%%=*}" ;;
        --from-file=*) cp "\${word#*=}" "secrets/$4/" ;;
      esac; done ;;
    "exec --namespace")
      [ "$5 $6 $7" = "-- /usr/local/bin/node /app/gatehouse.js" ] || return 1
      shift 7
      ${inPod} "$@" ;;
    "port-forward --namespace"|"rollout status") ;;
    *) echo "no such command: $*" >&2; return 1 ;;
  esac
}`;
  const rendered = async () => resourcesIn(await readFile(join(folder, "rendered.yaml"), "utf8"));
  const secrets = async () => {
    const read = async (name: string) => {
      const keys = await readdir(join(folder, "secrets", name));
      const texts = await Promise.all(keys.map((of) => readFile(join(folder, "secrets", name, of), "utf8")));
      return [name, Object.fromEntries(keys.map((of, index) => [of, texts[index] ?? ""]))] as const;
    };
    return Object.fromEntries(await Promise.all((await readdir(join(folder, "secrets"))).map(read)));
  };
  const asked = (gateway: RunningPod) =>
    runCommands(ask, { cwd: folder, places: { "127.0.0.1:8000": gateway.at("http") } });

  it("leads from nothing to a request that is allowed, and one that is denied", async () => {
    await runCommands(install, { cwd: folder, prelude: prelude() });
    const pods = new PodRunner({ resources: await rendered(), secrets: {}, env }, processes);
    const gateway = await pods.start("gatehouse-gateway");
    await eventually("every worker is ready", () => gateway.printed().includes("gatehouse gateway ready"));
    await asked(gateway);
  });

  it("adds a control plane, from which the gateway gets its key", async () => {
    const places = {
      "postgres://gatehouse:password@postgres.example.com:5432/gatehouse": database.url,
      "https://gatehouse.example.com": "http://127.0.0.1:8080",
    };
    await runCommands(upgrade, { cwd: folder, prelude: prelude(), places });
    const resources = await rendered();
    const pods = new PodRunner({ resources, secrets: await secrets(), env }, processes);
    const { exec } = await pods.start("gatehouse-control-plane");
    const variables = Object.entries(exec.env).map(([name, value = ""]) => `${name}='${value}'`);
    const words = `"\${@//\\/etc\\/gatehouse\\/config/${exec.path("/etc/gatehouse/config")}}"`;
    const inPod = `run_in_pod() { env -i ${variables.join(" ")} '${process.execPath}' '${CLI}' ${words}; }`;
    await runCommands(key, { cwd: folder, prelude: `${inPod}\n${prelude("run_in_pod")}` });
    assert.ok(!(await readdir(folder)).includes("gateway-key"));

    const withKey = new PodRunner({ resources, secrets: await secrets(), env }, processes, pods);
    const gateway = await withKey.start("gatehouse-gateway");
    await eventually("every worker is ready", () => gateway.printed().includes("gatehouse gateway ready"));
    await asked(gateway);
  });
});

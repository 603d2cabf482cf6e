import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dump, load } from "js-yaml";
import { guideBlock, withPlaces } from "../../authorizers/support/guide.ts";
import { freePort } from "../../support/free-port.ts";
import { leaveOut } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { deployText } from "../support/deploy-file.ts";
import { startFrontApplication, type FrontApplication } from "../support/front-application.ts";
import { APPLIED, commandBlocks, runCommands } from "../support/guide-blocks.ts";
import { helmBinary, KUBE_VERSION } from "../support/helm.ts";
import { Processes } from "../support/processes.ts";
import { PodRunner } from "../support/run-pods.ts";
import { resourcesIn, type Resource } from "../support/schemas.ts";
import { runEnvoy } from "../support/run-envoy.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The commands for a cluster, with a process for each of its pods, and a real Envoy for its proxies. */
describe("deploy: the guide to the Gateway API", function () {
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

  const helm = helmBinary();
  if (helm === undefined) {
    leaveOut("the guide to the Gateway API", "helm", "is not installed, and Go cannot make it");
    return;
  }

  it("gateway-api.md leads from nothing to a request that is allowed, and one that is denied", async () => {
    const folder = await temporaryDirectory();
    await mkdir(join(folder, "deploy/helm/examples"), { recursive: true });
    for (const name of ["envoy-gateway", "gateway-api", "helm/gatehouse"])
      await symlink(join(ROOT, "deploy", name), join(folder, "deploy", name));
    const values = withPlaces(deployText("helm/examples/mesh.yaml"), {
      "https://login.example.com": issuer.url,
      "my-api": issuer.audience,
      "10.0.0.0/8": "127.0.0.1/32",
    });
    await writeFile(join(folder, "deploy/helm/examples/mesh.yaml"), values);
    const [install = "", policy = "", route = "", ask = ""] = commandBlocks("gateway-api", 4);
    const preludeAt = (address: string) => `${APPLIED}
helm() {
  local words=()
  shift
  for word; do [ "$word" = --wait ] || words+=("$word"); done
  '${helm}' template "\${words[@]}" --kube-version ${KUBE_VERSION} > rendered.yaml
}
kubectl() {
  case "$1 $2 $3" in
    "create configmap policies") cp "\${6#--from-file=}" configmap ;;
    "get gateway public") echo '${address}' ;;
    *) applied "$@" ;;
  esac
}`;
    await runCommands(install, { cwd: folder, prelude: preludeAt("") });
    const rules: Resource = {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "policies", namespace: "shop" } },
      data: { "default.yaml": await readFile(join(folder, "configmap"), "utf8") },
    };
    const rendered = resourcesIn(await readFile(join(folder, "rendered.yaml"), "utf8"));
    const pods = new PodRunner({ resources: [...rendered, rules], secrets: {}, env }, processes);
    const authz = await pods.start("gatehouse-authz");
    const token = await issuer.token({ sub: "ada" });
    await runCommands(policy, { cwd: folder, prelude: preludeAt("") });
    await runCommands(route, { cwd: folder, prelude: preludeAt("") });
    for (const [form, expected] of [
      ["grpc", /"name":"orders","url":"\/public"/],
      ["http", undefined],
    ] as const) {
      const [listen, admin] = [await freePort(), await freePort()];
      const [, port] = authz.at(form).split(":");
      const bootstrap = gatewayOf({ form, listen, admin, authz: Number(port) });
      await runEnvoy(processes, { folder, bootstrap, admin });
      const prelude = preludeAt(`127.0.0.1:${listen}`);
      // as the page says, by HTTP everything is denied
      const commands = expected === undefined ? ask.replace("# 200", "# 403") : ask;
      const printed = await runCommands(commands, { cwd: folder, prelude });
      if (expected === undefined) {
        assert.doesNotMatch(printed, /"name":"orders"/);
        continue;
      }
      assert.match(printed, expected);
      const twice = Array.from({ length: 2 }, () => `Authorization: Bearer ${token}`);
      assert.equal((await sendRaw(listen, rawGet("/public", twice))).status, 400);
      assert.equal((await sendRaw(listen, rawGet("/public", twice.slice(1)))).status, 200);
    }
  });

  /** What a Gateway's Envoy has of the SecurityPolicy, or of `ExternalAuth` by HTTP: no more than these say. */
  function gatewayOf(place: {
    readonly form: "grpc" | "http";
    readonly listen: number;
    readonly admin: number;
    readonly authz: number;
  }): object {
    const [policy] = resourcesIn(deployText("envoy-gateway/security-policy.yaml"));
    const { extAuth } = policy?.["spec"] as { extAuth: { failOpen: boolean; timeout: string } };
    const { form, listen, admin, authz } = place;
    const block = load(guideBlock(`envoy-${form}`, "envoy")) as {
      readonly static_resources: {
        readonly listeners: readonly [Listener];
        readonly clusters: readonly Cluster[];
      };
    };
    const at = (port: number) => ({ socket_address: { address: "127.0.0.1", port_value: port } });
    const { listeners, clusters } = block.static_resources;
    listeners[0].address = at(listen);
    const filter = listeners[0].filter_chains[0].filters[0].typed_config.http_filters[0].typed_config;
    const bare = { "@type": filter["@type"], failure_mode_allow: extAuth.failOpen };
    const { server_uri: server, path_prefix: prefix } = (filter["http_service"] ?? {}) as Record<
      string,
      object
    >;
    const asking =
      form === "grpc"
        ? {
            ...{ transport_api_version: "V3", status_on_error: { code: "ServiceUnavailable" } },
            grpc_service: { timeout: extAuth.timeout, envoy_grpc: { cluster_name: "gatehouse" } },
          }
        : { http_service: { server_uri: server, path_prefix: prefix } };
    listeners[0].filter_chains[0].filters[0].typed_config.http_filters[0].typed_config = {
      ...bare,
      ...asking,
    };
    for (const cluster of clusters)
      cluster.load_assignment.endpoints = [
        {
          lb_endpoints: [
            { endpoint: { address: at(cluster.name === "gatehouse" ? authz : application.port) } },
          ],
        },
      ];
    return { ...(load(dump(block)) as object), admin: { address: at(admin) } };
  }
});

interface Listener {
  address: object;
  readonly filter_chains: readonly [
    {
      readonly filters: readonly [
        {
          readonly typed_config: {
            readonly http_filters: readonly [{ typed_config: Record<string, unknown> }];
          };
        },
      ];
    },
  ];
}

interface Cluster {
  readonly name: string;
  readonly load_assignment: { endpoints: object[] };
}

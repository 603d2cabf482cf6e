import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { leaveOut } from "../../support/programs.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { deployText } from "../support/deploy-file.ts";
import { definitionsIn, goModule, resourcesIn, schemaErrors, type Resource } from "../support/schemas.ts";

const run = promisify(execFile);
const DEPLOY = fileURLToPath(new URL("../../../deploy", import.meta.url));

const MODULES = [
  ["istio.io/api@v1.31.4", "kubernetes/customresourcedefinitions.gen.yaml"],
  ["github.com/envoyproxy/gateway@v1.9.1", "charts/gateway-helm/charts/crds/crds/generated/*.yaml"],
  // `ExternalAuth` is in its experimental channel
  ["sigs.k8s.io/gateway-api@v1.6.3", "config/crd/experimental/gateway.networking.k8s.io_httproutes.yaml"],
] as const;

describe("deploy: Kubernetes resources", function () {
  this.timeout(300_000);
  // `go` fetches the modules that have the definitions
  const folders = MODULES.map(([module, pattern]) => [goModule(module), pattern] as const);
  if (folders.some(([folder]) => folder === undefined)) {
    leaveOut(
      "schemas of Istio, Envoy Gateway and the Gateway API",
      "Go",
      "is not installed, or finds no modules",
    );
    return;
  }
  let definitions: readonly Resource[];

  before(async () => {
    definitions = (
      await Promise.all(folders.map(([folder = "", pattern]) => definitionsIn(folder, pattern)))
    ).flat();
    const kinds = definitions.map(({ spec }) => (spec as { names: { kind: string } }).names.kind);
    for (const kind of [
      "EnvoyFilter",
      "AuthorizationPolicy",
      "SecurityPolicy",
      "ClientTrafficPolicy",
      "HTTPRoute",
    ])
      assert.ok(kinds.includes(kind), kind);
  });

  const files = globSync("{istio,envoy-gateway,gateway-api}/*.yaml", { cwd: DEPLOY }).sort();
  it("are these files", () => {
    assert.equal(files.length, 7);
  });
  for (const file of files)
    it(`${file} is what the schemas of its kinds permit`, async () => {
      const resources = resourcesIn(deployText(file)).filter(({ kind }) => (kind as unknown) !== undefined);
      // values of a chart are no resource
      assert.equal(resources.length > 0, !file.endsWith("mesh-config.yaml"));
      assert.deepEqual(await schemaErrors(resources, definitions), []);
    });

  it("the EnvoyFilter for the workload's configuration is what its schema permits", async () => {
    const [config] = resourcesIn(deployText("istio/workload.yaml"));
    const folder = await temporaryDirectory();
    await writeFile(
      join(folder, "gateway.yaml"),
      (config?.["data"] as Record<string, string>)["gateway.yaml"] ?? "",
    );
    const cli = join(DEPLOY, "../bin/gatehouse.js");
    const place = "--namespace shop --app orders --port 3000";
    const made = `node "${cli}" envoy-config | node "${join(DEPLOY, "istio/envoy-filter.mjs")}" ${place}`;
    const { stdout } = await run("sh", ["-c", made], { cwd: folder, maxBuffer: 1e8 });
    const [filter] = resourcesIn(stdout);
    assert.ok(filter?.kind === "EnvoyFilter");
    assert.deepEqual(await schemaErrors([filter], definitions), []);
  });

  it("a protocol of ExternalAuth that there is not is found", async () => {
    const [route] = resourcesIn(deployText("gateway-api/http-route.yaml").replace("GRPC", "GRPCC"));
    assert.ok(route);
    assert.match((await schemaErrors([route], definitions)).join(), /GRPCC/);
  });

  it("a field that a schema does not name is found", async () => {
    const [policy] = resourcesIn(deployText("envoy-gateway/security-policy.yaml"));
    assert.ok(policy);
    const { extAuth, ...spec } = policy["spec"] as Record<string, Record<string, unknown>>;
    const wrong = { ...policy, spec: { ...spec, extAuth: { ...extAuth, failOpenn: false } } };
    assert.match((await schemaErrors([wrong], definitions)).join(), /extAuth.*failOpenn/);
  });
});

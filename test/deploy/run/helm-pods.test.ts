import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createAuthority } from "../../support/certificates.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { eventually } from "../../support/eventually.ts";
import { leaveOut } from "../../support/programs.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { configMapOf, helmBinary, render } from "../support/helm.ts";
import { Processes } from "../support/processes.ts";
import { getInsecurely, PodRunner } from "../support/run-pods.ts";
import type { Resource } from "../support/schemas.ts";

const run = promisify(execFile);
const CLI = fileURLToPath(new URL("../../../bin/gatehouse.js", import.meta.url));

/** The variables that only a busy test machine needs. */
const PATIENT = { GATEHOUSE_AUTHZ_DECISION_TIMEOUT: "15s" };

describe("deploy: the pods of the Helm chart", function () {
  this.timeout(600_000);
  const helm = helmBinary();
  if (helm === undefined) {
    leaveOut("the pods of the Helm chart", "helm", "is not installed, and Go cannot make it");
    return;
  }
  const processes = new Processes();
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let databases: readonly TestDatabase[];
  let env: NodeJS.ProcessEnv;

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    databases = [await testDatabase(), await testDatabase()];
    env = { ...PATIENT, ENVOY_BIN: await envoyBinary() };
  });
  after(async () => {
    await processes.stop();
    await Promise.all([upstream.close(), issuer.close()]);
    for (const database of databases) await database.close();
  });

  const identity = () => ({ issuer: issuer.url, audience: issuer.audience });
  const token = async () => ({ authorization: `Bearer ${await issuer.token({ sub: "ada" })}` });
  const permitting = (path: string) => `policies:\n  - { resource: GET ${path}, condition: "true" }\n`;

  it("a gateway: one request is allowed, one denied, and policies change without a restart", async () => {
    const values = { config: { identity: identity() }, gateway: { backend: upstream.url } };
    const resources = await render(helm, { examples: ["gateway"], values });
    const pods = new PodRunner({ resources, secrets: {}, env }, processes);
    const gateway = await pods.start("gatehouse-gateway");
    const ask = async (path: string, headers?: Readonly<Record<string, string>>) =>
      (await getInsecurely(`http://${gateway.at("http")}${path}`, headers)).status;
    await eventually("every worker is ready", () => gateway.printed().includes("gatehouse gateway ready"));
    assert.deepEqual([await ask("/public/hello"), await ask("/orders")], [200, 401]);
    assert.equal(await ask("/orders", await token()), 200);

    await pods.replaceConfigMap("gatehouse-policies", { "default.yaml": permitting("/changed") });
    await eventually("the new policies", async () => (await ask("/changed")) === 200);
    assert.equal(await ask("/public/hello"), 403);
  });

  it("the decision service, with policies in a ConfigMap of one's own", async () => {
    const own: Resource = {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "policies", namespace: "shop" } },
      data: { "default.yaml": permitting("/open") },
    };
    const values = {
      config: { identity: identity() },
      authz: { http: { callers: ["127.0.0.1"] } },
    };
    const resources = [...(await render(helm, { examples: ["mesh"], values })), own];
    const pods = new PodRunner({ resources, secrets: {}, env }, processes);
    const authz = await pods.start("gatehouse-authz");
    await eventually("it is ready", () => authz.printed().includes("gatehouse authz ready"));
    assert.match(authz.printed(), new RegExp(`ready on ${authz.at("grpc")}`));
    const asked = async (path: string) =>
      (
        await getInsecurely(`http://${authz.at("http")}/nginx`, {
          "x-original-request": `GET ${path} HTTP/1.1`,
          "x-original-host": "app.test",
          "x-original-scheme": "http",
          "x-original-address": "192.0.2.1",
          "x-original-connection": "=",
          "x-original-upgrade": "=",
        })
      ).status;
    assert.deepEqual([await asked("/open"), await asked("/closed")], [200, 403]);
  });

  it("everything, with TLS and the control plane's databases and keys from Secrets", async () => {
    const authority = await createAuthority("the cluster");
    const { certificate, privateKey } = await authority.issue("127.0.0.1");
    const tls = { "tls.crt": certificate, "tls.key": privateKey, "ca.crt": authority.certificate };
    const ca: Resource = {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ca", namespace: "shop" } },
      data: { "ca.crt": authority.certificate },
    };
    const values = {
      config: { identity: identity() },
      gateway: { backend: upstream.url },
      extraEnv: [{ name: "NODE_EXTRA_CA_CERTS", value: "/etc/gatehouse/ca/ca.crt" }],
      extraVolumes: [{ name: "ca", configMap: { name: "ca" } }],
      extraVolumeMounts: [{ name: "ca", mountPath: "/etc/gatehouse/ca", readOnly: true }],
    };
    const resources = [...(await render(helm, { examples: ["everything"], values })), ca];
    const gatewayKey: Record<string, string> = {};
    const secrets = {
      "gatehouse-database": {
        "database-url": databases[0]?.url ?? "",
        "sandbox-database-url": databases[1]?.url ?? "",
      },
      "gatehouse-encryption": { "encryption-key": randomBytes(32).toString("base64") },
      "gatehouse-gateway-key": gatewayKey,
      ...{ "gateway-tls": tls, "authz-tls": tls, "control-plane-tls": tls },
    };
    const pods = new PodRunner({ resources, secrets, env }, processes);
    await assert.rejects(pods.start("gatehouse-gateway"), /there is no key gateway-key/);

    const controlPlane = await pods.start("gatehouse-control-plane");
    const create = async (scope: string) => {
      const { path, env: variables } = controlPlane.exec;
      const config = ["--config", path("/etc/gatehouse/config/gateway.yaml")];
      const key = ["--environment", "production", "--scope", scope, "--name", scope];
      const made = await run(process.execPath, [CLI, "keys", "create", ...config, ...key], {
        env: variables,
      });
      return made.stdout;
    };
    gatewayKey["gateway-key"] = await create("gateway");
    const [gateway, authz] = [await pods.start("gatehouse-gateway"), await pods.start("gatehouse-authz")];
    await eventually("every worker is ready", () => gateway.printed().includes("gatehouse gateway ready"));
    assert.match(gateway.printed(), /ready on https:/);
    await eventually("it is ready", () => authz.printed().includes("gatehouse authz ready"));

    const ask = async (path: string, headers?: Readonly<Record<string, string>>) =>
      (await getInsecurely(`https://${gateway.at("http")}${path}`, headers)).status;
    assert.deepEqual([await ask("/public/hello"), await ask("/orders")], [200, 401]);
    assert.equal(await ask("/orders", await token()), 200);
    const reading = { authorization: `Bearer ${(await create("full_access")).trim()}` };
    await eventually("the records", async () => {
      const trail = `https://${controlPlane.at("api")}/v1/audit/logs?kind=decision`;
      const { body } = await getInsecurely(trail, reading);
      return (JSON.parse(body) as { data: unknown[] }).data.length === 3;
    });
    // what scrapers get, if the policy lets them
    const { body } = await getInsecurely(`http://${controlPlane.at("metrics")}/metrics`);
    assert.match(body, /^gatehouse_/m);
    assert.ok(configMapOf(resources, "gatehouse-policies"));
  });
});

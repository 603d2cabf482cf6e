import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { leaveOut } from "../../support/programs.ts";
import {
  CHART,
  configMapOf,
  exampleFile,
  helmBinary,
  podsOf,
  render,
  type Container,
  type PodSpec,
} from "../support/helm.ts";
import { readGatewayConfig } from "../support/read-config.ts";
import { schemaErrors, type Resource } from "../support/schemas.ts";

const run = promisify(execFile);
const EXAMPLES = ["gateway", "mesh", "everything"] as const;

/** What each of the examples makes. */
const KINDS: Readonly<Record<(typeof EXAMPLES)[number], readonly string[]>> = {
  gateway: ["gatehouse-gateway"],
  mesh: ["gatehouse-authz"],
  everything: ["gatehouse-authz", "gatehouse-control-plane", "gatehouse-gateway"],
};

describe("deploy: the Helm chart", function () {
  this.timeout(600_000);
  const helm = helmBinary();
  if (helm === undefined) {
    leaveOut("the Helm chart", "helm", "is not installed, and Go cannot make it");
    return;
  }
  const ofKind = (resources: readonly Resource[], kind: string) =>
    resources.filter((resource) => resource.kind === kind);

  for (const example of EXAMPLES)
    describe(`with the example ${example}`, () => {
      let resources: readonly Resource[];
      let pods: ReadonlyMap<string, PodSpec>;
      before(async () => {
        resources = await render(helm, { examples: [example] });
        pods = podsOf(resources);
      });
      const containers = (): readonly Container[] => [...pods.values()].map((pod) => pod.containers[0]);

      it("is what helm lint and the schemas of Kubernetes permit", async () => {
        await run(helm, ["lint", "--strict", CHART, "--values", exampleFile(example)]);
        assert.deepEqual(await schemaErrors(resources), []);
      });

      it("has a Deployment, a Service, a budget for disruptions and a NetworkPolicy for each part", () => {
        const names = KINDS[example];
        for (const kind of ["Deployment", "Service", "PodDisruptionBudget"])
          assert.deepEqual(
            ofKind(resources, kind)
              .map(({ metadata }) => metadata.name)
              .sort(),
            names,
            kind,
          );
        const policies = ofKind(resources, "NetworkPolicy").map(({ metadata }) => metadata.name);
        for (const name of names) assert.ok(policies.includes(name), name);
        for (const { metadata } of resources) assert.ok(metadata.namespace !== undefined, metadata.name);
      });

      it("runs nobody as root, with nothing but its own folders to write to, and no rights at the API server", () => {
        for (const pod of pods.values()) {
          const { runAsUser, runAsNonRoot, seccompProfile } = pod.securityContext ?? {};
          assert.deepEqual(
            [runAsUser, runAsNonRoot, seccompProfile],
            [65532, true, { type: "RuntimeDefault" }],
          );
          assert.equal(pod.automountServiceAccountToken, false);
          assert.deepEqual(pod.containers[0].securityContext, {
            ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
            capabilities: { drop: ["ALL"] },
          });
          for (const { name, mountPath, readOnly } of pod.containers[0].volumeMounts) {
            const volume = pod.volumes.find((one) => one.name === name);
            assert.ok(volume, name);
            assert.equal(readOnly === true, volume.emptyDir === undefined, mountPath);
            if (volume.secret !== undefined) assert.equal(volume.secret.defaultMode, 0o440, name);
          }
        }
        for (const account of ofKind(resources, "ServiceAccount"))
          assert.equal(account["automountServiceAccountToken"], false);
        for (const kind of ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"])
          assert.deepEqual(ofKind(resources, kind), []);
      });

      it("has probes, memory limits, and the time to end in order", () => {
        for (const { startupProbe, livenessProbe, readinessProbe, ports, resources: needs } of containers()) {
          assert.equal(startupProbe.httpGet.path, "/healthz");
          assert.equal(livenessProbe.httpGet.path, "/healthz");
          assert.equal(readinessProbe.httpGet.path, "/readyz");
          for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
            assert.ok(
              ports.some(({ name }) => name === httpGet.port),
              httpGet.port,
            );
          assert.ok(needs.limits["memory"] !== undefined && needs.requests["cpu"] !== undefined);
        }
        for (const { terminationGracePeriodSeconds = 0 } of pods.values())
          assert.ok(terminationGracePeriodSeconds >= 30);
      });

      it("has no secrets, only references to them", () => {
        assert.deepEqual(ofKind(resources, "Secret"), []);
        for (const { env = [] } of containers())
          for (const { name, value, valueFrom } of env)
            assert.deepEqual([value, typeof valueFrom?.secretKeyRef.name], [undefined, "string"], name);
      });

      it("gives each part a configuration without errors, and probes at ports that it has", async () => {
        for (const [
          name,
          {
            containers: [container],
          },
        ] of pods) {
          const config = await readGatewayConfig(configMapOf(resources, name)?.["gateway.yaml"] ?? "");
          const configured = {
            http: name.endsWith("authz") ? 9292 : config.gateway.listen_port,
            metrics: name.endsWith("control-plane")
              ? config.telemetry.control_plane_port
              : config.telemetry.port,
            grpc: Number(config.authz.listen.split(":")[1]),
            api: config.api.port,
            sandbox: config.api.sandbox_port,
          } as const;
          for (const { name: port, containerPort } of container.ports)
            assert.equal(configured[port as keyof typeof configured], containerPort, `${name}: ${port}`);
        }
      });

      it("does not offer metrics and probes through a Service", () => {
        for (const { spec, metadata } of ofKind(resources, "Service"))
          for (const { targetPort } of (spec as { ports: { targetPort: string }[] }).ports)
            assert.notEqual(targetPort, "metrics", metadata.name);
      });

      it("restarts nothing for a change of policies or of a rollout, and everything for another one", async () => {
        const checksums = async (values: object) =>
          ofKind(await render(helm, { examples: [example], values }), "Deployment").map(({ spec }) => {
            const { template } = spec as { template: { metadata: { annotations: Record<string, string> } } };
            return template.metadata.annotations["checksum/config"];
          });
        const before = await checksums({});
        const files = { "default.yaml": "policies: []\n" };
        if (example !== "mesh") assert.deepEqual(await checksums({ policies: { files } }), before);
        assert.deepEqual(await checksums({ config: { rollout: { percentage: 10 } } }), before);
        const after = await checksums({ config: { telemetry: { log_level: "debug" } } });
        assert.ok(after.every((checksum, index) => checksum !== before[index]));
      });
    });

  describe("network policies", () => {
    interface Peer {
      readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
    }
    interface Rule {
      readonly from?: readonly Peer[];
      readonly ports?: readonly { readonly port: number | string }[];
    }
    const rulesOf = (resources: readonly Resource[], name: string): readonly Rule[] => {
      const found = ofKind(resources, "NetworkPolicy").find(({ metadata }) => metadata.name === name);
      assert.ok(found, name);
      const { policyTypes, ingress } = found["spec"] as { policyTypes: string[]; ingress: Rule[] };
      assert.deepEqual(policyTypes, ["Ingress"]);
      return ingress;
    };

    it("let only the gateway reach the application, in the application's namespace", async () => {
      const resources = await render(helm, { examples: ["everything"] });
      const policy = ofKind(resources, "NetworkPolicy").find(({ metadata }) => metadata.namespace === "shop");
      assert.ok(policy);
      const rules = rulesOf(resources, "gatehouse-only-orders");
      assert.deepEqual(rules, [
        {
          from: [
            {
              namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "shop" } },
              podSelector: {
                matchLabels: {
                  "app.kubernetes.io/name": "gatehouse",
                  "app.kubernetes.io/instance": "gatehouse",
                  "app.kubernetes.io/component": "gateway",
                },
              },
            },
          ],
          ports: [{ port: 3000, protocol: "TCP" }],
        },
      ]);
    });

    it("never have a rule without peers where nobody is listed: it would permit everybody", async () => {
      const nobody = { authzFrom: [], controlPlaneFrom: [], metricsFrom: [] };
      const resources = await render(helm, { examples: ["everything"], values: { networkPolicy: nobody } });
      assert.deepEqual(rulesOf(resources, "gatehouse-authz"), []);
      // gateways and decision services of the release
      const controlPlane = rulesOf(resources, "gatehouse-control-plane");
      assert.deepEqual(
        controlPlane.flatMap(({ from = [], ports = [] }) => [
          ...from.map(({ podSelector }) => podSelector?.matchLabels["app.kubernetes.io/component"]),
          ...ports.map(({ port }) => port),
        ]),
        ["gateway", "authz", "api"],
      );
      const gateway = rulesOf(resources, "gatehouse-gateway");
      assert.deepEqual(
        gateway.map(({ ports }) => ports?.map(({ port }) => port)),
        [["http"]],
      );
      for (const { from } of [...controlPlane]) assert.ok(from !== undefined && from.length > 0);
    });
  });

  describe("refuses", () => {
    const refused = async (values: object, expected: RegExp, examples = ["gateway"]) => {
      await assert.rejects(render(helm, { examples, values }), (error: Error) => {
        assert.match(error.message, expected);
        return true;
      });
    };
    it("a value that it does not know", () => refused({ gatway: {} }, /gatway/));
    it("secrets in the values", async () => {
      await refused({ config: { api: { encryption_key: "x" } } }, /encryption_key/);
      await refused({ config: { database: { url: "postgres://a:b@c/d" } } }, /database.*url|url/);
      await refused({ config: { control_plane: { url: "http://x", api_key: "y" } } }, /api_key/);
    });
    it("what the chart decides", () =>
      refused({ config: { gateway: { listen_address: "127.0.0.1" } } }, /listen_address/));
    it("a gateway without an application, image or policies", async () => {
      await refused({ gateway: { backend: "" } }, /backend/);
      await refused({ image: { gateway: "" } }, /image/);
      await refused({ policies: { files: null } }, /policies: set `files`/);
    });
    it("a control plane without PostgreSQL, or without an encryption key", async () => {
      await refused({ secrets: { databaseUrl: { name: "" } } }, /databaseUrl/, ["everything"]);
      await refused({ secrets: { encryptionKey: { name: "" } } }, /encryptionKey/, ["everything"]);
    });
    it("a gateway of a control plane without a key", async () => {
      await refused({ secrets: { gatewayKey: { name: "" } } }, /gatewayKey/, ["everything"]);
      await refused({ config: { control_plane: { url: "https://x" } } }, /gatewayKey/);
    });
    it("an application's NetworkPolicy that selects every pod", () =>
      refused(
        { networkPolicy: { applications: [{ name: "all", podSelector: {}, ports: [80] }] } },
        /podSelector/,
      ));
  });

  it("keeps variables of Services away from the configuration", async () => {
    for (const pod of podsOf(await render(helm, { examples: ["everything"] })).values())
      assert.equal(pod.enableServiceLinks, false);
    // this is what they would be
    await assert.rejects(
      readGatewayConfig("gateway: { backend: 'http://127.0.0.1:1' }\n", {
        GATEHOUSE_GATEWAY_PORT: "tcp://10.0.0.1:80",
      }),
      /`GATEHOUSE_GATEWAY_PORT` is not a key/,
    );
  });
});

import assert from "node:assert/strict";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  askEnvoy,
  controlPlaneClock,
  needsOfSet,
  reachableApplications,
} from "../../src/cli/doctor-facts.ts";
import { diagnose, readConfigDump, type Facts } from "../../src/doctor/index.ts";
import { envoyBootstrap, startEnvoy } from "../../src/gateway/index.ts";
import { compileText } from "../decision/support.ts";
import { envoyBinary } from "../support/envoy.ts";
import { eventually } from "../support/eventually.ts";
import type { Overrides } from "../gateway/support/gateway.ts";
import { bootstrapOf, configOf, factsOf, managerOf, type Loose } from "./support.ts";

const NOTHING: Facts = {
  ...{
    envoy: undefined,
    envoyVersion: undefined,
    testedVersion: "1.40.0",
    config: undefined,
    needs: undefined,
  },
  ...{ lua: new Map(), reachable: [], clocks: [], gaps: [] },
};
const codes = (facts: Partial<Facts>) => diagnose({ ...NOTHING, ...facts }).map(({ code }) => code);

describe("doctor: around Envoy", () => {
  const settings: readonly (readonly [string, Overrides, string])[] = [
    ["AUDIT_OFF", { "audit.enabled": false }, "`audit.enabled: false`"],
    ["TRUSTS_EVERYBODY", { "gateway.trusted_proxies": ["::/0"] }, "::/0"],
    ["SERVICE_OPEN", { "authz.listen": "0.0.0.0:9191" }, "0.0.0.0:9191"],
  ];
  for (const [code, overrides, detail] of settings)
    it(`finds ${code} in gateway.yaml`, () => {
      assert.deepEqual(codes({ config: configOf() }), []);
      const found = diagnose({ ...NOTHING, config: configOf(overrides) });
      assert.deepEqual(
        found.map((finding) => [finding.code, finding.where, finding.detail.includes(detail)]),
        [[code, "gateway.yaml", true]],
      );
    });

  it("compares versions but for the patch release, and clocks with half a minute of leeway", () => {
    assert.deepEqual(codes({ envoyVersion: "1.40.7" }), []);
    assert.deepEqual(codes({ envoyVersion: "1.4.0" }), ["ENVOY_VERSION"]);
    assert.deepEqual(codes({ clocks: [{ of: "envoy", aheadSeconds: -30 }] }), []);
    assert.deepEqual(codes({ clocks: [{ of: "envoy", aheadSeconds: -31 }] }), ["CLOCKS_APART"]);
  });

  it("asks a server for its clock", async () => {
    let aheadMs = 0;
    const server = createServer((_request, response) => {
      response.setHeader("date", new Date(Date.now() + aheadMs).toUTCString());
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    for (const ahead of [0, 120, -120]) {
      aheadMs = ahead * 1000;
      const [clock] = await controlPlaneClock(url);
      assert.ok(clock !== undefined && Math.abs(clock.aheadSeconds - ahead) <= 2, JSON.stringify(clock));
    }
    server.close();
  });

  it("finds an application that answers at another address of the machine than loopback", async function () {
    const [outside] = Object.values(networkInterfaces()).flatMap((all = []) =>
      all.filter(({ internal, family }) => !internal && family === "IPv4"),
    );
    if (outside === undefined) this.skip();
    for (const [listens, expected] of [
      ["0.0.0.0", [outside.address]],
      ["127.0.0.1", []],
    ] as const) {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, listens, resolve));
      const { port } = server.address() as AddressInfo;
      const config = configOf({ "gateway.backend": `http://127.0.0.1:${port}` });
      const { envoy } = await factsOf(bootstrapOf(config), config);
      const reachable = await reachableApplications(envoy!, "here");
      assert.deepEqual([...new Set(reachable.map(({ address }) => address.host))], expected);
      assert.ok(codes({ reachable }).every((code) => code === "APPLICATION_REACHABLE"));
      // the same from where clients are: loopback is Envoy's own
      assert.deepEqual(await reachableApplications(envoy!, "client"), []);
      server.close();
    }
  });

  it("knows what a policy set needs from Envoy", () => {
    const needs = (text: string) => needsOfSet(compileText(text));
    const rule = (condition: string) => `policies:\n  - { resource: "POST /x", condition: '${condition}' }\n`;
    assert.deepEqual(needs(rule('user.role == "a"')), { body: false, plans: false });
    assert.deepEqual(needs(rule('request.body.kind == "a"')), { body: true, plans: false });
    assert.deepEqual(
      needs(
        `${rule("true")}response_masks:\n  - { api_pattern: "GET /x", fields: [{ name: $.ssn, mask_type: full, condition: "true" }] }\n`,
      ),
      { body: false, plans: true },
    );
  });

  it("takes a filter that is off for no hole if it denies then, and only then", async () => {
    for (const [denies, expected] of [
      [true, []],
      [false, ["EXT_AUTHZ_OFF_ON_ROUTE"]],
    ] as const) {
      const config = configOf();
      const bootstrap = bootstrapOf(config);
      const name = "envoy.filters.http.ext_authz";
      for (const filter of managerOf(bootstrap).http_filters)
        if (filter.name === name || filter.name === "gatehouse.ext_authz.body")
          filter.typed_config.deny_at_disable = { runtime_key: "x", default_value: denies };
      const off = {
        "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig",
        disabled: true,
        config: {},
      };
      managerOf(bootstrap).route_config.virtual_hosts[0].routes.unshift({
        ...{ match: { prefix: "/" }, route: { cluster: "backend" } },
        typed_per_filter_config: { [name]: off, "gatehouse.ext_authz.body": off },
      });
      assert.deepEqual(codes(await factsOf(bootstrap, config)), expected);
    }
  });

  it("refuses what is not a config_dump", () => {
    for (const dump of [null, [], {}, { configs: [] }, { configs: [{ "@type": "x" }] }, "text"])
      assert.throws(() => readConfigDump(dump), /not a config_dump/);
  });

  it("says what a dump lacks, rather than that it is good", () => {
    const type = "type.googleapis.com/envoy.admin.v3.";
    const empty = readConfigDump({ configs: [{ "@type": `${type}BootstrapConfigDump` }] });
    assert.deepEqual(codes({ envoy: empty }), ["NOT_CHECKED"]);
    const manager = {
      "@type":
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      rds: { route_config_name: "elsewhere" },
      http_filters: [{ name: "discovered", config_discovery: {} }],
    };
    const listener = { name: "a", filter_chains: [{ filters: [{ typed_config: manager }] }] };
    const envoy = readConfigDump({
      configs: [{ "@type": `${type}ListenersConfigDump`, static_listeners: [{ listener }] }],
    });
    const found = diagnose({ ...NOTHING, envoy });
    assert.ok(found.some(({ detail }) => detail === "its routes are not in the dump"));
    assert.ok(found.some(({ detail }) => detail.includes("the filter discovered is not in the dump")));
    assert.ok(
      found.some(({ code }) => code === "EXT_AUTHZ_MISSING"),
      "unknown is not good",
    );
  });
});

describe("doctor: an Envoy whose control plane sends the resources", () => {
  const types = "type.googleapis.com/envoy.config.";
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** Envoy looks at a file when another takes its place. */
  async function send(name: string, version: string, resources: readonly Loose[]): Promise<void> {
    await writeFile(join(folder, `${name}.new`), JSON.stringify({ version_info: version, resources }));
    await rename(join(folder, `${name}.new`), join(folder, `${name}.json`));
  }

  it("finds the same holes, and updates that were refused", async () => {
    const config = configOf();
    const bootstrap = bootstrapOf(config);
    const [listener] = bootstrap.static_resources.listeners as Loose[];
    const manager = managerOf(bootstrap);
    const from = (name: string) => ({
      path_config_source: { path: join(folder, `${name}.json`) },
      resource_api_version: "V3",
    });
    const routes = manager.route_config;
    delete manager.route_config;
    manager.rds = { route_config_name: routes.name, config_source: from("rds") };
    // an extension that is sent apart, as Istio and Envoy Gateway do
    const authz = manager.http_filters.find(({ name }: Loose) => name === "envoy.filters.http.ext_authz");
    const { typed_config: settings } = authz;
    delete authz.typed_config;
    authz.config_discovery = { config_source: from("ecds"), type_urls: [settings["@type"]] };
    settings.failure_mode_allow = true;
    routes.virtual_hosts[0].routes.at(-1).typed_per_filter_config["envoy.filters.http.ext_authz"] = {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute",
      disabled: true,
    };
    delete routes.virtual_hosts[0].routes.at(-1).typed_per_filter_config["gatehouse.ext_authz.body"];
    const listenerResource = { "@type": `${types}listener.v3.Listener`, ...listener };
    await send("lds", "1", [listenerResource]);
    await send("rds", "1", [{ "@type": `${types}route.v3.RouteConfiguration`, ...routes }]);
    await send("ecds", "1", [
      { "@type": `${types}core.v3.TypedExtensionConfig`, name: authz.name, typed_config: settings },
    ]);
    await send(
      "cds",
      "1",
      bootstrap.static_resources.clusters.map((cluster: Loose) => ({
        "@type": `${types}cluster.v3.Cluster`,
        ...cluster,
      })),
    );
    const dynamic = { ...bootstrap, dynamic_resources: { lds_config: from("lds"), cds_config: from("cds") } };
    delete dynamic.static_resources;
    const silent = () => undefined;
    const envoy = await startEnvoy({
      ...{
        bootstrap: dynamic,
        binary: await envoyBinary(),
        runtimeDirectory: join(folder, "run"),
        concurrency: 1,
      },
      log: { info: silent, warn: silent, error: silent },
    });
    try {
      const ask = () => askEnvoy(envoy.admin);
      const { view } = await eventually("the listener", async () => {
        const answers = await ask();
        return answers.view.chains.length > 0 && answers;
      });
      const found = codes({ envoy: view, config, needs: { body: true, plans: true } });
      assert.deepEqual([...new Set(found)], ["EXT_AUTHZ_OFF_ON_ROUTE", "FAILURE_MODE_ALLOW"]);
      await send("lds", "2", [
        { ...listenerResource, filter_chains: [{ filters: [{ name: "no.such.filter" }] }] },
      ]);
      const { view: after } = await eventually("the refusal", async () => {
        const answers = await ask();
        return answers.view.refused.length > 0 && answers;
      });
      assert.ok(codes({ envoy: after }).includes("UPDATE_REFUSED"));
      assert.equal(after.chains.length, 1, "it goes on with the listener before");
    } finally {
      await envoy.stop(0);
    }
  });

  it("leaves out what a sidecar's own application asks of others", async () => {
    const config = configOf();
    const bootstrap = envoyBootstrap(config, {
      authzEndpoints: [{ address: "127.0.0.1", port: 9 }],
    }) as Loose;
    const [own] = bootstrap.static_resources.listeners;
    const outbound: Loose = structuredClone(own);
    outbound.name = "virtualOutbound";
    outbound.traffic_direction = "OUTBOUND";
    managerOf({ static_resources: { listeners: [outbound] } }).http_filters.splice(0, 16);
    bootstrap.static_resources.listeners.push(outbound);
    assert.deepEqual(diagnose(await factsOf(bootstrap, config)), []);
  });
});

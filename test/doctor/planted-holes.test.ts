import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diagnose, PROBLEMS, type Facts, type Finding, type ProblemCode } from "../../src/doctor/index.ts";
import type { Overrides } from "../gateway/support/gateway.ts";
import { luaOfRelease } from "../../src/cli/doctor-facts.ts";
import { IDENTIFY_FILTER, LUA_FILTERS } from "../../src/gateway/index.ts";
import { selfSigned } from "../gateway/support/certificate.ts";
import { freePort } from "../support/free-port.ts";
import { bootstrapOf, configOf, factsOf, type Loose } from "./support.ts";
import { COVERAGE_HOLES } from "./holes/coverage.ts";
import { CHECK_SETTINGS_HOLES } from "./holes/check-settings.ts";
import { PLANS_HOLES } from "./holes/plans.ts";
import { CLIENT_HOLES } from "./holes/client.ts";
import { TRANSPORT_HOLES } from "./holes/transport.ts";
import {
  BODY_CHECK,
  both,
  otherService,
  EXT_AUTHZ,
  http3Listener,
  inScopes,
  PER_ROUTE,
  type Hole,
  type NamedHole,
  type World,
} from "./holes/support.ts";

const HOLES: readonly NamedHole[] = [
  ...COVERAGE_HOLES,
  ...CHECK_SETTINGS_HOLES,
  ...PLANS_HOLES,
  ...CLIENT_HOLES,
  ...TRANSPORT_HOLES,
];

describe("doctor: holes in a running Envoy", () => {
  let folder: string;
  let world: World;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "gatehouse-"));
    world = { folder, adminPort: await freePort() };
    const { certificate, privateKey } = selfSigned("gateway.test");
    writeFileSync(join(folder, "certificate.pem"), certificate);
    writeFileSync(join(folder, "key.pem"), privateKey);
    // short ones: Envoy compiles each for each of fifty listeners
    for (const filter of [...LUA_FILTERS, IDENTIFY_FILTER])
      writeFileSync(join(folder, `${filter}.lua`), `function envoy_on_request() end -- ${filter}\n`);
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const tls = () => ({
    "gateway.security.tls_certificate": join(folder, "certificate.pem"),
    "gateway.security.tls_private_key": join(folder, "key.pem"),
  });

  const OWN: readonly (readonly [string, () => Overrides])[] = [
    ["as it is by default", () => ({})],
    ["with TLS on every address", () => ({ ...tls(), "gateway.listen_address": "0.0.0.0" })],
    [
      "with trusted proxies, routes of their own and limits",
      () => ({
        "gateway.trusted_proxies": ["10.0.0.0/8"],
        "gateway.backends": ["http://127.0.0.1:10"],
        "gateway.routes": [{ path: "/uploads/**", request_timeout: "10m" }],
        "gateway.security.rate_limiting.requests_per_second": 100,
        "gateway.security.rate_limiting.anonymous_requests_per_second": 10,
      }),
    ],
    ["with tokens in connection_init", () => ({ "identity.connection_params": ["authorization"] })],
    [
      "with the PROXY protocol",
      () => ({ "gateway.trusted_proxies": ["127.0.0.1"], "gateway.proxy_protocol": "tcp" }),
    ],
  ];
  for (const [name, overrides] of OWN)
    it(`finds none in ours, ${name}`, async () => {
      const config = configOf(overrides());
      assert.deepEqual(diagnose(await factsOf(bootstrapOf(config), config)), []);
    });

  /** All holes in listeners are planted in one Envoy, each in listeners of its own: an Envoy for each would take a minute. */
  describe("planted in one of its listeners", () => {
    const together = HOLES.filter(([, , { alone }]) => alone !== true);
    const name = (index: number, listener: Loose) => `hole ${index} ${listener.name as string}`;
    let facts: Facts;
    before(async () => {
      const planted = together.map(([, , hole]) => bootstrapWith(hole));
      const { config, bootstrap } = planted[0]!;
      bootstrap.static_resources.listeners = planted.flatMap((one, index) =>
        one.bootstrap.static_resources.listeners.map((listener: Loose) => ({
          ...listener,
          name: name(index, listener),
        })),
      );
      facts = await factsOf(bootstrap, config, { lua: luaOfRelease(folder) });
    });

    for (const [index, [code, what, { found = [code] }]] of together.entries())
      it(`finds ${code}: ${what}`, () => {
        const { chains, tcp, ...envoy } = facts.envoy!;
        const ofHole = ({ where }: { readonly where: string }) => where.startsWith(`listener hole ${index} `);
        const view = { ...envoy, chains: chains.filter(ofHole), tcp: tcp.filter(ofHole) };
        assertFound(diagnose({ ...facts, envoy: view }), found);
      });
  });

  for (const [code, name, hole] of HOLES.filter(([, , { alone }]) => alone === true))
    it(`finds ${code}: ${name}`, async () => {
      const { config, bootstrap } = bootstrapWith(hole);
      const { found = [code] } = hole;
      assertFound(diagnose(await factsOf(bootstrap, config, { lua: luaOfRelease(folder) })), found);
    });

  function bootstrapWith({ plant, overrides }: Hole) {
    const config = configOf(overrides === undefined ? {} : { ...tls(), ...overrides });
    const bootstrap = bootstrapOf(config, folder);
    plant(bootstrap, world);
    return { config, bootstrap };
  }

  function assertFound(findings: readonly Finding[], codes: readonly ProblemCode[]): void {
    const found = [...new Set(findings.map(({ code }) => code))];
    assert.deepEqual(found, codes, JSON.stringify(findings, null, 1));
    for (const { where, detail } of findings) assert.ok(where !== "" && detail !== "");
  }

  it("finds none over HTTP/3 without early data, nor where routes are in scopes", async () => {
    const { config, bootstrap } = bootstrapWith({ plant: () => undefined });
    bootstrap.static_resources.listeners.push(http3Listener(bootstrap, world, false));
    inScopes(bootstrap);
    const facts = await factsOf(bootstrap, config, { lua: luaOfRelease(folder) });
    assertFound(diagnose(facts), []);
    assert.deepEqual(
      facts.envoy?.chains.map(({ where }) => where.split(" / ").at(-1)),
      ["scope first", "scope second", "filter chain 0"],
    );
  });

  describe("where Envoy asks another service as well", () => {
    let facts: Facts;
    before(async () => {
      const { config, bootstrap } = bootstrapWith({
        plant: (b) => {
          b.static_resources.clusters.push(otherService(b));
          for (const check of both(b)) check.grpc_service.envoy_grpc.cluster_name = "opa";
          const ours = structuredClone(b.static_resources.listeners[0]);
          ours.name = "ours";
          const [manager] = ours.filter_chains[0].filters;
          for (const { name, typed_config: check } of manager.typed_config.http_filters)
            if ([EXT_AUTHZ, BODY_CHECK].includes(name as string))
              check.grpc_service.envoy_grpc.cluster_name = "ext_authz";
          const route = manager.typed_config.route_config.virtual_hosts[0].routes.at(-1);
          for (const name of [EXT_AUTHZ, BODY_CHECK])
            route.typed_per_filter_config[name] = {
              "@type": PER_ROUTE,
              check_settings: { grpc_service: { envoy_grpc: { cluster_name: "opa" } } },
            };
          b.static_resources.listeners.push(ours);
        },
      });
      facts = await factsOf(bootstrap, config, { lua: luaOfRelease(folder) });
    });

    it("says that it cannot tell which one is Gatehouse", () => {
      assertFound(diagnose(facts), ["EXT_AUTHZ_ASKS_OTHERS"]);
    });

    it("counts only what asks the one that was named", () => {
      const findings = diagnose({ ...facts, authzCluster: "ext_authz" });
      const found = findings.map(({ code, where }) => `${code} ${where.split(" / ")[0] ?? ""}`);
      assert.ok(found.includes("EXT_AUTHZ_OFF_ON_ROUTE listener ours"), found.join("\n"));
      assert.ok(
        found.some((one) => one.startsWith("EXT_AUTHZ_MISSING ") && !one.endsWith("listener ours")),
        found.join("\n"),
      );
      assert.ok(!found.some((one) => one.startsWith("EXT_AUTHZ_ASKS_OTHERS")));
    });
  });

  it("has a test for each problem that a configuration of Envoy can have", () => {
    const elsewhere: ProblemCode[] = [
      ...([
        "APPLICATION_REACHABLE",
        "UPDATE_REFUSED",
        "ENVOY_VERSION",
        "CLOCKS_APART",
        "NOT_CHECKED",
      ] as const),
      ...(["AUDIT_OFF", "TRUSTS_EVERYBODY", "SERVICE_OPEN"] as const),
    ];
    const tested = new Set([...HOLES.map(([code]) => code), ...elsewhere]);
    assert.deepEqual(
      Object.keys(PROBLEMS).filter((code) => !tested.has(code as ProblemCode)),
      [],
    );
    assert.ok(HOLES.length >= 25);
  });
});

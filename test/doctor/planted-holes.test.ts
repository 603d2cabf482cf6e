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
import type { Hole, NamedHole, World } from "./holes/support.ts";

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
      assertFound(diagnose(await factsOf(bootstrap, config, { lua: luaOfRelease(folder) })), [code]);
    });

  function bootstrapWith({ plant, overrides }: Hole) {
    const config = configOf(overrides === undefined ? {} : tls());
    const bootstrap = bootstrapOf(config, folder);
    plant(bootstrap, world);
    return { config, bootstrap };
  }

  function assertFound(findings: readonly Finding[], codes: readonly ProblemCode[]): void {
    const found = [...new Set(findings.map(({ code }) => code))];
    assert.deepEqual(found, codes, JSON.stringify(findings, null, 1));
    for (const { where, detail } of findings) assert.ok(where !== "" && detail !== "");
  }

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

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { loadGatewayConfig, type GatewayConfig, type LoadOptions } from "../../src/config/index.ts";

const MINIMAL = "identity: { issuer: https://login.test, audience: app }\n";

describe("configuration", () => {
  let folder: string;
  let file: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "gatehouse-"));
    file = join(folder, "gateway.yaml");
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function load(text: string, options: LoadOptions = {}) {
    writeFileSync(file, text);
    return loadGatewayConfig({ file, env: {}, ...options });
  }
  function good(text: string, options: LoadOptions = {}): GatewayConfig {
    const result = load(text, options);
    assert.ok(result.ok, result.ok ? "" : result.errors);
    return result.config;
  }
  /** `line:column code message` of each finding. */
  function bad(text: string, options: LoadOptions = {}): readonly string[] {
    const result = load(text, options);
    assert.ok(!result.ok, "no error was found");
    return result.findings.map(
      ({ diagnostic: { line, column, code, message } }) => `${line}:${column} ${code} ${message}`,
    );
  }

  it("needs only the identity provider, and fills in the rest", () => {
    const config = good(MINIMAL);
    assert.deepEqual([config.gateway.listen_address, config.gateway.listen_port], ["127.0.0.1", 8000]);
    assert.equal(config.gateway.upstream_timeout, 30_000);
    assert.equal(config.gateway.security.request_size_limit, 10_000_000);
    assert.equal(config.gateway.performance.policy_cache_ttl, 300_000);
    assert.equal(config.identity.headers["x-user-id"], "user.id");
    assert.deepEqual(config.identity.audience, ["app"]);
    assert.equal(config.policies.directory, join(folder, "policies"));
    assert.equal(config.telemetry.tracing.endpoint, undefined);
  });

  it("knows every key of the specification, 2.10", () => {
    const config = good(`
gateway:
  listen_port: 8443
  upstream_timeout: 30s
  cluster: { nodes: 3, coordination: local, health_check_interval: 10s }
  performance: { policy_cache_ttl: 5m, connection_pool_size: 100, request_timeout: 60s }
  security:
    tls_min_version: 1.3
    hsts_header: true
    request_size_limit: 10MiB
    rate_limiting: { requests_per_second: 1000, burst_size: 2000 }
identity: { provider: oidc, issuer: https://login.test, audience: app }
policies: { policy_set: production, refresh_interval: 30s, cache_size: 10000 }
audit: { enabled: true, destination: stdout, level: info }
`);
    assert.equal(config.gateway.cluster.nodes, 3);
    assert.equal(config.gateway.security.tls_min_version, "1.3");
    assert.equal(config.gateway.security.request_size_limit, 10 * 2 ** 20);
    assert.equal(config.gateway.security.rate_limiting.burst_size, 2000);
    assert.equal(config.policies.refresh_interval, 30_000);
  });

  it("cannot be changed", () => {
    const config = good(MINIMAL);
    assert.throws(() => Object.assign(config.gateway.security, { hsts_header: true }), TypeError);
    assert.throws(() => (config.identity.audience as string[]).push("other"), TypeError);
  });

  it("counts paths from the file's folder", () => {
    const config = good(`
gateway: { backend_ca: ca.pem, security: { tls_certificate: c.pem, tls_private_key: /abs/k.pem } }
identity: { issuer: https://login.test, audience: app, jwks: keys.json }
policies: { directory: ../p }
attribute_sources: { users: { type: file, path: users.json } }
audit: { destination: file, path: logs/audit.log }
authz: { listen: "unix:run/a.sock", tls: { certificate: a, private_key: b, client_ca: c }, state_directory: state }
`);
    assert.equal(config.gateway.backend_ca, join(folder, "ca.pem"));
    assert.equal(config.gateway.security.tls_certificate, join(folder, "c.pem"));
    assert.equal(config.gateway.security.tls_private_key, "/abs/k.pem");
    assert.equal(config.identity.jwks, join(folder, "keys.json"));
    assert.equal(config.policies.directory, join(folder, "..", "p"));
    assert.deepEqual(config.attribute_sources["users"], { type: "file", path: join(folder, "users.json") });
    assert.equal(config.audit.path, join(folder, "logs/audit.log"));
    assert.equal(config.authz.listen, `unix:${join(folder, "run/a.sock")}`);
    const { tls, state_directory: state } = config.authz;
    assert.deepEqual([tls.client_ca, state], [join(folder, "c"), join(folder, "state")]);
    const url = good("identity: { issuer: https://l.test, audience: [a, b], jwks: https://l.test/keys }\n");
    assert.equal(url.identity.jwks, "https://l.test/keys");
    assert.deepEqual(url.identity.audience, ["a", "b"]);
  });

  it("treats a section without keys as one with defaults", () => {
    assert.equal(good(`${MINIMAL}gateway:\n  # listen_port: 1\naudit:\n`).audit.enabled, true);
  });

  describe("from the environment", () => {
    it("wins over the file, and overrides win over it", () => {
      const env = {
        GATEHOUSE_GATEWAY_LISTEN_PORT: "9000",
        GATEHOUSE_GATEWAY_TRUSTED_PROXIES: "10.0.0.0/8, ::1",
        GATEHOUSE_GATEWAY_SECURITY_TLS_MIN_VERSION: "1.3",
        GATEHOUSE_GATEWAY_SECURITY_REQUEST_SIZE_LIMIT: "5000",
        GATEHOUSE_AUDIT_ENABLED: "false",
        GATEHOUSE_TELEMETRY_TRACING_SAMPLE_RATIO: "0.5",
        GATEHOUSE_IDENTITY_HEADERS: '{"x-me":"user.id"}',
        GATEHOUSE_IDENTITY_AUDIENCE: "a,b",
        GATEHOUSE_POLICIES_POLICY_SET: "",
        GATEHOUSE_UPDATE: "1",
        GATEHOUSE_SOMETHING_ELSE: "1",
        PATH: "/bin",
      };
      const text = `${MINIMAL}gateway: { listen_port: 1, upstream_timeout: 1s }\n`;
      const config = good(text, {
        env,
        overrides: { "gateway.upstream_timeout": "2s", "audit.level": undefined },
      });
      assert.equal(config.gateway.listen_port, 9000);
      assert.equal(config.gateway.upstream_timeout, 2000);
      assert.deepEqual(config.gateway.trusted_proxies, ["10.0.0.0/8", "::1"]);
      assert.equal(config.gateway.security.tls_min_version, "1.3");
      assert.equal(config.gateway.security.request_size_limit, 5000);
      assert.equal(config.audit.enabled, false);
      assert.equal(config.telemetry.tracing.sample_ratio, 0.5);
      assert.deepEqual(config.identity.headers, { "x-me": "user.id" });
      assert.deepEqual(config.identity.audience, ["a", "b"]);
      assert.equal(config.policies.policy_set, "default");
      assert.equal(config.audit.level, "info");
    });

    it("is enough without a file", () => {
      const env = { GATEHOUSE_IDENTITY_ISSUER: "https://login.test", GATEHOUSE_IDENTITY_AUDIENCE: "app" };
      const result = loadGatewayConfig({ env });
      assert.ok(result.ok);
      assert.equal(result.config.policies.directory, join(process.cwd(), "policies"));
    });

    it("is refused where it is wrong, with the variable's name", () => {
      const result = load(MINIMAL, {
        env: {
          GATEHOUSE_GATEWAY_LISTEN_PROT: "1",
          GATEHOUSE_AUDIT: "x",
          GATEHOUSE_GATEWAY_LISTEN_PORT: "80a",
          GATEHOUSE_AUDIT_ENABLED: "yes",
          GATEHOUSE_IDENTITY_CLAIMS: "{",
          GATEHOUSE_GATEWAY_BACKENDS: "http://a.test,nonsense",
        },
      });
      assert.ok(!result.ok);
      const lines = result.errors.split("\n");
      assert.ok(lines.includes("environment: `GATEHOUSE_GATEWAY_LISTEN_PROT` is not a key"), result.errors);
      assert.ok(lines.includes("   did you mean `GATEHOUSE_GATEWAY_LISTEN_PORT`?"));
      assert.ok(lines.includes("environment: `GATEHOUSE_AUDIT` is not a key"));
      assert.match(result.errors, /environment GATEHOUSE_GATEWAY_LISTEN_PORT: .*0 to 65535, not `80a`/);
      assert.match(result.errors, /environment GATEHOUSE_AUDIT_ENABLED: .*not `yes`/);
      assert.match(result.errors, /environment GATEHOUSE_IDENTITY_CLAIMS: .*not `\{`/);
      assert.match(
        result.errors,
        /environment GATEHOUSE_GATEWAY_BACKENDS: `gateway.backends.1` .*not `nonsense`/,
      );
    });

    it("does not take overrides for keys that are not there", () => {
      assert.throws(() => load(MINIMAL, { overrides: { "gateway.nonsense": 1 } }), /not a configuration key/);
    });
  });

  describe("that is wrong", () => {
    it("is reported all at once, with line, column, source and caret", () => {
      const result = load(`gateway:
  listen_prot: 1
  upstream_timeout: 30
\taudit: {}
`);
      assert.ok(!result.ok);
      const all = load(`gateway:
  listen_prot: 1
  upstream_timeout: 30
audit: { cache_size: 1 }
`);
      assert.ok(!all.ok);
      assert.equal(
        all.errors.replaceAll(file, "gateway.yaml"),
        [
          "gateway.yaml:2:3: `gateway.listen_prot` is not a key",
          " 2 |   listen_prot: 1",
          "   |   ^^^^^^^^^^^",
          "   did you mean `listen_port`?",
          "gateway.yaml:3:21: `gateway.upstream_timeout` must be a duration such as `250ms`, `30s`, `5m` or `1h`, not `30`",
          " 3 |   upstream_timeout: 30",
          "   |                     ^^",
          "gateway.yaml:4:10: `audit.cache_size` is not a key",
          " 4 | audit: { cache_size: 1 }",
          "   |          ^^^^^^^^^^",
          "   did you mean `policies.cache_size`?",
        ].join("\n"),
      );
    });

    const values: readonly (readonly [string, string])[] = [
      ["gateway: { listen_port: 65536 }", "0 to 65535, not `65536`"],
      ["gateway: { listen_port: 1.5 }", "0 to 65535, not `1.5`"],
      ['gateway: { listen_port: "80" }', '0 to 65535, not `"80"`'],
      ["gateway: { listen_port: }", "0 to 65535, not `null`"],
      ["gateway: { listen_address: localhost }", "must be an IP address"],
      ["gateway: { upstream_timeout: 1m30s }", "must be a duration"],
      ["gateway: { upstream_timeout: 1ms }", "must be from `10ms` to `24h`"],
      ["gateway: { upstream_timeout: 48h }", "must be from `10ms` to `24h`"],
      ["gateway: { backend: ftp://a }", "must be a URL of scheme, host and port"],
      ["gateway: { backend: http://a/path }", "must be a URL of scheme, host and port"],
      ["gateway: { backend: http://user@a }", "must be a URL of scheme, host and port"],
      ['gateway: { backend: "http://a#b" }', "must be a URL of scheme, host and port"],
      ["gateway: { backends: http://a }", "must be a list"],
      ["gateway: { trusted_proxies: [10.0.0.0/33] }", "must be an IP address or a network"],
      ["gateway: { accept_ambiguous: [encoded_slas] }", "must be one of"],
      ["api: { publish_policies: true }", "must be a list of environments such as `[sandbox]`, not `true`"],
      ["api: { publish_policies: [staging] }", "must be one of `production`, `sandbox`"],
      ["gateway: { envoy_admin: 9901 }", "must be text"],
      ['gateway: { envoy_admin: "127.0.0.1" }', "must be `off` or an address"],
      ["gateway: { cluster: { nodes: 0 } }", "1 to 64"],
      ["gateway: { security: { tls_min_version: 1.1 } }", 'must be `"1.2"` or `"1.3"`, not `1.1`'],
      ["gateway: { security: { hsts_header: yes } }", "must be `true` or `false`, not `yes`"],
      ["gateway: { security: { request_size_limit: 10 MB } }", "must be a size"],
      ["gateway: { security: { request_size_limit: 0 } }", "must be from 1 to 4000000000 bytes"],
      ["gateway: { security: { request_size_limit: 1.5MB } }", "must be a size"],
      ["gateway: [1]", "must be a section with keys"],
      ["policies: { policy_set: ../x }", "must be the name of a policy set"],
      ["attribute_sources: { users: { type: sql, path: x } }", "must be a map with `type`"],
      ["attribute_sources: { users: { type: file } }", "is missing"],
      ["attribute_sources: { a-b: { type: file, path: x } }", "must be a name of letters"],
      ["authz: { listen: somewhere }", "must be an address and port"],
      ["authz: { listen: 1.2.3.4:70000 }", "must be an address and port"],
      ["policies: { source: control_plane }", "needs `control_plane.url`"],
      ["audit: { destination: control_plane }", "needs `control_plane.url`"],
      ["attribute_sources: { users: { type: control_plane } }", "needs `control_plane.url`"],
      ["control_plane: { url: http://a }", "needs exactly one of `api_key`"],
      ["control_plane: { url: http://a, api_key: a, api_key_file: b }", "needs exactly one of `api_key`"],
      ["api: { encryption_key: c2hvcnQ= }", "must be 32 bytes in base64"],
      ["api: { previous_encryption_keys: [c2hvcnQ=] }", "must be 32 bytes in base64"],
      ["api: { environments: [] }", "must not be empty"],
      ["database: { url: mysql://a }", "must be a `postgres://` URL"],
      ["telemetry: { tracing: { sample_ratio: 2 } }", "must be a number from 0 to 1"],
    ];
    for (const [text, expected] of values) {
      it(`is refused: ${text}`, () => {
        const findings = bad(`${MINIMAL}${text}\n`);
        assert.equal(findings.length, 1, findings.join("\n"));
        assert.ok(findings[0]!.startsWith("2:") && findings[0]!.includes(expected), findings[0]);
      });
    }

    const identities: readonly (readonly [string, string])[] = [
      ["issuer: nope", "an http or https URL"],
      ["audience: []", "must not be empty"],
      ["algorithms: [HS256]", "must be one of"],
      ["algorithms: [none]", "must be one of"],
      ["algorithms: []", "must not be empty"],
      ["clock_tolerance: 6m", "must be from `0s` to `5m`"],
      ["headers: { X-User: user.id }", "header name in lower case"],
      ["headers: { x_user: user.id }", "header name in lower case"],
      ["headers: { host: user.id }", "must not set"],
      ["headers: { x-user: user id }", "must be an attribute path"],
      ["cookie: a b", "must be a cookie name"],
      ["token_types: []", "must not be empty"],
    ];
    for (const [line, expected] of identities) {
      it(`is refused: identity.${line}`, () => {
        const base = { issuer: "https://l.test", audience: "a" };
        const rest = Object.entries(base).filter(([name]) => !line.startsWith(name));
        const findings = bad(
          ["identity:", ...rest.map(([name, value]) => `  ${name}: ${value}`), `  ${line}`].join("\n"),
        );
        assert.equal(findings.length, 1, findings.join("\n"));
        assert.ok(findings[0]!.includes(expected), findings[0]);
      });
    }

    const contradictions: readonly (readonly [string, string])[] = [
      ["gateway: { security: { tls_certificate: c } }", "needs `gateway.security.tls_private_key`"],
      ["gateway: { security: { tls_private_key: c } }", "needs `gateway.security.tls_certificate`"],
      ["gateway: { security: { rate_limiting: { burst_size: 1 } } }", "has no effect without"],
      ["gateway: { backends: [http://a] }", "nobody can choose a backend"],
      ["authz: { tls: { certificate: c } }", "needs both"],
      ["authz: { tls: { client_ca: c } }", "needs `authz.tls.certificate`"],
    ];
    for (const [text, expected] of contradictions) {
      it(`contradicts itself: ${text}`, () => {
        const findings = bad(`${MINIMAL}${text}\n`);
        assert.equal(findings.length, 1);
        assert.match(findings[0]!, /^2:\d+ contradiction /);
        assert.ok(findings[0]!.includes(expected), findings[0]);
      });
    }

    const yaml: readonly (readonly [string, string])[] = [
      ["gateway: [1", "yaml-syntax"],
      ["gateway: {}\ngateway: {}\n", "duplicate-key"],
      ["gateway: &a {}\naudit: *a\n", "unsupported-yaml"],
      ["gateway: !!map {}\n", "unsupported-yaml"],
      ["? [a]\n: 1\n", "unsupported-yaml"],
      ["--- {}\n--- {}\n", "unsupported-yaml"],
      ["just text\n", "invalid-value"],
      ["<<: {}\n", "unknown-key"],
      ["__proto__: { gateway: 1 }\n", "unknown-key"],
      [`${"[".repeat(100)}\n`, "yaml-syntax"],
    ];
    for (const [text, code] of yaml) {
      it(`is no configuration: ${JSON.stringify(text.slice(0, 40))}`, () => {
        assert.ok(
          bad(text).some((finding) => finding.includes(` ${code} `)),
          bad(text).join("\n"),
        );
      });
    }

    it("cannot be read", () => {
      const missing = loadGatewayConfig({ file: join(folder, "missing.yaml"), env: {} });
      assert.ok(!missing.ok && missing.errors.includes("cannot read the file (ENOENT)"));
      const large = load(`# ${"x".repeat(1024 * 1024)}`);
      assert.ok(!large.ok && large.errors.includes("larger than 1048576 bytes"));
    });

    it("lacks what a command needs", () => {
      assert.deepEqual(bad(`${MINIMAL}gateway: {}\n`, { needs: ["gateway.backend"] }), [
        "2:1 missing-key `gateway.backend` is missing",
      ]);
      good(`${MINIMAL}gateway: { backend: http://a }\n`, { needs: ["gateway.backend"] });
    });

    it("is shown in part when there is too much of it", () => {
      const result = load(Array.from({ length: 60 }, (_, n) => `key${n}: 1`).join("\n"));
      assert.ok(!result.ok && result.errors.endsWith("and 10 more"));
    });

    it("never makes it throw, whatever the file holds", () => {
      const text = fc.oneof(
        fc.string({ unit: "binary" }),
        fc
          .array(
            fc.constantFrom(
              "gateway",
              ": ",
              "\n",
              "  ",
              "- ",
              ...String.raw`{ } [ ] & * " ' # | ? ~ !!x`.split(" "),
            ),
          )
          .map((parts) => parts.join("")),
        fc.json().map((json) => `gateway: ${json}`),
      );
      // nothing is required, so that some of these are good
      fc.assert(
        fc.property(text, (written) => {
          const result = load(written);
          return result.ok || result.errors.length > 0;
        }),
      );
    });
  });
});

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { envoyBootstrap, systemCertificateAuthorities } from "../../../src/gateway/index.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { selfSigned } from "../support/certificate.ts";
import { configWith } from "../support/gateway.ts";
import type { Overrides } from "../support/gateway.ts";

describe("gateway bootstrap", () => {
  let folder: string;
  let binary: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gatehouse-"));
    binary = await envoyBinary();
    const { certificate, privateKey } = selfSigned("gateway.test");
    await writeFile(join(folder, "certificate.pem"), certificate);
    await writeFile(join(folder, "key.pem"), privateKey);
  });
  after(() => rm(folder, { recursive: true }));

  const tls = (version: string | number) => ({
    "gateway.security.tls_min_version": version,
    "gateway.security.tls_certificate": join(folder, "certificate.pem"),
    "gateway.security.tls_private_key": join(folder, "key.pem"),
  });
  const grid: readonly (readonly [string, () => Overrides])[] = [
    ["no backend", () => ({})],
    ["a backend by address", () => ({ "gateway.backend": "http://127.0.0.1:3000" })],
    ["a backend by IPv6 address", () => ({ "gateway.backend": "http://[::1]:3000" })],
    ["a backend by name", () => ({ "gateway.backend": "http://localhost:3000" })],
    ["an https backend by name", () => ({ "gateway.backend": "https://app.test" })],
    ["an https backend by address", () => ({ "gateway.backend": "https://127.0.0.1:8443" })],
    ["an h2c backend", () => ({ "gateway.backend": "h2c://app.test:50051" })],
    [
      "several backends",
      () => ({
        "gateway.backends": ["http://a.test:1", "https://b.test", "h2c://c.test"],
        "gateway.trusted_proxies": ["10.0.0.0/8", "::1"],
      }),
    ],
    ["TLS 1.2", () => tls("1.2")],
    ["TLS 1.3", () => tls(1.3)],
    ["HSTS", () => ({ "gateway.security.hsts_header": true })],
    ["a rate limit", () => ({ "gateway.security.rate_limiting.requests_per_second": 100 })],
    [
      "a rate limit with burst",
      () => ({
        "gateway.security.rate_limiting.requests_per_second": 1,
        "gateway.security.rate_limiting.burst_size": 10_000_000,
      }),
    ],
    [
      "a rate limit for anonymous requests",
      () => ({
        "gateway.security.rate_limiting.anonymous_requests_per_second": 100,
        "identity.cookie": "session",
      }),
    ],
    [
      "a rate limit for anonymous requests, a trusted proxy and the longest cookie name",
      () => ({
        "gateway.security.rate_limiting.anonymous_requests_per_second": 100,
        "gateway.trusted_proxies": ["10.0.0.0/8"],
        "identity.cookie": "!#$%&'*+.^_`|~-a".repeat(4),
      }),
    ],
    ["an access log on stderr", () => ({ "gateway.access_log": "stderr" })],
    ["an access log in a file", () => ({ "gateway.access_log": join(folder, "access.log") })],
    ["outcomes of every request", () => ({ "audit.outcomes": true })],
    ["the least size", () => ({ "gateway.security.request_size_limit": 1 })],
    ["the greatest size", () => ({ "gateway.security.request_size_limit": "4GB" })],
    [
      "the least times",
      () => ({
        "gateway.upstream_timeout": "10ms",
        "gateway.upstream_idle_timeout": "100ms",
        "gateway.performance.request_timeout": "100ms",
        "gateway.cluster.health_check_interval": "100ms",
        "authz.decision_timeout": "2ms",
        "authz.queue_timeout": "0s",
      }),
    ],
    [
      "the greatest times",
      () => ({
        "gateway.upstream_timeout": "24h",
        "gateway.upstream_idle_timeout": "1h",
        "gateway.performance.request_timeout": "24h",
        "gateway.cluster.health_check_interval": "5m",
        "authz.decision_timeout": "1m",
        "authz.queue_timeout": "1m",
      }),
    ],
    ["a pool of one", () => ({ "gateway.performance.connection_pool_size": 1 })],
    ["an admin port", () => ({ "gateway.envoy_admin": "127.0.0.1:9901" })],
    ["IPv6", () => ({ "gateway.listen_address": "::1", "gateway.envoy_admin": "[::1]:9901" })],
    ["tokens in first messages", () => ({ "identity.connection_params": ["authorization"] })],
    ["tracing", () => ({ "telemetry.tracing.endpoint": "http://127.0.0.1:4318/" })],
    ["tracing over https", () => ({ "telemetry.tracing.endpoint": "https://otlp.test" })],
    ["no identity headers", () => ({ "identity.headers": {} })],
  ];

  for (const [name, overrides] of grid) {
    it(`is valid with ${name}`, async () => {
      const config = configWith(overrides());
      for (const options of [{}, { adminSocket: join(folder, "admin.sock") }]) {
        const bootstrap = envoyBootstrap(config, {
          authzEndpoints: [{ unixSocket: join(folder, "authz.sock") }, { address: "127.0.0.1", port: 9191 }],
          caFile: join(folder, "certificate.pem"),
          ...options,
        });
        const file = join(folder, "bootstrap.json");
        await writeFile(file, JSON.stringify(bootstrap));
        const validate = ["--mode", "validate", "-c", file, "-l", "warning"];
        const { stdout, stderr } = await promisify(execFile)(binary, validate);
        assert.match(stdout, / OK\s*$/);
        // a later Envoy would refuse it
        assert.doesNotMatch(stderr, /deprecated/i);
      }
    });
  }

  it("is told to be invalid when it is (so that the tests above can fail)", async () => {
    const config = configWith({});
    const file = join(folder, "bad.json");
    await writeFile(file, JSON.stringify({ ...envoyBootstrap(config, { authzEndpoints: [] }), nonsense: 1 }));
    await assert.rejects(
      promisify(execFile)(binary, ["--mode", "validate", "-c", file, "-l", "error"]),
      /nonsense/,
    );
  });

  it("does without certificate authorities only where nothing is verified", () => {
    const config = configWith({ "gateway.backend": "https://app.test" });
    assert.throws(() => envoyBootstrap(config, { authzEndpoints: [] }), /no certificate authorities/);
    assert.equal(systemCertificateAuthorities({ SSL_CERT_FILE: "/own.pem" }), "/own.pem");
    const found = systemCertificateAuthorities({});
    assert.ok(found === undefined || found.startsWith("/etc/"));
  });

  it("lets every path pass the decision", () => {
    const config = configWith({ "gateway.backend": "http://127.0.0.1:1" });
    const text = JSON.stringify(envoyBootstrap(config, { authzEndpoints: [] }));
    const off = text.match(/ExtAuthzPerRoute"[^}]*"disabled":true/g);
    assert.equal(off, null);
    assert.match(text, /"failure_mode_allow":false/);
    assert.doesNotMatch(text, /failure_mode_allow":true/);
    // the second filter is off for decided requests alone, and on whenever that is not said
    assert.deepEqual(text.match(/"filter_enabled_metadata":\{[^]*?"invert":[a-z]+\}/g), [
      '"filter_enabled_metadata":{"filter":"envoy.filters.http.ext_authz","path":[{"key":"final"}],' +
        '"value":{"bool_match":true},"invert":true}',
    ]);
  });
});

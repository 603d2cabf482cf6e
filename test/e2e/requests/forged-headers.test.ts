import assert from "node:assert/strict";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startHttp2Upstream } from "../../support/upstreams/http2-upstream.ts";
import { sendHttp2, type Http2Options } from "../../support/http2-request.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";

const POLICIES = `
policies:
  - { resource: "* /public/**", condition: "true" }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "POST /orders", condition: request.body.amount < 100 }
  - { resource: "GET /masked", condition: "true" }
  - { resource: "GET /plan", condition: 'exists(request.headers["x-user-plan"])' }
  - { resource: "GET /tls", condition: request.scheme == "https" }
  - { resource: "GET /clear", condition: request.scheme == "http" }
response_masks:
  - api_pattern: /masked
    fields: [{ name: ssn, condition: "true", mask_type: full }]
`;

/** Applications believe these names, and no client may use them. */
const FORGED = [
  "x-user-id",
  "x.user.id",
  "X.User.Id",
  "X-User.Role",
  "xuserid",
  "x-user-customer-id",
  "x-user-anything",
  "x.customer.plan",
  "x-customer-role",
  "x~user~id",
  "X.User.Token",
  "x-user-token",
  "X.Backend.URL",
  "X.Real.IP",
  "x-real-ip",
  "X.Original.URL",
  "X-Original-URL",
  "x.rewrite.url",
  "X.HTTP.Method.Override",
  "x-gatehouse-decision",
  "x.gatehouse.decision",
  "x-envoy-retry-on",
  "x.envoy.retry-on",
  "x.forwarded.for",
  "X-Forwarded-User",
  "X-Forwarded-Email",
  "X-Forwarded-Groups",
  "X-Forwarded-Preferred-Username",
  "X-Forwarded-Access-Token",
  "X.Forwarded.User",
  "X-Auth-Request-User",
  "X-Auth-Request-Email",
  "Remote-User",
  "RemoteUser",
  "X-Remote-User",
  "X-WebAuth-User",
  "X-Original-URI",
  "Cf-Access-Jwt-Assertion",
  "X-Amzn-Oidc-Data",
  "X-Forwarded.Proto",
];

/** Only trusted proxies may say these. */
const FORWARDING = [
  ...["X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Ssl", "X-Forwarded-Scheme"],
  ...["Forwarded", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP", "X.Client.IP"],
  ...["Front-End-Https", "X-Original-Host", "X-Envoy-External-Address", "X-Gatehouse-Forwarded-Proto"],
];

describe("end to end: headers, trailers and schemes that clients make up", function () {
  this.timeout(180_000);
  let upstream: Awaited<ReturnType<typeof startHttp2Upstream>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let token: string;

  before(async () => {
    [upstream, issuer] = await Promise.all([startHttp2Upstream(), startIssuer()]);
    token = await issuer.token({ sub: "u-7", role: "viewer" });
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        identity: {
          issuer: issuer.url,
          audience: issuer.audience,
          client_headers: ["x-user-agent", "remote-name"],
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    upstream.close();
  });
  beforeEach(() => {
    upstream.seen.length = 0;
  });

  const http2 = (method: string, path: string, headers: Record<string, string>, options?: Http2Options) =>
    sendHttp2(
      gateway.url,
      { ":method": method, ":path": path, ":authority": "app.test", ...headers },
      options,
    );
  const http1 = (path: string, headers: Record<string, string>) =>
    sendRaw(
      gateway.port,
      rawGet(
        path,
        Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ),
    );
  const ways = {
    "HTTP/1.1": http1,
    "HTTP/2": (path: string, headers: Record<string, string>) => {
      const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
      return http2("GET", path, Object.fromEntries(lower) as Record<string, string>);
    },
  };

  for (const [way, send] of Object.entries(ways)) {
    describe(way, () => {
      for (const name of FORGED) {
        it(`removes ${name}, and leaves what is ours`, async () => {
          const forged = { [name]: "root", "x-harmless": "1" };
          assert.equal((await send("/public/a", forged)).status, 200);
          assert.equal((await send("/masked", forged)).status, 200);
          assert.equal((await send("/me", { ...forged, authorization: `Bearer ${token}` })).status, 200);
          assert.equal(upstream.seen.length, 3);
          for (const { headers } of upstream.seen) {
            assert.equal(headers["x-harmless"], "1");
            assert.ok(!Object.values(headers).includes("root"), JSON.stringify(headers));
          }
          const [open, masked, me] = upstream.seen.map(({ headers }) => headers["x-user-id"]);
          assert.deepEqual([open, masked, me], [undefined, undefined, "u-7"]);
        });
      }

      it("removes many at once, repeated ones too", async () => {
        const names = Array.from({ length: 40 }, (_, index) => `x.user.made-up-${index}`);
        const forged = Object.fromEntries(names.map((name) => [name, "root"]));
        assert.equal((await send("/public/a", forged)).status, 200);
        assert.ok(!Object.values(upstream.seen[0]!.headers).includes("root"));
      });

      it("lets no rule read what the application does not get", async () => {
        assert.equal((await send("/plan", { "x-user-plan": "gold" })).status, 403);
      });

      it("passes identity headers of another product that are configured", async () => {
        await send("/public/a", { "remote-name": "x", "remote.name": "root" });
        const { headers } = upstream.seen[0]!;
        assert.equal(headers["remote-name"], "x");
        assert.ok(!Object.values(headers).includes("root"));
      });

      it("says itself who the client is and how it came", async () => {
        await send("/public/a", {
          "x-forwarded-for": "192.0.2.1",
          "x-forwarded-proto": "https",
          ...Object.fromEntries(FORWARDING.map((name) => [name, "root"])),
        });
        const { headers } = upstream.seen[0]!;
        assert.deepEqual([headers["x-forwarded-for"], headers["x-forwarded-proto"]], ["127.0.0.1", "http"]);
        assert.ok(!Object.values(headers).includes("root"), JSON.stringify(headers));
      });

      it("passes a name under the prefixes that is configured, spelled exactly so", async () => {
        await send("/public/a", { "x-user-agent": "grpc-web", "x.user.agent": "other" });
        assert.equal(upstream.seen[0]?.headers["x-user-agent"], "grpc-web");
        assert.equal(upstream.seen[0].headers["x.user.agent"], undefined);
      });
    });
  }

  it("refuses a name with an underscore", async () => {
    assert.equal((await http1("/public/a", { x_user_id: "root" })).status, 400);
    assert.equal((await http2("GET", "/public/a", { x_user_id: "root" })).status, 400);
    assert.deepEqual(upstream.seen, []);
  });

  const TRAILERS = { "x-user-id": "root", "x.user.id": "root", "x-user-token": "root", checksum: "1" };
  const bodies: readonly (readonly [string, string, Record<string, string>])[] = [
    ["a body that flows", "/public/a", { "content-length": "13" }],
    ["a body of unknown length", "/public/a", {}],
    ["a body that a rule reads", "/orders", { "content-type": "application/json" }],
    ["a call of gRPC", "/public/a", { "content-type": "application/grpc", te: "trailers" }],
  ];
  for (const [what, path, headers] of bodies) {
    it(`drops the trailers of ${what} over HTTP/2`, async () => {
      const answer = await http2("POST", path, headers, { body: '{"amount": 1}', trailers: TRAILERS });
      assert.equal(answer.status, 200);
      assert.deepEqual(
        upstream.seen.map(({ body, trailers }) => [body, trailers]),
        [['{"amount": 1}', undefined]],
      );
    });
  }

  it("drops trailers without a body over HTTP/2", async () => {
    assert.equal((await http2("GET", "/public/a", {}, { trailers: TRAILERS })).status, 200);
    assert.deepEqual(
      upstream.seen.map(({ body, trailers }) => [body, trailers]),
      [["", undefined]],
    );
  });

  it("drops trailers over HTTP/1.1", async () => {
    const head =
      "POST /public/a HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n";
    const rest = "Trailer: x-user-id\r\n\r\n1\r\na\r\n0\r\nx-user-id: root\r\nx.user.id: root\r\n\r\n";
    assert.equal((await sendRaw(gateway.port, head + rest)).status, 200);
    assert.equal(upstream.seen[0]?.trailers, undefined);
    assert.ok(!Object.values(upstream.seen[0]!.headers).includes("root"));
  });

  for (const scheme of ["https", "http"]) {
    for (const [path, status] of [
      ["/tls", 403],
      ["/clear", 200],
    ] as const) {
      it(`speaks http, whatever a client says: :scheme ${scheme} for ${path}`, async () => {
        const answer = await http2("GET", path, { ":scheme": scheme, "x-forwarded-proto": scheme });
        assert.equal(answer.status, status);
      });
    }
  }

  it("speaks http, whatever an absolute target or X-Forwarded-Proto says", async () => {
    const forwarded = ["X-Forwarded-Proto: https", "X-Forwarded-Scheme: https", "Forwarded: proto=https"];
    for (const [target, status] of [
      ["/tls", 403],
      ["http://app.test/tls", 403],
      ["https://app.test/tls", 400],
    ] as const)
      assert.equal((await sendRaw(gateway.port, rawGet(target, forwarded))).status, status, target);
    assert.equal((await sendRaw(gateway.port, rawGet("/clear", forwarded))).status, 200);
    assert.equal(upstream.seen[0]?.headers[":scheme"], "http");
    assert.equal(upstream.seen[0].headers["x-forwarded-proto"], "http");
  });
});

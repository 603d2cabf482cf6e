import assert from "node:assert/strict";
import { awsDoor } from "../../src/authorizers/aws/index.ts";
import { caddy } from "../../src/authorizers/caddy.ts";
import { envoyHttp } from "../../src/authorizers/envoy-http.ts";
import { haproxy } from "../../src/authorizers/haproxy.ts";
import { nginx } from "../../src/authorizers/nginx.ts";
import { traefik } from "../../src/authorizers/traefik.ts";
import type { FrontProxyOptions } from "../../src/decision/decide/front-proxy.ts";
import type { KnownState } from "../../src/decision/decide/check-session.ts";
import { detailOf } from "../../src/decision/explain/detail-of.ts";
import type { Door } from "../../src/decision/point/index.ts";
import { createCheckEncoder } from "../../src/extauthz/answer-check.ts";
import { createCheckReader } from "../../src/extauthz/read-check.ts";
import type { JsonValue } from "../../src/json/index.ts";
import { STATED } from "./aws/support/served-aws.ts";
import { eventOf, tokenEvent, type Form } from "./aws/support/events.ts";
import { useServedDoors } from "../decision/point/support/served-doors.ts";
import {
  bearer,
  deciderOf,
  silentLog,
  snapshotOf,
  useIssuer,
  type DeciderParts,
} from "../decision/support.ts";
import { checkRequest } from "../support/check-request.ts";
import {
  fromEnvoy,
  fromHaproxy,
  fromTraefik,
  valueOf,
  withRequestLine,
  type Headers,
} from "./support/messages.ts";

const PROXY = "10.0.0.1";
const CLIENT = "203.0.113.9";
const POLICIES = snapshotOf(`
policies:
  - { resource: "GET /public", condition: "true" }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "GET /proxy", condition: 'request.client_ip == "${PROXY}"' }
  - { resource: "GET /not-client", condition: 'request.client_ip != "${CLIENT}"' }
  - { resource: "GET /client", condition: 'request.client_ip == "${CLIENT}"' }
  - { resource: "GET /inside", condition: 'request.host == "app.test"' }
  - { resource: "GET /not-outside", condition: 'request.host != "www.test"' }
  - { resource: "GET /tls", condition: 'request.scheme == "https"' }
  - { resource: "GET /not-plain", condition: 'request.scheme != "http"' }
  - { resource: "GET /of-user", condition: 'user.department == "sales"' }
  - { resource: "GET /forwarded-tls", condition: '"for=${CLIENT};proto=https" in request.headers["forwarded"]' }
  - { resource: "GET /forwarded-plain", condition: 'not ("for=${CLIENT};proto=https" in request.headers["forwarded"])' }
  - { resource: "GET /said-tls", condition: '"https" in request.headers["x-forwarded-proto"]' }
  - { resource: "GET /no-port", condition: 'not exists(request.headers["x-forwarded-port"])' }
  - { resource: "GET /no-real-ip", condition: 'not exists(request.headers["x-real-ip"])' }
  - { resource: "GET /direct", condition: 'not exists(request.headers["x-forwarded-for"])' }
graphql_policies:
  - { query: mine, condition: 'request.client_ip == "${CLIENT}"' }
`);

/** What the proxy in front says of the request. */
const SAID: Headers = [
  ["x-forwarded-for", CLIENT],
  ["x-forwarded-proto", "http"],
  ["x-forwarded-host", "www.test"],
];

const fromApi = (form: Form) => (path: string, headers: Headers) => {
  const said = [...headers, ...SAID.slice(2)];
  const event = JSON.stringify(eventOf(form, { target: path, headers: said }));
  // API Gateway appends the address, and writes the scheme
  return JSON.parse(
    event.replaceAll("127.0.0.1", `${CLIENT}, ${PROXY}`).replace(/(?<="sourceIp":")[^"]*/, PROXY),
  ) as JsonValue;
};

describe("authorizers: a trusted proxy in front of the one that asks", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);

  const reasonAt = async <Message>(
    door: Door<Message, unknown>,
    message: Message,
    front: Partial<FrontProxyOptions> = {},
    parts: Partial<DeciderParts> = {},
  ) => {
    const frontProxy = { trustedProxies: ["10.0.0.0/8"], backends: [], ...front };
    const decide = deciderOf(POLICIES, { verifier: idp.verifier, frontProxy, ...parts });
    const { ask, recorded } = serve(door, { point: (point) => Object.assign(point, { decide }) });
    await ask(message);
    const [reason = ""] = await recorded();
    return reason;
  };

  /** Doors that show what it says. */
  const telling = <Message>(
    name: string,
    door: Door<Message, unknown>,
    ask: (path: string, headers: Headers) => Message,
    scheme: "http" | "unknown" = "http",
    permitted = "ALLOW CONDITION_TRUE",
  ) => {
    it(`${name}: the client is the one that it names`, async () => {
      const no = "DENY CONDITION_FALSE";
      const tls = scheme === "http" ? no : "DENY CONDITION_UNKNOWN";
      for (const [path, decided] of [
        ["/public", "ALLOW CONDITION_TRUE"],
        ["/proxy", no],
        ["/not-client", no],
        ["/client", "ALLOW CONDITION_TRUE"],
        ["/not-outside", no],
        ["/tls", tls],
        ["/not-plain", tls],
        ["/said-tls", tls],
      ] as const)
        for (const front of [{}, { trustedHops: 1 }])
          assert.equal(
            await reasonAt(door, ask(path, []), front),
            decided,
            `${path} ${JSON.stringify(front)}`,
          );
    });
    it(`${name}: ${scheme === "http" ? "so is its scheme" : "its scheme is unknown, unless \`Forwarded\` tells it"}`, async () => {
      const front = { forwardedHeaders: ["x-forwarded-for", "x-forwarded-proto", "forwarded"] as const };
      // one that tells no scheme gets none from here
      for (const path of ["/forwarded-tls", "/forwarded-plain"]) {
        const silent = ask(path, [["forwarded", `for=${CLIENT}`]]);
        if (scheme === "unknown")
          assert.equal(await reasonAt(door, silent, front), "DENY CONDITION_UNKNOWN", path);
        else if (path === "/forwarded-tls")
          assert.equal(await reasonAt(door, silent, front), "DENY CONDITION_FALSE");
      }
      for (const [proto, decided] of [
        ["http", "DENY CONDITION_FALSE"],
        ["https", scheme === "http" ? "DENY AMBIGUOUS_FORWARDING" : permitted],
      ] as const) {
        const forwarded = ["forwarded", `for=${CLIENT};proto=${proto}`] as const;
        assert.equal(await reasonAt(door, ask("/tls", [forwarded]), front), decided, proto);
      }
    });
  };
  telling("nginx", nginx, (path, headers) => withRequestLine(path, [...SAID, ...headers], "GET", PROXY));
  telling("haproxy", haproxy, (path, headers) => fromHaproxy(path, [...SAID, ...headers], "GET", PROXY));
  const envoyGrpc = {
    decode: createCheckReader({ log: silentLog }),
    encode: createCheckEncoder({ place: { file: "/run/state.json", epoch: "e-1" } }),
  };
  const throughEnvoy = (path: string, said: Headers, peer = PROXY) =>
    checkRequest({ path, headers: said, peer, plans: "", bodies: "unknown" });
  const appended = (peer: string): Headers =>
    SAID.map(([name, value]) => [name, name === "x-forwarded-for" ? `${value},${peer}` : value]);
  telling("another Envoy over gRPC, which leaves the headers as they are", envoyGrpc, (path, headers) =>
    throughEnvoy(path, [...SAID, ...headers]),
  );
  telling(
    "another Envoy over gRPC, which has appended the proxy",
    envoyGrpc,
    (path, headers) => throughEnvoy(path, [...appended(PROXY), ...headers]),
    "unknown",
  );

  it("another Envoy over gRPC: the client of a proxy on the same machine is unknown, whatever was appended", async () => {
    for (const peer of ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
      for (const said of [SAID, appended("10.9.9.9"), appended(peer)]) {
        const front = { trustedProxies: ["127.0.0.0/8", "::1/128", "10.0.0.0/8"] };
        for (const path of ["/proxy", "/not-client", "/client", "/tls", "/not-plain", "/inside"])
          assert.equal(
            await reasonAt(envoyGrpc, throughEnvoy(path, said, peer), front),
            "DENY CONDITION_UNKNOWN",
            `${peer} ${path}`,
          );
        assert.equal(
          await reasonAt(envoyGrpc, throughEnvoy("/public", said, peer), front),
          "ALLOW CONDITION_TRUE",
        );
      }
  });

  it("aws token: nothing is known of the connection, not even that the client spoke TLS", async () => {
    const door = awsDoor({ ...STATED, uncached: true, tokenAuthorizers: true });
    const message = (path: string) => tokenEvent("GET", path, "");
    assert.equal(await reasonAt(door, message("/public")), "ALLOW CONDITION_TRUE");
    for (const path of ["/tls", "/not-plain", "/said-tls", "/client", "/not-client", "/inside"])
      assert.equal(await reasonAt(door, message(path)), "DENY CONDITION_UNKNOWN", path);
  });

  it("another Envoy over gRPC: the application gets no scheme that nobody said", async () => {
    const decide = deciderOf(POLICIES, {
      verifier: idp.verifier,
      frontProxy: {
        trustedProxies: ["10.0.0.0/8"],
        backends: [],
        forwardedHeaders: ["x-forwarded-for", "forwarded"],
      },
    });
    const said = [...appended(PROXY), ["forwarded", `for=${CLIENT}`] as const];
    const { access } = envoyGrpc.decode(throughEnvoy("/public", said), {
      deadline: Number.POSITIVE_INFINITY,
    });
    const { forwarding } = await decide(access);
    const set = forwarding?.set.map(([name]) => name) ?? [];
    assert.ok(!set.includes("forwarded") && !set.includes("x-forwarded-proto"), set.join());
  });

  it("our own Envoy with a configuration from before there were proxies: the scheme of a proxy's client is unknown", async () => {
    const ours = (path: string, peer: string) =>
      checkRequest({ path, headers: SAID, peer, plans: "1", bodies: "unknown" });
    for (const path of ["/tls", "/not-plain", "/said-tls"])
      assert.equal(await reasonAt(envoyGrpc, ours(path, PROXY)), "DENY CONDITION_UNKNOWN", path);
    assert.equal(await reasonAt(envoyGrpc, ours("/client", PROXY)), "ALLOW CONDITION_TRUE");
    assert.equal(await reasonAt(envoyGrpc, ours("/tls", CLIENT)), "DENY CONDITION_FALSE");
  });

  it("says that only the scheme is unknown, and only where that decides", async () => {
    const decide = deciderOf(POLICIES, {
      verifier: idp.verifier,
      frontProxy: { trustedProxies: ["10.0.0.0/8"], backends: [] },
    });
    const detailAt = async (path: string, said: Headers) => {
      const { access } = envoyGrpc.decode(throughEnvoy(path, said), { deadline: Number.POSITIVE_INFINITY });
      return detailOf(await decide(access));
    };
    assert.match((await detailAt("/tls", appended(PROXY))) ?? "", /does not tell which scheme/);
    for (const path of ["/client", "/proxy", "/nothing", "/of-user"])
      assert.equal(await detailAt(path, appended(PROXY)), undefined);
    assert.equal(await detailAt("/tls", SAID), undefined);
  });

  for (const form of ["rest", "http-1.0", "http-2.0"] as const)
    describe(`aws ${form}`, () => {
      const door = awsDoor({ ...STATED, uncached: true });
      // which cannot replace that header for the application
      telling(form, door, fromApi(form), "unknown", "DENY PLAN_NOT_ENFORCEABLE");

      it("serves nothing but TLS to a client that comes without a proxy", async () => {
        const direct = JSON.parse(
          JSON.stringify(eventOf(form, { target: "/tls" })).replaceAll("127.0.0.1", CLIENT),
        ) as JsonValue;
        assert.equal(await reasonAt(door, direct), "ALLOW CONDITION_TRUE");
      });
    });

  const HIDING = [
    ["caddy", caddy, withRequestLine],
    ["traefik", traefik, fromTraefik],
    ["envoy-http", envoyHttp, fromEnvoy],
  ] as const;
  for (const [name, door, message] of HIDING)
    describe(name, () => {
      const ask = (path: string, headers: Headers = [], peer = PROXY) => message(path, headers, "GET", peer);

      it("knows no client, because it does not show what that proxy says", async () => {
        for (const path of [
          ...["/proxy", "/not-client", "/client", "/inside", "/not-outside", "/tls", "/not-plain", "/direct"],
        ])
          for (const front of [{}, { trustedHops: 1 }])
            assert.equal(await reasonAt(door, ask(path), front), "DENY CONDITION_UNKNOWN", path);
      });

      it("permits what does not depend on the client's connection", async () => {
        assert.equal(await reasonAt(door, ask("/public")), "ALLOW CONDITION_TRUE");
        // what load balancers add unasked
        const added = ["port", "server", "prefix", "ssl"].map((of) => [`x-forwarded-${of}`, "443"] as const);
        assert.equal(await reasonAt(door, ask("/public", added)), "ALLOW CONDITION_TRUE");
        for (const path of ["/no-port", "/no-real-ip"])
          assert.equal(await reasonAt(door, ask(path, added)), "DENY CONDITION_UNKNOWN", path);
        const own = bearer(await idp.token({ sub: "u-1" }));
        assert.equal(await reasonAt(door, ask("/me", [own])), "ALLOW CONDITION_TRUE");
        // with the proxy's word for who it is
        const handed = ["x-user-token", own[1].slice("Bearer ".length)] as const;
        assert.equal(await reasonAt(door, ask("/me", [handed])), "DENY PLAN_NOT_ENFORCEABLE");
      });

      it("says why it knows no client", async () => {
        const frontProxy = { trustedProxies: ["10.0.0.0/8"], backends: [] };
        const decide = deciderOf(POLICIES, { verifier: idp.verifier, frontProxy });
        const { access } = door.decode(ask("/client"), { deadline: Number.POSITIVE_INFINITY });
        const decision = await decide(access);
        assert.deepEqual([decision.reason, decision.clientIp], ["CONDITION_UNKNOWN", ""]);
        assert.match(detailOf(decision) ?? "", /^the peer is a trusted proxy, and this door does not tell/);
        for (const path of ["/public", "/of-user", "/nothing"]) {
          const other = door.decode(ask(path), { deadline: Number.POSITIVE_INFINITY });
          assert.equal(detailOf(await decide(other.access)), undefined, path);
        }
        const operation = door.decode(ask("/graphql?query=%7Bmine%7D"), {
          deadline: Number.POSITIVE_INFINITY,
        }).access;
        const raw = { ...operation.raw, body: { bytes: Buffer.alloc(0), complete: true } };
        const denied = await decide({ ...operation, raw });
        assert.equal(denied.reason, "GRAPHQL_DENIED");
        assert.match(detailOf(denied) ?? "", /^mine \(graphql_policies\[0\]\); the peer is a trusted proxy/);
      });

      it("believes no other header about the client", async () => {
        for (const header of ["x-real-ip", "forwarded", "true-client-ip"]) {
          const value = header === "forwarded" ? `for=${CLIENT}` : CLIENT;
          const front = { forwardedHeaders: ["x-forwarded-for", "forwarded"] as const };
          const decided = await reasonAt(door, ask("/client", [[header, value]]), front);
          assert.equal(decided, "DENY CONDITION_UNKNOWN", header);
          const forwarded = await reasonAt(door, ask("/public", [[header, value]]), front);
          // Traefik sets X-Real-Ip itself
          const isOwn = name === "traefik" && header === "x-real-ip";
          assert.equal(forwarded, isOwn ? "ALLOW CONDITION_TRUE" : "DENY PLAN_NOT_ENFORCEABLE", header);
        }
      });

      it("its address is in no range of a customer's policy", async () => {
        const state = (ranges: readonly string[]): KnownState => ({
          customer: (id) => ({
            ...{ id, status: "active", policy_sets: [] },
            authentication: { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [ranges] },
          }),
          sessionEnded: () => false,
          userStatus: () => "active",
        });
        const own = bearer(await idp.token({ sub: "u-1", customer_id: "cus_1", sid: "ses_1" }));
        for (const ranges of [["10.0.0.0/8"], ["0.0.0.0/0", "::/0"]])
          assert.equal(
            await reasonAt(door, ask("/me", [own]), {}, { controlPlane: { state: () => state(ranges) } }),
            "DENY CLIENT_ADDRESS_NOT_ALLOWED",
          );
        const decide = deciderOf(POLICIES, {
          verifier: idp.verifier,
          frontProxy: { trustedProxies: ["10.0.0.0/8"], backends: [] },
          controlPlane: { state: () => state(["0.0.0.0/0"]) },
        });
        const { access } = door.decode(ask("/me", [own]), { deadline: Number.POSITIVE_INFINITY });
        assert.match(
          detailOf(await decide(access)) ?? "",
          /^session ses_1; the peer is a trusted proxy, and this door does not tell/,
        );
        const direct = ask("/me", [own], CLIENT);
        const within = { controlPlane: { state: () => state(["203.0.113.0/24"]) } };
        assert.equal(await reasonAt(door, direct, {}, within), "ALLOW CONDITION_TRUE");
      });

      it("knows a client that comes without it, as ever", async () => {
        for (const path of ["/client", "/inside", "/tls", "/not-plain"])
          assert.equal(await reasonAt(door, ask(path, [], CLIENT)), "ALLOW CONDITION_TRUE", path);
      });
    });

  it("envoy-http: the application gets the address of the proxy, and no list that a client began", async () => {
    const decide = deciderOf(POLICIES, {
      verifier: idp.verifier,
      frontProxy: { trustedProxies: ["10.0.0.0/8"], backends: [] },
    });
    const { ask } = serve(envoyHttp, { point: (point) => Object.assign(point, { decide }) });
    const { status, headers } = await ask(fromEnvoy("/public", [], "GET", PROXY));
    assert.equal(status, 200);
    assert.equal(valueOf(headers, "x-forwarded-for"), PROXY);
  });
});

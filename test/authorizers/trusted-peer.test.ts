import assert from "node:assert/strict";
import { awsDoor } from "../../src/authorizers/aws/index.ts";
import { caddy } from "../../src/authorizers/caddy.ts";
import { envoyHttp } from "../../src/authorizers/envoy-http.ts";
import { haproxy } from "../../src/authorizers/haproxy.ts";
import { nginx } from "../../src/authorizers/nginx.ts";
import { traefik } from "../../src/authorizers/traefik.ts";
import type { FrontProxyOptions } from "../../src/decision/decide/front-proxy.ts";
import type { KnownState } from "../../src/decision/decide/check-session.ts";
import type { Door } from "../../src/decision/point/index.ts";
import { createCheckEncoder } from "../../src/extauthz/answer-check.ts";
import { createCheckReader } from "../../src/extauthz/read-check.ts";
import type { JsonValue } from "../../src/json/index.ts";
import { STATED } from "./aws/support/served-aws.ts";
import { eventOf, type Form } from "./aws/support/events.ts";
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
  - { resource: "GET /no-port", condition: 'not exists(request.headers["x-forwarded-port"])' }
  - { resource: "GET /no-real-ip", condition: 'not exists(request.headers["x-real-ip"])' }
  - { resource: "GET /direct", condition: 'not exists(request.headers["x-forwarded-for"])' }
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
    scheme: "http" | "https",
  ) => {
    it(`${name}: the client is the one that it names`, async () => {
      for (const [path, permitted] of [
        ["/public", true],
        ["/proxy", false],
        ["/not-client", false],
        ["/client", true],
        ["/not-outside", false],
        ["/tls", scheme === "https"],
      ] as const)
        for (const front of [{}, { trustedHops: 1 }])
          assert.equal(
            await reasonAt(door, ask(path, []), front),
            permitted ? "ALLOW CONDITION_TRUE" : "DENY CONDITION_FALSE",
            `${path} ${JSON.stringify(front)}`,
          );
    });
  };
  telling(
    "nginx",
    nginx,
    (path, headers) => withRequestLine(path, [...SAID, ...headers], "GET", PROXY),
    "http",
  );
  telling(
    "haproxy",
    haproxy,
    (path, headers) => fromHaproxy(path, [...SAID, ...headers], "GET", PROXY),
    "http",
  );
  const envoyGrpc = {
    decode: createCheckReader({ log: silentLog }),
    encode: createCheckEncoder({ place: { file: "/run/state.json", epoch: "e-1" } }),
  };
  telling(
    "another Envoy over gRPC, which has appended the proxy",
    envoyGrpc,
    (path, headers) => {
      const [[name, client], ...others] = SAID as [readonly [string, string], ...Headers];
      const said = [[name, `${client},${PROXY}`] as const, ...others, ...headers];
      return checkRequest({ path, headers: said, peer: PROXY, plans: "", bodies: "unknown" });
    },
    "http",
  );
  for (const form of ["rest", "http-1.0", "http-2.0"] as const)
    telling(`aws ${form}`, awsDoor({ ...STATED, uncached: true }), fromApi(form), "https");

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
        const { reason, clientIp, detail = "" } = await decide(access);
        assert.deepEqual([reason, clientIp], ["CONDITION_UNKNOWN", ""]);
        assert.match(detail, /the peer is a trusted proxy, and this door does not tell/);
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

import assert from "node:assert/strict";
import { createOriginCheck } from "../../../src/decision/decide/origin-check.ts";
import { renderExplanation } from "../../../src/decision/explain/render-explanation.ts";
import { explainDecision } from "../../../src/decision/explain/explain.ts";
import { auditRecord } from "../../../src/decision/point/record.ts";
import { accessOf, bearer, deciderOf, outcome, snapshotOf, useIssuer } from "../support.ts";

const POLICIES = `
policies:
  - { resource: "* /me", condition: exists(user.id) }
  - { resource: "* /roles", condition: user.role == "admin" or not exists(user.id) }
  - { resource: "* /public/**", condition: "true" }
  - { resource: "* /never", condition: request.method == "NONE" }
  - { resource: "* /without", condition: 'not exists(request.headers.cookie)' }
  - { resource: "* /only/{id}", condition: 'request.headers.cookie == "a=b"' }
  - { resource: "* /only/x", condition: 'request.headers.cookie == "a=b"' }
websocket_policies:
  - connection: { path: /socket, condition: exists(user.id) }
  - connection: { path: /public/socket, condition: "true" }
graphql_policies:
  - { query: me, condition: exists(user.id) }
  - { query: news, condition: "true" }
  - { mutation: rename, condition: exists(user.id) }
`;

type Headers = readonly (readonly [name: string, value: string])[];
const HANDSHAKE: Headers = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
];

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Headers;
  readonly host?: string;
  readonly scheme?: string;
  readonly peer?: string;
  readonly body?: string;
  readonly check?: boolean;
  readonly token?: string;
  readonly set?: string;
}

describe("decision: origin of requests with a cookie", () => {
  const idp = useIssuer();
  let token: string;
  before(async () => {
    token = await idp.token({ sub: "u-7", role: "viewer" });
  });

  const accessFor = ({ method = "POST", path = "/me", headers = [], body, ...asked }: Asked) => {
    const access = accessOf({
      method,
      path,
      headers: [["cookie", `a=b; session=${asked.token ?? token}`], ...headers],
      peer: asked.peer ?? "192.0.2.1",
      ...(body !== undefined && { body }),
    });
    const raw = { ...access.raw, host: asked.host ?? "app.test", scheme: asked.scheme ?? "http" };
    return { ...access, raw };
  };
  const decide = async (asked: Asked) => {
    const decider = deciderOf(snapshotOf(asked.set ?? POLICIES), {
      verifier: idp.verifier,
      cookie: "session",
      frontProxy: { trustedProxies: ["10.0.0.0/8"], backends: [] },
      accept: { switchedOff: new Set(["method_override"]) },
      ...(asked.check !== false && {
        originCheck: createOriginCheck([
          "https://Admin.Example",
          "https://other.example:8443",
          "app://shell",
        ]),
      }),
    });
    return decider(accessFor(asked));
  };
  const expect = async (expected: string, asked: Asked) => {
    assert.equal(outcome(await decide(asked)), expected, JSON.stringify(asked));
  };
  const origin = (value: string): Headers => [["origin", value]];
  const site = (value: string): Headers => [["sec-fetch-site", value]];

  const OURS: readonly (readonly [string, Asked])[] = [
    ["the same origin, as the browser says", { headers: site("same-origin") }],
    ["the same origin of a page that hides it", { headers: [...site("same-origin"), ...origin("null")] }],
    [
      "the same origin, where a proxy in front has changed Host",
      { headers: [...site("same-origin"), ...origin("https://public.example")] },
    ],
    ["the origin alone", { headers: origin("http://app.test") }],
    ["the origin with its default port", { headers: origin("http://app.test:80") }],
    ["a host with its default port", { headers: origin("http://app.test"), host: "app.test:80" }],
    ["a port of its own", { headers: origin("http://app.test:8000"), host: "app.test:8000" }],
    ["capitals in both", { headers: origin("HTTP://APP.test"), host: "aPP.TEST" }],
    ["a final dot", { headers: origin("http://app.test."), host: "app.test" }],
    ["an IPv6 address", { headers: origin("http://[::1]:8000"), host: "[::1]:8000" }],
    ["an IPv6 address with capitals", { headers: origin("http://[fd00::a]"), host: "[FD00::A]" }],
    ["TLS", { headers: origin("https://app.test"), scheme: "https" }],
    ["TLS with a port", { headers: origin("https://app.test"), scheme: "https", host: "app.test:443" }],
    ["TLS that a trusted proxy ends", { headers: origin("https://app.test"), peer: "10.0.0.1" }],
    [
      "the host and port that a trusted proxy reports",
      {
        headers: [
          ...origin("https://public.example:8443"),
          ["x-forwarded-proto", "https"],
          ["x-forwarded-host", "public.example:8443"],
        ],
        peer: "10.0.0.1",
      },
    ],
    ["no TLS at a trusted proxy", { headers: origin("http://app.test"), peer: "10.0.0.1" }],
    ["the browser itself", { headers: [...site("none"), ...origin("http://app.test")] }],
    ["a trusted origin", { headers: origin("https://admin.example") }],
    [
      "a trusted origin, which is another site",
      { headers: [...site("cross-site"), ...origin("https://admin.example")] },
    ],
    [
      "a trusted origin with a port",
      { headers: [...site("same-site"), ...origin("https://other.example:8443")] },
    ],
    ["a trusted origin of an application's own scheme", { headers: origin("app://shell") }],
  ];
  const OTHERS: readonly (readonly [string, Asked])[] = [
    ["another site", { headers: site("cross-site") }],
    ["another origin of the same site", { headers: site("same-site") }],
    [
      "another site that claims our origin",
      { headers: [...site("cross-site"), ...origin("http://app.test")] },
    ],
    ["two values", { headers: site("same-origin, cross-site") }],
    ["two headers", { headers: [...site("same-origin"), ...site("cross-site")] }],
    ["two headers that agree", { headers: [...site("same-origin"), ...site("same-origin")] }],
    ["a value in capitals", { headers: site("Same-Origin") }],
    ["a value nobody knows", { headers: [...site("same-party"), ...origin("http://app.test")] }],
    ["no value", { headers: site("") }],
    ["neither header", {}],
    ["a referrer alone", { headers: [["referer", "http://app.test/form"]] }],
    ["the browser itself, for nobody", { headers: site("none") }],
    ["the browser itself, for another site", { headers: [...site("none"), ...origin("https://evil.test")] }],
    ["the browser itself, for a page without origin", { headers: [...site("none"), ...origin("null")] }],
    ["an opaque origin", { headers: origin("null") }],
    ["another origin", { headers: origin("http://evil.test") }],
    ["another port", { headers: origin("http://app.test:8000") }],
    ["another port of a host with a port", { headers: origin("http://app.test"), host: "app.test:8000" }],
    ["another scheme", { headers: origin("https://app.test") }],
    ["another scheme, with our port", { headers: origin("https://app.test:80") }],
    ["http for a listener with TLS", { headers: origin("http://app.test"), scheme: "https" }],
    [
      "http for TLS at a trusted proxy",
      { headers: origin("http://app.test"), scheme: "https", peer: "10.0.0.1" },
    ],
    ["a name that ends in ours", { headers: origin("http://evil-app.test") }],
    ["a name that begins with ours", { headers: origin("http://app.test.evil.test") }],
    ["our name as a user", { headers: origin("http://app.test@evil.test") }],
    ["a path", { headers: origin("http://app.test/") }],
    ["a list", { headers: origin("http://app.test http://evil.test") }],
    ["a list with a comma", { headers: origin("http://app.test,http://evil.test") }],
    ["two Origin headers", { headers: [...origin("http://app.test"), ...origin("http://app.test")] }],
    [
      "two Origin headers, of the same origin",
      { headers: [...site("same-origin"), ...origin("http://app.test"), ...origin("http://evil.test")] },
    ],
    ["an empty Origin", { headers: origin("") }],
    ["no scheme", { headers: origin("app.test") }],
    ["another IPv6 address", { headers: origin("http://[::2]"), host: "[::1]" }],
    ["a trusted name with another port", { headers: origin("https://other.example") }],
    ["a trusted name with another scheme", { headers: origin("http://admin.example") }],
    ["a name under a trusted one", { headers: origin("https://a.admin.example") }],
  ];

  describe("takes the cookie for a request from", () => {
    for (const [what, asked] of OURS) {
      it(what, async () => {
        await expect("ALLOW CONDITION_TRUE", asked);
        const { identity, cookieWithheld } = await decide({ ...asked, path: "/public/a" });
        assert.deepEqual([identity?.userId, cookieWithheld], ["u-7", undefined]);
        await expect("ALLOW CONDITION_TRUE", {
          ...asked,
          method: "GET",
          path: "/socket",
          headers: [...HANDSHAKE, ...(asked.headers ?? [])],
        });
      });
    }
  });

  describe("does not take it for a request from", () => {
    for (const [what, asked] of OTHERS) {
      it(what, async () => {
        await expect("DENY ORIGIN_NOT_TRUSTED", asked);
        await expect("DENY ORIGIN_NOT_TRUSTED", { ...asked, path: "/roles" });
        const open = await decide({ ...asked, path: "/public/a" });
        assert.equal(outcome(open), "ALLOW CONDITION_TRUE");
        assert.deepEqual([open.identity, open.cookieWithheld], [undefined, true]);
        const handshake = { method: "GET", headers: [...HANDSHAKE, ...(asked.headers ?? [])] };
        await expect("DENY ORIGIN_NOT_TRUSTED", { ...asked, ...handshake, path: "/socket" });
        const socket = await decide({ ...asked, ...handshake, path: "/public/socket" });
        assert.deepEqual([outcome(socket), socket.identity], ["ALLOW CONDITION_TRUE", undefined]);
      });
    }
  });

  const evil: Headers = [...site("cross-site"), ...origin("https://evil.test")];

  it("shows rules the cookies that the application gets, and no others", async () => {
    await expect("ALLOW CONDITION_TRUE", { headers: evil, path: "/only/1" });
    for (const path of ["/only/x", "/only/x.json", "/only/x?_method=DELETE"])
      await expect("ALLOW CONDITION_TRUE", { headers: evil, path });
    await expect("DENY CONDITION_FALSE", { headers: evil, path: "/without" });
    await expect("DENY CONDITION_FALSE", { headers: origin("http://app.test"), path: "/only/1" });
    const alone = accessFor({ headers: evil, path: "/without" });
    const headers = [...evil, ["cookie", `session=${token}`] as const];
    const { verdict, request } = await deciderOf(snapshotOf(POLICIES), {
      verifier: idp.verifier,
      cookie: "session",
      originCheck: createOriginCheck([]),
    })({ ...alone, raw: { ...alone.raw, headers } });
    assert.deepEqual([verdict, request?.headers["cookie"]], ["ALLOW", undefined]);
  });

  it("asks for the origin by every method that changes something", async () => {
    for (const method of ["GET", "HEAD", "OPTIONS"])
      await expect("ALLOW CONDITION_TRUE", { method, headers: evil });
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "QUERY", "PROPFIND", "LINK"])
      await expect("DENY ORIGIN_NOT_TRUSTED", { method, headers: evil });
  });

  it("asks where an application may take the request for one that changes something", async () => {
    await expect("DENY ORIGIN_NOT_TRUSTED", { method: "GET", path: "/me?_method=DELETE", headers: evil });
    await expect("ALLOW CONDITION_TRUE", { method: "GET", path: "/me?_method=HEAD", headers: evil });
  });

  it("does not ask where a token was presented on purpose", async () => {
    await expect("ALLOW CONDITION_TRUE", { headers: [...evil, bearer(token)] });
    await expect("ALLOW CONDITION_TRUE", {
      headers: [...evil, ["x-user-token", token]],
      peer: "10.0.0.1",
    });
    // a token that is none of ours leaves the cookie to count
    await expect("DENY ORIGIN_NOT_TRUSTED", { headers: [...evil, ["authorization", "Basic dTpw"]] });
    // nobody has vouched for this one
    await expect("DENY ORIGIN_NOT_TRUSTED", { headers: [...evil, ["x-user-token", token]] });
  });

  it("says that a token is bad before it asks where the request is from", async () => {
    const expired = await idp.token({ iat: 1, exp: 2 });
    await expect("DENY TOKEN_EXPIRED", { headers: evil, token: expired });
    const { cookieWithheld } = await decide({ headers: evil, token: expired, path: "/public/a" });
    // and the application, which may read it in another way, does not get it
    assert.equal(cookieWithheld, true);
    const beside = await decide({ headers: [...evil, ["cookie", "session=junk"]], path: "/public/a" });
    assert.deepEqual([beside.verdict, beside.cookieWithheld, beside.identity], ["ALLOW", true, undefined]);
  });

  it("leaves other denials what they are", async () => {
    await expect("DENY NO_MATCHING_RULE", { headers: evil, path: "/nowhere" });
    await expect("DENY CONDITION_FALSE", { headers: evil, path: "/never" });
  });

  it("tells an application nothing where everything is allowed by default", async () => {
    const set = "default: allow\npolicies:\n  - { resource: GET /x, condition: 'true' }\n";
    const decision = await decide({ headers: evil, path: "/else", set });
    assert.deepEqual([outcome(decision), decision.identity], ["ALLOW DEFAULT_ALLOW", undefined]);
  });

  it("lets no mutation of GraphQL run for another site", async () => {
    const json = ["content-type", "application/json"] as const;
    const send = (query: string, headers: Headers) =>
      decide({ path: "/graphql", headers: [json, ...headers], body: JSON.stringify({ query }) });
    const rename = 'mutation { rename(name: "x") { id } }';
    const reasons = async (...sent: readonly (readonly [string, Headers])[]) =>
      Promise.all(sent.map(async ([query, headers]) => (await send(query, headers)).reason));
    const own = origin("http://app.test");
    assert.deepEqual(
      await reasons([rename, evil], ["{ me { id } }", evil], ["{ news { id } }", evil], [rename, own]),
      ["ORIGIN_NOT_TRUSTED", "ORIGIN_NOT_TRUSTED", "ORIGIN_NOT_TRUSTED", "GRAPHQL_ALLOWED"],
    );
    for (const method of ["GET", "HEAD"]) {
      const path = `/graphql?query=${encodeURIComponent(rename)}`;
      const { verdict, reason } = await decide({ method, path, headers: evil });
      assert.deepEqual([verdict, reason], ["DENY", "GRAPHQL_MALFORMED"]);
    }
  });

  it("says in the record who was met and what was wrong, and in the explanation, too", async () => {
    const asked = { headers: [...site("cross-site"), ...origin("https://evil.test/`")] };
    const context = { access: accessFor(asked), at: Date.now() };
    const denied = await decide(asked);
    const record = auditRecord(denied, context, 1, false);
    assert.equal(record.user_id, "u-7");
    assert.equal(record.reason, "ORIGIN_NOT_TRUSTED");
    assert.equal(record.detail, "sec-fetch-site is `cross-site`, origin `https://evil.test/``");
    assert.match(
      renderExplanation(denied, explainDecision(denied)),
      /^DENY \(403\) ORIGIN_NOT_TRUSTED: the caller is identified by a cookie.*sec-fetch-site is `cross-site`/,
    );
    const open = auditRecord(await decide({ ...asked, path: "/public/a" }), context, 1, false);
    assert.equal(open.decision, "ALLOW");
    assert.match(open.detail ?? "", /^the cookie is ignored: sec-fetch-site is `cross-site`/);
  });

  it("can be switched off", async () => {
    await expect("ALLOW CONDITION_TRUE", { headers: evil, check: false });
    const { identity } = await decide({ headers: evil, check: false, path: "/public/a" });
    assert.equal(identity?.userId, "u-7");
  });
});

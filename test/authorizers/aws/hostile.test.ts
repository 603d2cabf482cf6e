import assert from "node:assert/strict";
import { bearer, snapshotOf, useIssuer } from "../../decision/support.ts";
import { useServedDoors } from "../../decision/point/support/served-doors.ts";
import { cached, statusFor } from "./support/api-gateway.ts";
import { arnOf, askedArn, eventOf, FORMS, tokenEvent } from "./support/events.ts";
import { serveAws } from "./support/served-aws.ts";

const POLICIES = snapshotOf(`
policies:
  - { resource: "GET /a", condition: "true" }
  - { resource: "GET /b", condition: "true" }
  - { resource: "GET /files/{name}", condition: "true" }
  - { resource: "GET /all/**", condition: "true" }
  - { resource: "GET /q", condition: 'request.query.q == "1"' }
  - { resource: "GET /not", condition: 'not (request.query.q == "1")' }
  - { resource: "GET /none", condition: not exists(request.query.q) }
  - { resource: "GET /beta", condition: 'request.headers["x-beta"] == "on"' }
  - { resource: "GET /quiet", condition: 'not exists(request.headers["x-beta"])' }
  - { resource: "GET /list", condition: '"on" in request.headers["x-beta"]' }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "GET /plain", condition: 'request.protocol == "HTTP/1.1" and request.host != "x"' }
  - { resource: "GET /far", condition: 'request.client_ip != "10.0.0.1"' }
graphql_policies:
  - { query: me, condition: "true" }
graphql: { paths: [/graphql] }
`);

describe("authorizers: hostile requests through API Gateway", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);
  const world = { policies: POLICIES };

  describe("the authorizer's cache", () => {
    it("an allow that is used again for another path or method opens nothing", async () => {
      for (const form of FORMS) {
        const { ask } = serveAws(serve, {}, world);
        const stage = form === "http-2.0" ? "$default" : "test";
        const answer = cached(() => ask(eventOf(form, { target: "/a" })));
        const [own, other] = [arnOf("GET", "/a", stage), arnOf("GET", "/b", stage)];
        assert.equal(statusFor(await answer(), own), 200);
        assert.equal(statusFor(await answer(), other), 403);
        assert.equal(statusFor(await answer(), arnOf("POST", "/a", stage)), 403);
        assert.equal(statusFor(await answer(), arnOf("GET", "/a/b", stage)), 403);
        assert.equal(statusFor(await answer(), arnOf("GET", "/a", "other")), 403);
      }
    });

    it("without the operator's word nothing is permitted that could be kept", async () => {
      for (const [event, permitted] of [
        [eventOf("rest", { target: "/a" }), false],
        [tokenEvent("GET", "/a", "Bearer x"), false],
        [eventOf("http-1.0", { target: "/a", identitySource: "Bearer x" }), false],
        [eventOf("http-2.0", { target: "/a", identitySource: ["Bearer x"] }), false],
        [eventOf("http-1.0", { target: "/a" }), true],
        [eventOf("http-1.0", { target: "/a", change: { identitySource: undefined as never } }), false],
        [eventOf("http-2.0", { target: "/a" }), true],
        [eventOf("http-2.0", { target: "/a", identitySource: [] }), true],
      ] as const) {
        const { ask, recorded } = serveAws(serve, { uncached: false }, world);
        const arn = askedArn(event);
        const status = statusFor(await ask(event), arn);
        const [record] = await recorded();
        if (event["type"] === "TOKEN") assert.equal(record?.startsWith("DENY"), true);
        else assert.equal(record, permitted ? "ALLOW CONDITION_TRUE" : "DENY PLAN_NOT_ENFORCEABLE");
        assert.equal(status === 200, permitted, JSON.stringify(event));
      }
    });

    it("a simple response is for this request only, so it needs the same", async () => {
      const simple = { simpleResponses: true };
      const open = serveAws(serve, { ...simple, uncached: false }, world);
      const kept = eventOf("http-2.0", { target: "/a", identitySource: ["x"] });
      assert.equal((await open.ask(kept)).kind, "failure");
      assert.deepEqual(await open.recorded(), ["DENY PLAN_NOT_ENFORCEABLE"]);
      const stated = serveAws(serve, simple, world);
      assert.deepEqual(await stated.document(kept), { isAuthorized: true, context: {} });
      assert.equal((await stated.document(eventOf("http-2.0", { target: "/no" })))["isAuthorized"], false);
      // format 1.0 knows no simple responses
      const policy = await stated.document(eventOf("http-1.0", { target: "/a" }));
      assert.ok("policyDocument" in policy);
    });
  });

  it("wildcards in a path become none in a policy", async () => {
    for (const form of FORMS)
      for (const path of ["/files/*", "/all/x*/b", "/files/a%3Fb", "/all/${aws:username}"]) {
        const { ask, recorded } = serveAws(serve, {}, world);
        const answer = await ask(eventOf(form, { target: path }));
        const [record = ""] = await recorded();
        assert.equal(record.startsWith("ALLOW"), form !== "rest" && path.includes("%3F"), record);
        if (record.startsWith("DENY")) assert.notEqual(statusFor(answer, arnOf("GET", "/files/other")), 200);
      }
    const { ask, recorded } = serveAws(serve, {}, world);
    const anyStage = eventOf("rest", { target: "/a", change: { methodArn: arnOf("GET", "/a", "*") } });
    assert.notEqual(statusFor(await ask(anyStage), arnOf("GET", "/a")), 200);
    const long = `/all/${"x".repeat(500)}`;
    assert.notEqual(statusFor(await ask(eventOf("rest", { target: long })), arnOf("GET", long)), 200);
    assert.deepEqual(await recorded(), ["DENY PLAN_NOT_ENFORCEABLE", "DENY PLAN_NOT_ENFORCEABLE"]);
  });

  it("refuses an event whose parts contradict each other, or that lacks some", async () => {
    const rest = (change: Record<string, never> | object) =>
      eventOf("rest", { target: "/a?q=1", change: change as never });
    for (const event of [
      null,
      [],
      {},
      {
        ...tokenEvent("GET", "/a", "t"),
        methodArn: "arn:aws:execute-api:eu-central-1:123456789012:abc/test/$connect",
      },
      { ...tokenEvent("GET", "/a", "t"), authorizationToken: 1 },
      rest({ version: "3.0" }),
      rest({ type: "OTHER" }),
      rest({ methodArn: arnOf("GET", "/b") }),
      rest({ methodArn: arnOf("POST", "/a") }),
      rest({ path: "/prefix/a" }),
      // decoded, while the ARN has `%3F`
      rest({ path: "/q?q=1", methodArn: arnOf("GET", "/q%3Fq=1") }),
      rest({ multiValueHeaders: null }),
      rest({ multiValueHeaders: { host: "app.test" } }),
      rest({ multiValueQueryStringParameters: null }),
      rest({ requestContext: { stage: "test", protocol: "HTTP/1.1", identity: { sourceIp: "a, b" } } }),
      rest({ requestContext: {} }),
      eventOf("http-2.0", { target: "/a", change: { rawQueryString: null } }),
      eventOf("http-2.0", { target: "/a", change: { headers: { a: [] } } }),
    ]) {
      const { ask, recorded } = serveAws(serve, {}, world);
      assert.deepEqual(await ask(event as never), { kind: "failure", message: "no decision" });
      assert.deepEqual(await recorded(), ["DENY INTERNAL_ERROR"], JSON.stringify(event));
    }
  });

  const decide = async (event: ReturnType<typeof eventOf>, settings = {}) => {
    const { ask, recorded } = serveAws(serve, settings, world);
    await ask(event);
    return (await recorded()).join();
  };

  it("a header that format 2.0 has joined is unknown; elsewhere it is a list", async () => {
    const twice = [
      ["X-Beta", "on"],
      ["X-Beta", "off"],
    ] as const;
    for (const [path, rest, http2] of [
      ["/beta", "DENY CONDITION_UNKNOWN", "DENY CONDITION_UNKNOWN"],
      ["/quiet", "DENY CONDITION_FALSE", "DENY CONDITION_UNKNOWN"],
      ["/list", "ALLOW CONDITION_TRUE", "DENY CONDITION_UNKNOWN"],
      ["/a", "ALLOW CONDITION_TRUE", "ALLOW CONDITION_TRUE"],
    ] as const) {
      assert.equal(await decide(eventOf("rest", { target: path, headers: twice })), rest, path);
      assert.equal(await decide(eventOf("http-2.0", { target: path, headers: twice })), http2, path);
    }
    const accented = [["X-Beta", "\u00e9"]] as const;
    assert.equal(
      await decide(eventOf("rest", { target: "/quiet", headers: accented })),
      "DENY CONDITION_UNKNOWN",
    );
  });

  it("refuses two Authorization headers, joined or not", async () => {
    const headers = [bearer(await idp.token({ sub: "u-1" })), bearer(await idp.token({ sub: "u-2" }))];
    for (const form of FORMS)
      assert.equal(await decide(eventOf(form, { target: "/me", headers })), "DENY AMBIGUOUS_HEADERS", form);
    // two spellings are two members of the event
    const spelled = [headers[0], ["AUTHORIZATION", headers[1]?.[1] ?? ""]] as const;
    assert.equal(
      await decide(eventOf("rest", { target: "/me", headers: spelled as never })),
      "DENY AMBIGUOUS_HEADERS",
    );
  });

  it("a parameter that may still be encoded is unknown", async () => {
    for (const form of ["rest", "http-1.0"] as const)
      for (const [query, reason] of [
        ["q=1", "ALLOW CONDITION_TRUE"],
        ["q=%31", "ALLOW CONDITION_TRUE"],
        ["q=%2531", "DENY CONDITION_UNKNOWN"],
        ["q=1%2B", "DENY CONDITION_UNKNOWN"],
        ["other%2B=2&q=1", "DENY CONDITION_UNKNOWN"],
        ["q%2571=2&q=1", "DENY CONDITION_UNKNOWN"],
      ] as const) {
        assert.equal(await decide(eventOf(form, { target: `/q?${query}` })), reason, query);
        if (reason.endsWith("UNKNOWN"))
          assert.equal(await decide(eventOf(form, { target: `/not?${query}` })), reason, query);
      }
  });

  it("a query that API Gateway reads in another way than everybody is unknown", async () => {
    const bent = (change: object) =>
      decide(eventOf("http-2.0", { target: "/q?q=1", change: change as never }));
    assert.equal(await bent({}), "ALLOW CONDITION_TRUE");
    assert.equal(await bent({ queryStringParameters: { q: "2" } }), "DENY CONDITION_UNKNOWN");
    assert.equal(await bent({ queryStringParameters: { q: "1", r: "1" } }), "DENY CONDITION_UNKNOWN");
    assert.equal(await bent({ rawQueryString: "" }), "DENY CONDITION_UNKNOWN");
    const none = eventOf("http-2.0", { target: "/none", change: { queryStringParameters: { q: "1" } } });
    assert.equal(await decide(none), "DENY CONDITION_UNKNOWN");
  });

  it("an HTTP API permits nothing unless its integrations use the decoded path", async () => {
    for (const form of ["http-1.0", "http-2.0"] as const) {
      const event = eventOf(form, { target: "/a" });
      assert.equal(await decide(event, { decodedPaths: false }), "DENY PLAN_NOT_ENFORCEABLE");
    }
    assert.equal(
      await decide(eventOf("rest", { target: "/a" }), { decodedPaths: false }),
      "ALLOW CONDITION_TRUE",
    );
  });

  it("what a decoded path cannot be is refused", async () => {
    for (const [target, reason] of [
      ["/files/a%20b", "ALLOW CONDITION_TRUE"],
      ["/files/%C3%A9", "ALLOW CONDITION_TRUE"],
      ["/files/%252e%252e", "DENY AMBIGUOUS_PATH"],
      ["/all/%2e%2e/a", "DENY AMBIGUOUS_PATH"],
      ["/files/a%5Cb", "DENY AMBIGUOUS_PATH"],
      ["/files/a%00", "DENY AMBIGUOUS_PATH"],
      ["/files/a%23b", "DENY AMBIGUOUS_PATH"],
    ] as const)
      assert.equal(await decide(eventOf("http-2.0", { target })), reason, target);
    const replaced = eventOf("http-2.0", { target: "/files/x" });
    const broken = {
      ...replaced,
      rawPath: "/files/\uFFFD",
      routeArn: arnOf("GET", "/files/\uFFFD", "$default"),
    };
    assert.equal(await decide(broken), "DENY AMBIGUOUS_PATH");
  });

  it("a TOKEN authorizer is answered with a permit only if the operator states so, and knows little", async () => {
    const token = `Bearer ${await idp.token({ sub: "u-1" })}`;
    const about = (path: string, settings = {}) => decide(tokenEvent("GET", path, token), settings);
    assert.equal(await about("/me"), "ALLOW CONDITION_TRUE");
    assert.equal(await about("/me", { tokenAuthorizers: false }), "DENY PLAN_NOT_ENFORCEABLE");
    for (const path of ["/q", "/not", "/none", "/beta", "/quiet", "/plain", "/far", "/graphql"])
      assert.equal(await about(path), "DENY CONDITION_UNKNOWN", path);
    assert.equal(await about("/files/a%2fb"), "DENY AMBIGUOUS_PATH");
  });
});

import assert from "node:assert/strict";
import { DEFAULT_IDENTITY_HEADERS } from "../../../src/config/index.ts";
import { createForgedHeaders, withoutHeaders } from "../../../src/decision/headers/forged-headers.ts";
import { foldHeaderName } from "../../../src/request/index.ts";

const defaults = {
  names: Object.keys(DEFAULT_IDENTITY_HEADERS),
  prefixes: ["x-user-", "x-customer-"],
  accepted: [],
};
const namesOf = (names: readonly string[]) => names.map((name) => [name, "1"] as const);

describe("decision: forged headers", () => {
  const find = createForgedHeaders(defaults);

  const forged: Readonly<Record<string, readonly string[]>> = {
    "an identity header": [
      "x-user-id",
      "x.user.id",
      "x_user_id",
      "x-user_id",
      "x.user-id",
      "x--user--id",
      "xuserid",
      "x-userid",
      "xuser-id",
      "-x-user-id",
      ".x.user.id",
      "_x-user-id",
      "x-user-id-",
      "x~user~id",
      "x+user!id",
      "x-u-s-e-r-i-d",
      "x.user.permissions",
      "x.customer.id",
      "xcustomerid",
    ],
    "another name of its kind": [
      "x-user-customer-id",
      "x-user-anything",
      "x.user.foo",
      "x-user.foo",
      "x-user-",
      "x_user_foo",
      "xuser-foo",
      "x-customer-role",
      "x.customer.plan",
      "x-user-agent",
    ],
    "a header of the gateway in other dress": [
      "x.user.token",
      "xuser-token",
      "x.backend.url",
      "x_backend_url",
      "x.real.ip",
      "xreal-ip",
      "x-gatehouse-decision",
      "x.gatehouse.decision",
      "x_gatehouse_x",
    ],
    "a header of the proxy in other dress": [
      "x.envoy.retry-on",
      "x-envoy.original-path",
      "x-envoy--original-path",
      "x.forwarded.for",
      "x-forwarded.for",
      "x_forwarded_proto",
      "xforwarded-host",
      "true.client.ip",
      "cf_connecting_ip",
      "x~client~ip",
    ],
    "an identity header of another product": [
      "x-forwarded-user",
      "x.forwarded.user",
      "x-forwarded-email",
      "x-forwarded-groups",
      "x-forwarded-preferred-username",
      "x-forwarded-preferredusername",
      "x-forwarded-access-token",
      "x-auth-request-user",
      "x-auth-request-anything",
      "xauth-request-email",
      "remote-user",
      "remote.user",
      "remoteuser",
      "remote-groups",
      "x-remote-user",
      "x-remote-group",
      "x-remote-extra-scopes",
      "x-remote-uid",
      "x-webauth-user",
      "x~webauth~user",
      "x-webauth-role",
      "x_forwarded_user",
      "remote_user",
      "x-authelia-url",
      "x-amzn-oidc-data",
      "x-amzn-oidc-identity",
      "x-amzn-oidc-accesstoken",
      "x_amzn_oidc_data",
      "x-amzn-mtls-clientcert",
      "x-amzn-mtls-clientcert-subject",
      "x-goog-authenticated-user-email",
      "x-goog-iap-jwt-assertion",
      "x.goog.iap.jwt.assertion",
      "x-appengine-user-email",
      "x-endpoint-api-userinfo",
      "x-apigateway-api-userinfo",
      "x-ms-client-principal",
      "x-ms-client-principal-id",
      "x-ms-token-aad-id-token",
      "x-arr-clientcert",
      "cf-access-jwt-assertion",
      "cf-access-authenticated-user-email",
      "cf_access_jwt_assertion",
      "cfaccess-jwt-assertion",
      "c.f-access-jwt-assertion",
      "x-pomerium-claim-email",
      "x-pomerium-jwt-assertion",
      "x-authentik-username",
      "x-vouch-user",
      "tailscale-user-login",
      "x-tailscale-user",
      "x-consumer-username",
      "x-authenticated-userid",
      "x-credential-identifier",
      "x-auth-subject",
      "oidc_claim_sub",
      "oidc-access-token",
      "shib-identity-provider",
      "sm_user",
      "iv-user",
      "iv-user-l",
      "oam_remote_user",
      "client-cert",
      "client-cert-chain",
      "ssl-client-subject-dn",
      "ssl_client_s_dn",
      "x-ssl-client-verify",
      "x-ssl-cert",
      "x-client-cert",
      "x-client-cert-dn",
      "x-forwarded-tls-client-cert",
      "x-forwarded-tls-client-cert-info",
      "x-client-dn",
      "x-client-verify",
      "x-access-token",
      "x_access_token",
      "x-id-token",
      "x-userinfo",
      "x-jwt-assertion",
      "x-jwt-claim-sub",
      "x.jwt.payload",
      "x-auth-user",
      "x-auth-couchdb-roles",
      "x-hasura-user-id",
      "x-hasura-admin-secret",
      "impersonate-user",
      "impersonate-group",
      "impersonate-extra-scopes",
      "impersonate_user",
      "x-grafana-id",
      "x-grafana-user",
      "x-scope-orgid",
      "x-scope-org-id",
      "es-security-runas-user",
      "x-proxy-roles",
      "x-forwarded-login",
    ],
    "a path that was asked for, they say": ["x-original-uri", "x.original.uri", "xoriginaluri"],
    "what describes a request, in other dress": [
      "x_original_request",
      "x.original.address",
      "x_original-connection",
      "xoriginalupgrade",
      "x_original_protocol",
      "x_original_host",
      "x_original_scheme",
    ],
    "an override in other dress": [
      "x.original.url",
      "x_original_url",
      "xoriginalurl",
      "x.rewrite.url",
      "x.http.method.override",
      "x-http-methodoverride",
      "x.method.override",
    ],
  };
  for (const [what, names] of Object.entries(forged)) {
    for (const name of names) {
      it(`finds ${what}: ${name}`, () => {
        assert.deepEqual(find(namesOf(["accept", name, "x-request-id"])), [name]);
      });
    }
  }

  const fair = [
    "accept",
    "authorization",
    "cookie",
    "user-agent",
    "user-id",
    "x-api-key",
    "x-request-id",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-prefix",
    "x-forwarded-user-agent",
    "remote-users",
    "referer",
    "x-envoy-external-address",
    "x-my-user-id",
    "x-custom",
    "x-csrf-token",
    // of the same makers, and no identity; or a client's own credentials
    "cf-connecting-ip",
    "cf-ray",
    "x-amzn-trace-id",
    "x-amz-date",
    "x-goog-api-key",
    "x-ms-request-id",
    "x-auth-token",
    "x-auth-key",
    "hasura-client-name",
    "x-grafana-org-id",
    "x-client-id",
    "x-client-version",
    "client-id",
    "if-none-match",
    "content-type",
    "te",
    "a",
    "traceparent",
    // read, and then removed or refused, elsewhere
    "x-user-token",
    "x-backend-url",
    "x-real-ip",
    "x-original-url",
    "x-rewrite-url",
    "x-http-method-override",
    "x-original-request",
    "x-original-address",
    "x-original-connection",
    "x-original-upgrade",
  ];
  it("finds nothing among the usual ones, and makes nothing for it", () => {
    assert.deepEqual(find(namesOf(fair)), []);
    assert.equal(find(namesOf(fair)), find([]));
  });

  it("finds what only Envoy may say, where no Envoy has removed a client's", () => {
    const names = ["x-envoy-internal", "x-envoy-original-path", "x-envoy-original-host"];
    for (const name of names) {
      assert.deepEqual(find(namesOf([name]), false), [name]);
      assert.deepEqual(find(namesOf([name]), true), []);
      const findOthers = createForgedHeaders({ ...defaults, accepted: [name] });
      assert.deepEqual(findOthers(namesOf([name]), false), []);
    }
    // an Envoy between client and proxy adds these to every request
    assert.deepEqual(find(namesOf(["x-envoy-attempt-count", "x-envoy-expected-rq-timeout-ms"]), false), []);
  });

  it("names each once, as often as it was sent", () => {
    assert.deepEqual(find(namesOf(["x.user.id", "x-user-plan", "x.user.id"])), ["x.user.id", "x-user-plan"]);
  });

  it("finds them however many names were made up before", () => {
    for (let index = 0; index < 3000; index += 1) {
      const name = `x-${index % 2 === 0 ? "user" : "other"}-${index}`;
      assert.equal(find(namesOf([name])).length, index % 2 === 0 ? 1 : 0);
    }
    assert.deepEqual(find(namesOf(["x.user.id", `x.user.${"a".repeat(100)}`, "x-api-key"])).length, 2);
  });

  it("lets those pass that the application needs from its clients, spelled exactly so", () => {
    const findOthers = createForgedHeaders({ ...defaults, accepted: ["x-user-agent", "x-user-id"] });
    assert.deepEqual(findOthers(namesOf(["x-user-agent"])), []);
    const foreign = [
      ...["x-forwarded-user", "remote-user", "x-auth-request-user", "x-original-uri"],
      ...["cf-access-jwt-assertion", "x-amzn-oidc-data", "x-ms-client-principal"],
      ...["x-hasura-role", "x-access-token", "impersonate-user"],
    ];
    const findNone = createForgedHeaders({ ...defaults, accepted: foreign });
    assert.deepEqual(findNone(namesOf(foreign)), []);
    assert.deepEqual(findNone(namesOf(["x.forwarded.user", "remote-name"])), [
      "x.forwarded.user",
      "remote-name",
    ]);
    assert.deepEqual(findNone(namesOf(["cf_access_jwt_assertion"])), ["cf_access_jwt_assertion"]);
    // an identity header never
    const names = ["x.user.agent", "x-useragent", "x-user-agents", "x-user-id"];
    assert.deepEqual(findOthers(namesOf(names)), names);
  });

  it("goes by the names and prefixes that are configured", () => {
    const configured = createForgedHeaders({ names: ["remote-user"], prefixes: ["acme-"], accepted: [] });
    const names = ["remote-user", "remote.user", "remoteuser", "acme-x", "acme.x"];
    assert.deepEqual(configured(namesOf(names)), names);
    assert.deepEqual(configured(namesOf(["x-user-id", "remote-users", "x-acme-id"])), []);
    const short = createForgedHeaders({ names: [], prefixes: ["q-"], accepted: [] });
    assert.deepEqual(short(namesOf(["q-x", "qx", "q", "q1", "x-q"])), ["q-x", "qx", "q", "q1"]);
    const none = createForgedHeaders({ names: ["x-user-id"], prefixes: [], accepted: [] });
    assert.deepEqual(none(namesOf(["x-user-plan", "x.user.id"])), ["x.user.id"]);
  });

  it("takes them out of the request that rules see, and leaves all else", () => {
    const request = {
      method: "GET",
      target: "/a",
      scheme: "http",
      host: "a.test",
      protocol: "HTTP/2",
      headers: [...namesOf(["accept", "x.user.id", "x-user-plan"]), ["accept", "2"] as const],
    };
    assert.equal(withoutHeaders(request, []), request);
    assert.deepEqual(withoutHeaders(request, ["x.user.id", "x-user-plan"]), {
      ...request,
      removed: ["x.user.id", "x-user-plan"],
      headers: [
        ["accept", "1"],
        ["accept", "2"],
      ],
    });
  });
});

describe("request: folded header names", () => {
  const folded: readonly (readonly [string, string])[] = [
    ["x-user-id", "xuserid"],
    ["X.User_ID", "xuserid"],
    ["--x--", "x"],
    ["accept", "accept"],
    ["ACCEPT", "accept"],
    ["x2-Y", "x2y"],
    ["-", ""],
    ["", ""],
  ];
  for (const [name, expected] of folded)
    it(`${JSON.stringify(name)} is ${JSON.stringify(expected)}`, () => {
      assert.equal(foldHeaderName(name), expected);
    });
});

import assert from "node:assert/strict";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../../support/upstreams/answering-upstream.ts";
import { startOpenIdProvider, type OpenIdProvider } from "../../../support/providers/openid-provider.ts";
import { refusal, startManagement, type Management } from "../../support/management.ts";

const SECRET = "the client's secret: 4711";

describe("the discovery document of a customer's identity provider", () => {
  let api: Management;
  let provider: OpenIdProvider;
  let upstream: AnsweringUpstream;
  before(async () => {
    [api, provider, upstream] = await Promise.all([
      startManagement(),
      startOpenIdProvider(),
      startAnsweringUpstream(),
    ]);
  });
  after(() => Promise.all([api.close(), provider.close(), upstream.close()]));
  beforeEach(() => {
    api.forget();
    upstream.seen.length = 0;
  });

  const body = (more: object = {}) => ({
    type: "oidc",
    domain: provider.issuer,
    client_id: "gatehouse",
    client_secret: SECRET,
    scopes: ["openid", "profile", "email", "groups"],
    ...more,
  });
  const configure = (id: string, more: object = {}, options: object = {}) =>
    api.request("POST", `/customers/${id}/idp`, { body: body(more), ...options });

  const document = (more: object = {}) => ({
    issuer: upstream.url,
    authorization_endpoint: `${upstream.url}/authorize`,
    token_endpoint: `${upstream.url}/token`,
    jwks_uri: `${upstream.url}/jwks`,
    ...more,
  });
  /** A provider that answers this. */
  const serve = (status: number, text: string, headers: Record<string, string> = {}) => {
    upstream.answer = (_request, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
    };
  };
  const failures: readonly (readonly [what: string, serve: () => void, reason: string])[] = [
    [
      "404",
      () => {
        serve(404, JSON.stringify(document()));
      },
      "no_discovery_document",
    ],
    [
      "500",
      () => {
        serve(500, "{}");
      },
      "no_discovery_document",
    ],
    [
      "HTML",
      () => {
        serve(200, "<html>");
      },
      "no_discovery_document",
    ],
    [
      "a text",
      () => {
        serve(200, '"issuer"');
      },
      "no_discovery_document",
    ],
    [
      "null",
      () => {
        serve(200, "null");
      },
      "no_discovery_document",
    ],
    [
      "no endpoints",
      () => {
        serve(200, JSON.stringify({ issuer: upstream.url }));
      },
      "no_discovery_document",
    ],
    [
      "no issuer",
      () => {
        serve(200, JSON.stringify(document({ issuer: undefined })));
      },
      "no_discovery_document",
    ],
    [
      "a redirect",
      () => {
        serve(302, "", { location: `${provider.issuer}/.well-known/openid-configuration` });
      },
      "no_discovery_document",
    ],
    [
      "another issuer",
      () => {
        serve(200, JSON.stringify(document({ issuer: provider.issuer })));
      },
      "issuer_mismatch",
    ],
    [
      "a slash more",
      () => {
        serve(200, JSON.stringify(document({ issuer: `${upstream.url}/` })));
      },
      "issuer_mismatch",
    ],
    [
      "a script as endpoint",
      () => {
        serve(200, JSON.stringify(document({ authorization_endpoint: "javascript:alert(1)" })));
      },
      "endpoint_not_allowed",
    ],
    [
      "no code flow",
      () => {
        serve(200, JSON.stringify(document({ response_types_supported: ["id_token"] })));
      },
      "code_flow_not_supported",
    ],
    [
      "no S256",
      () => {
        serve(200, JSON.stringify(document({ code_challenge_methods_supported: ["plain"] })));
      },
      "pkce_not_supported",
    ],
    [
      "10 MB",
      () => {
        serve(200, JSON.stringify(document({ more: "x".repeat(10_000_000) })));
      },
      "unreachable",
    ],
    [
      "nothing",
      () => {
        upstream.answer = () => undefined;
      },
      "timeout",
    ],
    [
      "half an answer",
      () => {
        upstream.answer = (_request, response) => {
          response.writeHead(200).write('{"issuer":');
        };
      },
      "timeout",
    ],
    [
      "a closed connection",
      () => {
        upstream.answer = (_request, response) => {
          response.destroy();
        };
      },
      "unreachable",
    ],
  ];
  for (const [what, answerWith, reason] of failures) {
    it(`is not confirmed by ${what}`, async () => {
      answerWith();
      const { id } = await api.customer();
      const answer = await configure(id, { domain: upstream.url });
      assert.deepEqual(refusal(answer), [422, "IDP_UNREACHABLE"]);
      assert.equal(answer.body.error.details.reason, reason);
      assert.equal(answer.body.error.details.issuer, upstream.url);
    });
  }

  it("is compared with what the provider writes, with Auth0's slash", async () => {
    serve(200, JSON.stringify(document({ issuer: `${upstream.url}/` })));
    const { id } = await api.customer();
    const answer = await configure(id, { type: "auth0", domain: upstream.url });
    assert.equal(answer.body.data?.issuer, `${upstream.url}/`);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ["/.well-known/openid-configuration"],
    );
    serve(200, JSON.stringify(document()));
    assert.deepEqual(refusal(await configure(id, { type: "auth0", domain: upstream.url })), [
      422,
      "IDP_UNREACHABLE",
    ]);
  });

  it("is asked for below the issuer's path, and gets neither secret nor key", async () => {
    const issuer = `${upstream.url}/realms/staff`;
    serve(200, JSON.stringify(document({ issuer, code_challenge_methods_supported: ["plain", "S256"] })));
    const { id } = await api.customer();
    const answer = await configure(id, { type: "keycloak", domain: upstream.url, realm: "staff" });
    assert.deepEqual(
      [answer.status, answer.body.data?.issuer, answer.body.data?.realm],
      [201, issuer, "staff"],
    );
    const [seen] = upstream.seen;
    assert.equal(seen?.url, "/realms/staff/.well-known/openid-configuration");
    assert.ok(!JSON.stringify(seen.headers).includes("4711"));
    assert.equal(seen.headers.authorization, undefined);
  });

  it("is not looked for at private addresses in production", async () => {
    const strict = await startManagement({ settings: { allowInsecureIssuers: false } });
    try {
      const { id } = await strict.customer();
      const path = `/customers/${id}/idp`;
      const { port } = new URL(upstream.url);
      serve(200, JSON.stringify(document()));
      for (const [domain, ...expected] of [
        [upstream.url, 422, "VALIDATION_FAILED", "domain"],
        [`127.0.0.1:${port}`, 422, "IDP_UNREACHABLE"],
        [`[::1]:${port}`, 422, "IDP_UNREACHABLE"],
        [`[::ffff:7f00:1]:${port}`, 422, "IDP_UNREACHABLE"],
        ["169.254.169.254", 422, "IDP_UNREACHABLE"],
        ["10.0.0.1", 422, "IDP_UNREACHABLE"],
        [`localhost:${port}`, 422, "IDP_UNREACHABLE"],
      ] as const) {
        const answer = await strict.request("POST", path, { body: body({ domain }) });
        assert.deepEqual(refusal(answer), expected, domain);
        if (expected[1] === "IDP_UNREACHABLE")
          assert.equal(answer.body.error.details.reason, "address_not_allowed", domain);
      }
      assert.deepEqual(upstream.seen, []);
    } finally {
      await strict.close();
    }
  });

  it("holds up no other request while a provider is slow", async () => {
    const [slow, other] = [await api.customer(), await api.customer()];
    let release: () => void = () => assert.fail("nothing was asked");
    const asked = new Promise<void>((resolve) => {
      upstream.answer = (_request, response) => {
        release = () => {
          response.end(JSON.stringify(document()));
        };
        resolve();
      };
    });
    const waiting = configure(slow.id, { domain: upstream.url });
    await asked;
    const meanwhile = await api.request("PUT", `/customers/${slow.id}`, { body: { name: "Changed" } });
    assert.equal(meanwhile.status, 200);
    assert.equal((await configure(other.id)).status, 201);
    release();
    assert.equal((await waiting).status, 201);
  });

  describe("and what policies ask for", () => {
    const SILENT = { claims_supported: ["sub"], acr_values_supported: ["urn:1fa"] };
    const configureWith = async (id: string, metadata: object, more: object = {}) => {
      serve(200, JSON.stringify(document(metadata)));
      const answer = await configure(id, { domain: upstream.url, ...more });
      assert.ok(answer.status < 300, answer.text);
      return answer;
    };
    const codes = ({ body }: { readonly body: { warnings?: readonly { code: string }[] } }) =>
      body.warnings?.map(({ code }) => code);
    const BOTH = ["MFA_NOT_ANNOUNCED", "AUTH_TIME_NOT_ANNOUNCED"];
    const conditions = { mfa_required: true, max_session_duration: 600 };
    const assign = (id: string, ...policy_ids: string[]) =>
      api.request("POST", `/customers/${id}/policies`, { body: { policy_ids } });

    it("warns of what the provider does not announce, and does it all the same", async () => {
      const { id } = await api.customer();
      const policy = await api.policy({ conditions });
      const domains = await api.policy({ conditions: { allowed_email_domains: ["a.example"] } });
      // nobody can sign in yet: there is nothing to warn of
      assert.equal((await assign(id, domains.id, policy.id)).body.warnings, undefined);
      const configured = await configureWith(id, SILENT);
      assert.deepEqual(codes(configured), BOTH);
      assert.deepEqual(
        configured.body.warnings.map(({ policy_id }: { policy_id: string }) => policy_id),
        [policy.id, policy.id],
      );
      assert.ok(configured.body.warnings.every(({ message }: { message: string }) => message.length > 0));
      assert.deepEqual(codes(await assign(id, policy.id)), BOTH);
      // of what this request assigns
      assert.equal((await assign(id, domains.id)).body.warnings, undefined);
      const other = await api.customer();
      await configureWith(other.id, SILENT);
      await assign(other.id, policy.id);
      const changed = await api.request("PUT", `/policies/${policy.id}`, { body: { name: "New" } });
      assert.deepEqual(
        changed.body.warnings.map(({ code, policy_id, customers }: Record<string, unknown>) => [
          ...[code, policy_id, customers],
        ]),
        BOTH.map((code) => [code, policy.id, 2]),
      );
      const put = async (body: object) => codes(await api.request("PUT", `/policies/${policy.id}`, { body }));
      assert.deepEqual(await put({ conditions: { mfa_required: true } }), ["MFA_NOT_ANNOUNCED"]);
      assert.equal(await put({ status: "inactive" }), undefined);
      const kept = await assign(id, policy.id);
      assert.deepEqual([kept.status, kept.body.warnings], [200, undefined]);
    });

    const known: readonly (readonly [
      metadata: object,
      more: object,
      codes: readonly string[] | undefined,
    ])[] = [
      [SILENT, {}, BOTH],
      [{ ...SILENT, claims_supported: ["amr", "auth_time"] }, {}, undefined],
      [{ ...SILENT, claims_supported: ["auth_time"] }, {}, ["MFA_NOT_ANNOUNCED"]],
      [SILENT, { mfa_acr_values: ["urn:1fa"] }, ["AUTH_TIME_NOT_ANNOUNCED"]],
      [SILENT, { mfa_acr_values: ["urn:2fa"] }, BOTH],
      // which classes it knows is not told
      [{ claims_supported: ["auth_time"] }, { mfa_acr_values: ["urn:2fa"] }, undefined],
      [{ claims_supported: ["auth_time"] }, { type: "okta" }, undefined],
      // nor is anything else, or nothing that can be read
      [{}, {}, undefined],
      [{ claims_supported: "amr", acr_values_supported: 7, prompt_values_supported: null }, {}, undefined],
    ];
    for (const [metadata, more, expected] of known)
      it(`takes ${JSON.stringify(metadata)} with ${JSON.stringify(more)} for ${expected?.join(", ") ?? "enough"}`, async () => {
        const { id } = await api.customer();
        await assign(id, (await api.policy({ conditions })).id);
        assert.deepEqual(codes(await configureWith(id, metadata, more)), expected);
        // a provider that was not asked says nothing
        const unasked = await configure(id, { domain: upstream.url, verify: false, ...more });
        assert.equal(unasked.body.warnings, undefined);
      });
  });
});

import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import {
  POLICIES,
  SDL,
  startGraphqlApplication,
  type GraphqlApplication,
} from "../../support/upstreams/graphql-application.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";

/** A GraphQL multipart request (github.com/jaydenseric/graphql-multipart-request-spec). */
function upload(query: string, map = '{"0":["variables.file"]}'): RequestInit {
  const form = new FormData();
  form.set("operations", JSON.stringify({ query, variables: { file: null } }));
  form.set("map", map);
  form.set("0", new File(["hello"], "hello.txt"));
  return { method: "POST", body: form };
}

interface Answer {
  readonly status: number;
  readonly body: {
    data?: unknown;
    errors?: readonly { message: string; path?: readonly string[]; extensions?: { code?: string } }[];
  };
}

describe("end to end: GraphQL", () => {
  let application: GraphqlApplication;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [application, issuer] = await Promise.all([startGraphqlApplication(), startIssuer()]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
    });
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await application.close();
  });

  const VIEWER = { role: "viewer", customer_id: "c-1" };
  const ADMIN = { role: "admin", customer_id: "c-1" };

  async function send(
    path: string,
    init: RequestInit,
    claims: Record<string, unknown> = VIEWER,
  ): Promise<Answer> {
    const authorization = `Bearer ${await issuer.token(claims)}`;
    const response = await fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization },
    });
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  }
  const post = (payload: unknown, claims?: Record<string, unknown>) =>
    send(
      "/graphql",
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: typeof payload === "string" ? payload : JSON.stringify(payload),
      },
      claims,
    );

  it("lets operations through whose fields are all permitted", async () => {
    const { status, body } = await post({
      query: '{ customer(id: "c-1") { id name } me { id } __typename }',
    });
    assert.equal(status, 200);
    assert.deepEqual(body.data, {
      customer: { id: "c-1", name: "Ada" },
      me: { id: "c-1" },
      __typename: "Query",
    });
    const admin = await post({ query: '{ customer(id: "c-2") { ssn } }' }, ADMIN);
    assert.deepEqual(admin.body.data, { customer: { ssn: "222-22-2222" } });
  });

  it("says which fields are denied, in GraphQL's shape", async () => {
    const before = application.operations();
    const { status, body } = await post({
      query: '{ customer(id: "c-1") { name ssn } other: customer(id: "c-2") { id } }',
    });
    assert.equal(status, 403);
    assert.deepEqual(
      body.errors?.map(({ path, extensions }) => [path?.join("."), extensions?.code]),
      [
        ["customer.ssn", "ACCESS_DENIED"],
        ["other", "ACCESS_DENIED"],
      ],
    );
    assert.equal(application.operations(), before, "the application was not asked");
    assert.equal(
      (
        await fetch(`${gateway.url}/graphql`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: '{"query":"{me{id}}"}',
        })
      ).status,
      401,
    );
  });

  it("evaluates operations below a mount, in every letter case", async () => {
    const secret = { query: '{ customer(id: "c-1") { ssn } }' };
    const open = { query: '{ customer(id: "c-1") { name } }' };
    const to = (path: string, payload: object) =>
      send(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(payload),
      });
    for (const path of ["/mounted", "/mounted/x", "/mounted/x/Y"]) {
      const { status, body } = await to(path, secret);
      assert.equal(status, 403, path);
      assert.deepEqual(body.errors?.[0]?.path, ["customer", "ssn"]);
      const allowed = await to(path, open);
      assert.deepEqual(allowed.body.data, { customer: { name: "Ada" } }, path);
    }
    for (const path of ["/MOUNTED", "/Mounted/x"]) assert.equal((await to(path, secret)).status, 400, path);
    assert.equal((await send(`/mounted/x?query=${encodeURIComponent(secret.query)}`, {})).status, 403);
  });

  it("nulls fields of rules that say so, and says that it did", async () => {
    const { status, body } = await post({ query: '{ c: customer(id: "c-1") { id n: notes } me { notes } }' });
    assert.equal(status, 200);
    assert.deepEqual(body.data, { c: { id: "c-1", n: null }, me: { notes: null } });
    assert.deepEqual(
      body.errors?.map(({ path, extensions }) => [path?.join("."), extensions?.code]),
      [
        ["c.n", "ACCESS_DENIED"],
        ["me.notes", "ACCESS_DENIED"],
      ],
    );
    const admin = await post({ query: "{ me { notes } }" }, ADMIN);
    assert.deepEqual(admin.body, { data: { me: { notes: "private" } } });
  });

  it("delivers nothing that an application has outside of `data`, where fields are nulled or masked", async () => {
    const authorization = `Bearer ${await issuer.token(VIEWER)}`;
    const scripted = async (query: string, type: string, answer: string) => {
      const headers = {
        ...{ authorization, "content-type": "application/json" },
        ...{ "x-scripted-type": type, "x-scripted-body": encodeURIComponent(answer) },
      };
      const init = { method: "POST", headers, body: JSON.stringify({ query }) };
      const response = await fetch(`${gateway.url}/mounted/scripted`, init);
      return { status: response.status, text: await response.text() };
    };
    const result = '{"data":{"me":{"id":"1"}},"extensions":{}}';
    for (const [field, isNulled] of [
      ["notes", true],
      ["name", false],
    ] as const) {
      const query = `query @live { me { id ${field} } }`;
      for (const part of [
        `{"patch":[{"op":"replace","path":"/me/${field}","value":"SECRET"}],"revision":2}`,
        `{"incremental":[{"path":["me"],"data":{"${field}":"SECRET"}}],"hasNext":false}`,
        `{"id":"1","payload":{"data":{"me":{"${field}":"SECRET"}}}}`,
      ]) {
        const events = await scripted(query, "text/event-stream", `data: ${part}\n\ndata: ${result}\n\n`);
        assert.equal(events.status, 200);
        assert.match(events.text, /"extensions"/, "a result");
        assert.doesNotMatch(events.text, /SECRET/, part);
        const lines = await scripted(query, "application/x-ndjson", `${part}\n${result}\n`);
        assert.equal(lines.status, isNulled ? 502 : 200);
        assert.doesNotMatch(lines.text, /SECRET/, part);
        const whole = await scripted(query, "application/json", part);
        assert.equal(whole.status, 502);
        assert.doesNotMatch(whole.text, /SECRET/, part);
      }
      assert.equal((await scripted(query, "application/json", result)).status, 200);
    }
  });

  describe("is not got round by", () => {
    const denied: readonly [string, unknown][] = [
      ["the plain query", { query: "{ me { ssn } }" }],
      ["an alias", { query: "{ me { id: ssn } }" }],
      ["an alias of the root", { query: 'query { me: customer(id: "c-2") { id } }' }],
      ["a fragment", { query: "{ me { ...F } } fragment F on Customer { ssn }" }],
      ["a fragment on an interface", { query: '{ node(id: "c-1") { ... on Customer { ssn } } }' }],
      ["an inline fragment on an interface", { query: "{ me { ... on Node { ... on Customer { ssn } } } }" }],
      [
        "a directive with a variable",
        { query: "query ($v: Boolean!) { me { id ssn @include(if: $v) } }", variables: { v: true } },
      ],
      [
        "a directive that leaves it out",
        { query: "query ($v: Boolean!) { me { id ssn @skip(if: $v) } }", variables: { v: true } },
      ],
      ["a second operation", { query: "query A { me { id } } query B { me { ssn } }", operationName: "A" }],
      ["another operation's name", { query: "query B { me { ssn } }", operationName: "B" }],
      ["introspection beside it", { query: "{ __schema { types { name } } me { ssn } }" }],
      ["introspection", { query: "{ __schema { types { name } } }" }],
      ["an operation's label", { query: 'query me { customer(id: "c-2") { id } }' }],
      ["a variable", { query: "query ($id: ID!) { customer(id: $id) { id } }", variables: { id: "c-2" } }],
      ["a variable's default", { query: 'query ($id: ID! = "c-2") { customer(id: $id) { id } }' }],
      ["a mutation's result", { query: 'mutation { rename(id: "c-1", name: "x") { ssn } }' }],
    ];
    for (const [name, payload] of denied) {
      it(name, async () => {
        const before = application.operations();
        const { status } = await post(payload);
        assert.equal(status, 403);
        assert.equal(application.operations(), before);
      });
    }

    it("a batch", async () => {
      const { status } = await post([{ query: "{ me { id } }" }, { query: "{ me { ssn } }" }]);
      assert.equal(status, 403);
      assert.equal((await post([{ query: "{ me { id } }" }, { query: "{ me { name } }" }])).status, 200);
    });

    it("a duplicate member", async () => {
      for (const body of [
        '{"query":"{ me { id } }","query":"{ me { ssn } }"}',
        '{"query":"{ me { ssn } }","query":"{ me { id } }"}',
        '{"query":"{ me { id } }","\\u0071uery":"{ me { ssn } }"}',
      ]) {
        const before = application.operations();
        assert.equal((await post(body)).status, 400);
        assert.equal(application.operations(), before);
      }
    });

    it("GET after POST", async () => {
      const get = (query: string) => send(`/graphql?query=${encodeURIComponent(query)}`, {});
      assert.equal((await get("{ me { id } }")).status, 200);
      assert.equal((await get("{ me { ssn } }")).status, 403);
      assert.ok((await get('mutation { rename(id: "c-1", name: "x") { id } }')).status >= 400);
    });

    it("parameters beside a body, other media types, hashes, and other methods", async () => {
      const json = { "content-type": "application/json" };
      const query = encodeURIComponent("{ me { ssn } }");
      const attempts: readonly [string, RequestInit][] = [
        [`/graphql?query=${query}`, { method: "POST", headers: json, body: '{"query":"{ me { id } }"}' }],
        [
          "/graphql",
          { method: "POST", headers: { "content-type": "application/graphql" }, body: "{ me { ssn } }" },
        ],
        [
          "/graphql",
          {
            method: "POST",
            headers: { "content-type": "application/x-www-form-urlencoded" },
            body: `query=${query}`,
          },
        ],
        [
          "/graphql",
          { method: "POST", headers: { "content-type": "text/plain" }, body: '{"query":"{ me { ssn } }"}' },
        ],
        [
          "/graphql",
          {
            method: "POST",
            headers: json,
            body: '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}',
          },
        ],
        ["/graphql", { method: "POST", headers: json, body: '{"id":"x"}' }],
        ["/graphql", { method: "PUT", headers: json, body: '{"query":"{ me { ssn } }"}' }],
        ["/graphql", { method: "POST", headers: json, body: "" }],
        ["/graphql", upload("{ me { id } }")],
      ];
      for (const [path, init] of attempts) {
        const before = application.operations();
        const { status } = await send(path, init);
        assert.ok(status === 400 || status === 403, `${path} ${JSON.stringify(init)}: ${status}`);
        assert.equal(application.operations(), before);
      }
    });

    it("uploads, where the set allows them", async () => {
      await gateway.writePolicies({
        "default.yaml": POLICIES.replace("schema: api.graphql", "schema: api.graphql, multipart: allow"),
      });
      await eventually(
        "the new set",
        async () => (await send("/graphql", upload("{ me { id } }"))).status === 200,
      );
      const before = application.operations();
      assert.equal((await send("/graphql", upload("{ me { ssn } }"))).status, 403);
      // the map may point into variables only
      assert.equal((await send("/graphql", upload("{ me { id } }", '{"0":["query"]}'))).status, 400);
      assert.equal(application.operations(), before);
      await gateway.writePolicies({ "default.yaml": POLICIES });
      await eventually(
        "the old set",
        async () => (await send("/graphql", upload("{ me { id } }"))).status === 400,
      );
    });

    it("too much of everything", async () => {
      const deep = `{ me ${"{ friend ".repeat(20)}{ id } ${"}".repeat(20)} }`;
      const aliases = `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: me { id }`).join(" ")} }`;
      const tokens = `{ me { ${"id ".repeat(6000)} } }`;
      for (const query of [deep, aliases, tokens]) {
        const { status, body } = await post({ query });
        assert.equal(status, 400);
        assert.equal(body.errors?.[0]?.extensions?.code, "GRAPHQL_LIMIT_EXCEEDED");
      }
    });
  });
});

import assert from "node:assert/strict";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { eventually } from "../support/eventually.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { FORBIDDEN, hashOf, SDL, startGraphqlServers } from "./support/graphql-servers.ts";

const POLICIES = `
graphql:
  schema: api.graphql
  paths: [/graphql, /yoga]
policies:
  - { resource: "* /yoga", condition: exists(user.id) }
graphql_policies:
  - { query: me, condition: exists(user.id) }
`;

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

describe("clients: GraphQL without a list of documents, and the server's page", function () {
  this.timeout(180_000);
  let servers: Awaited<ReturnType<typeof startGraphqlServers>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let authorization: string;

  before(async () => {
    [servers, issuer] = await Promise.all([startGraphqlServers(), startIssuer()]);
    gateway = await startGateway({
      backend: servers.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
    });
    authorization = `Bearer ${await issuer.token({ customer_id: "c-1" })}`;
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await servers.close();
  });
  beforeEach(() => {
    servers.executed.length = 0;
  });

  /** As `fetch` would, but GET may have a body. */
  const send = async (path: string, { method = "GET", headers = {}, body = "" }: Sent = {}) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = request(`${gateway.url}${path}`, {
        method,
        agent: false,
        headers: {
          authorization,
          accept: "text/html",
          ...(body !== "" && { "content-length": String(Buffer.byteLength(body)) }),
          ...headers,
        },
      });
      call.on("response", resolve);
      call.on("error", reject);
      call.end(body);
    });
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };

  it("Apollo Client's automatic persisted queries: the hash is refused once, and it sends documents from then on", async () => {
    const exchanges: { readonly body: string; readonly status: number; readonly answer: string }[] = [];
    const http = new HttpLink({
      uri: `${gateway.url}/graphql`,
      headers: { authorization },
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        exchanges.push({
          body: typeof init?.body === "string" ? init.body : "",
          status: answer.status,
          answer: await answer.clone().text(),
        });
        return answer;
      },
    });
    const apollo = new ApolloClient({
      link: new PersistedQueryLink({ sha256: hashOf }).concat(http),
      cache: new InMemoryCache(),
      defaultOptions: { query: { fetchPolicy: "no-cache" } },
    });
    for (const document of ["query One { me { id } }", "query Two { me { name } }"])
      assert.ok((await apollo.query({ query: gql(document) })).data);
    apollo.stop();

    const isHash = exchanges.map(({ body }) => body.includes("sha256Hash"));
    const hasDocument = exchanges.map(({ body }) => body.includes('"query":'));
    assert.deepEqual(
      [isHash, hasDocument],
      [
        [true, false, false],
        [false, true, true],
      ],
    );
    const [refused] = exchanges;
    assert.equal(refused?.status, 400);
    const { errors } = JSON.parse(refused.answer) as {
      errors: { message: string; extensions: { code: string } }[];
    };
    assert.deepEqual(
      errors.map(({ message, extensions: { code } }) => [message, code]),
      [["PersistedQueryNotSupported", "PERSISTED_QUERY_NOT_SUPPORTED"]],
    );
    assert.deepEqual(servers.executed, ["me", "me"]);
    await eventually("the record of the refusal", async () => {
      const found = (await gateway.audit()).filter(
        ({ reason }) => reason === "PERSISTED_QUERY_NOT_SUPPORTED",
      );
      return found.length === 1 && found[0]?.decision === "DENY";
    });
  });

  it("a hash that the server knows is refused as well: the gateway does not know what it stands for", async () => {
    const persistedQuery = { version: 1, sha256Hash: hashOf(FORBIDDEN) };
    const answer = await send("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ extensions: { persistedQuery } }),
    });
    assert.equal(answer.status, 400);
    assert.deepEqual(servers.executed, []);
  });

  it("a browser gets GraphiQL from graphql-yoga where a path rule permits it", async () => {
    const page = await send("/yoga", { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    assert.equal(page.status, 200);
    assert.match(page.headers["content-type"] ?? "", /^text\/html/);
    assert.match(page.text, /graphiql/i);
    assert.equal((await send("/yoga", { headers: { authorization: "" } })).status, 401);
  });

  const salary = encodeURIComponent("{ salary }");
  const inUrl = (name: string) => ({ path: `/yoga?${name}=${salary}` });
  const json = { "content-type": "application/json" };
  const SMUGGLED: readonly (readonly [name: string, { readonly path?: string } & Sent])[] = [
    ["in the URL", inUrl("query")],
    ["in the URL, with the name encoded", inUrl("%71uery")],
    ["in the URL, after another parameter", { path: `/yoga?operationName=&query=${salary}` }],
    ["in the URL, below the endpoint", { path: `/yoga/?query=${salary}` }],
    ["in the body of a GET", { headers: json, body: '{"query":"{ salary }"}' }],
    ["in the URL of a POST", { ...inUrl("query"), method: "POST", headers: json, body: "{}" }],
    ["in the body of a POST", { method: "POST", headers: json, body: '{"query":"{ salary }"}' }],
    [
      "in a form",
      {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: `query=${salary}`,
      },
    ],
    [
      "as a document by its type",
      { method: "POST", headers: { "content-type": "application/graphql" }, body: "{ salary }" },
    ],
  ];
  for (const [name, { path = "/yoga", ...sent }] of SMUGGLED) {
    it(`an operation that asks for the page is not executed: ${name}`, async () => {
      const answer = await send(path, sent);
      assert.ok([400, 403].includes(answer.status ?? 0), `${String(answer.status)} ${answer.text}`);
      assert.deepEqual(servers.executed, []);
    });
  }

  it("and these requests would have executed one: Yoga answers most of them", async () => {
    const asked = SMUGGLED.map(async ([, { path = "/yoga", method = "GET", headers = {}, body }]) => {
      const isPost = method === "POST";
      const answer = await fetch(`${servers.url}${path}`, {
        method,
        headers: { accept: "application/json", ...headers },
        ...(isPost && body !== undefined && { body }),
      });
      return (await answer.text()).includes('"salary"');
    });
    const executed = await Promise.all(asked);
    assert.ok(executed.filter(Boolean).length >= 5, executed.join());
  });
});

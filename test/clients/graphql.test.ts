import assert from "node:assert/strict";
import {
  ApolloClient,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
  ServerError,
} from "@apollo/client";
import { Defer20220824Handler } from "@apollo/client/incremental";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { getIntrospectionQuery } from "graphql";
import { serverAudits } from "graphql-http";
import { createClient as createSseClient } from "graphql-sse";
import { createClient as createWsClient } from "graphql-ws";
import { firstValueFrom, take, toArray } from "rxjs";
import { WebSocket } from "ws";
import { eventually } from "../support/eventually.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { FORBIDDEN, hashOf, SDL, startGraphqlServers, TRUSTED } from "./support/graphql-servers.ts";

const POLICIES = `
graphql:
  schema: api.graphql
  persisted: documents.json
  paths: [/graphql, /yoga, /http, /sse, /parts]
  introspection: allow
  multipart: allow
graphql_policies:
  - { query: me, condition: exists(user.id) }
  - { query: Customer.ssn, condition: user.role == "admin" }
  - { query: Customer.notes, condition: user.role == "admin", on_deny: "null" }
  - { mutation: rename, condition: exists(user.id) }
  - { mutation: upload, condition: exists(user.id) }
  - { subscription: order, condition: order.customer_id == user.customer_id }
response_masks:
  - { api_pattern: "GET /yoga", fields: [{ name: ssn, condition: true, mask_type: full }] }
  - { api_pattern: "POST /sse", fields: [{ name: ssn, condition: true, mask_type: full }] }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
`;

describe("clients: GraphQL", function () {
  this.timeout(180_000);
  let servers: Awaited<ReturnType<typeof startGraphqlServers>>;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let headers: { readonly authorization: string };

  before(async () => {
    [servers, issuer] = await Promise.all([startGraphqlServers(), startIssuer()]);
    const documents = Object.fromEntries(
      [TRUSTED, FORBIDDEN].map((document) => [hashOf(document), document]),
    );
    gateway = await startGateway({
      backend: servers.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL, "documents.json": JSON.stringify(documents) },
      config: { gateway: { backend: servers.url, listen_port: 0, security: { decision_body_limit: "5MB" } } },
    });
    headers = { authorization: `Bearer ${await issuer.token({ customer_id: "c-1" })}` };
  });
  after(async () => {
    await gateway.stop();
    await issuer.close();
    await servers.close();
  });

  /** Apollo Client, and what it sent. */
  function client(path = "/graphql", persisted?: (document: string) => string) {
    const sent: string[] = [];
    const send = new HttpLink({
      uri: `${gateway.url}${path}`,
      headers,
      fetch: (input, init) => {
        sent.push(typeof init?.body === "string" ? init.body : "");
        return fetch(input, init);
      },
    });
    const link = persisted
      ? new PersistedQueryLink({ sha256: (text) => persisted(text) }).concat(send)
      : send;
    const apollo = new ApolloClient({
      link,
      cache: new InMemoryCache(),
      incrementalHandler: new Defer20220824Handler(),
      defaultOptions: { query: { fetchPolicy: "no-cache" } },
    });
    return { apollo, sent };
  }

  const post = async (path: string, json: object, more: object = {}) =>
    fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", ...more },
      body: JSON.stringify(json),
    });

  it("Apollo Client and Apollo Server: queries, mutations, nulled and denied fields", async () => {
    const { apollo } = client();
    const { data } = await apollo.query({ query: gql("{ me { id name } }") });
    assert.deepEqual(data, { me: { __typename: "Customer", id: "c-1", name: "Ada" } });
    const renamed = await apollo.mutate({ mutation: gql('mutation { rename(name: "Bob") { name } }') });
    assert.deepEqual(renamed.data, { rename: { __typename: "Customer", name: "Bob" } });
    const nulled = await apollo.query({ query: gql("{ me { notes } }"), errorPolicy: "all" });
    assert.deepEqual(nulled.data, { me: { __typename: "Customer", notes: null } });
    assert.ok(nulled.error);
    await assert.rejects(apollo.query({ query: gql("{ me { ssn } }") }), (error) => {
      assert.ok(CombinedGraphQLErrors.is(error) || ServerError.is(error), String(error));
      return true;
    });
  });

  it("GraphQL tools: introspection", async () => {
    const { data } = await client().apollo.query({ query: gql(getIntrospectionQuery({ oneOf: true })) });
    assert.ok(data);
  });

  it("Apollo Client's persisted queries: known, unknown, and with a hash of another document", async () => {
    const known = client("/graphql", () => hashOf(TRUSTED));
    assert.ok((await known.apollo.query({ query: gql(TRUSTED) })).data);
    assert.equal(known.sent.length, 1, "the hash was enough");
    assert.ok(!known.sent[0]?.includes('"query"'));

    const unknown = client("/graphql", hashOf);
    assert.ok((await unknown.apollo.query({ query: gql("query Own { me { id } }") })).data);
    assert.equal(unknown.sent.length, 2, "the hash, and then the document");
    await eventually("the records", async () => {
      const own = (await gateway.audit()).filter(({ reason }) => reason === "PERSISTED_QUERY_NOT_FOUND");
      return own.length === 1 && own[0]?.decision === "DENY";
    });

    const denied = await post("/graphql", {
      extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(FORBIDDEN) } },
    });
    assert.equal(denied.status, 403);
    const wrong = await post("/graphql", {
      query: "{ me { id } }",
      extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(FORBIDDEN) } },
    });
    assert.equal(wrong.status, 400);
  });

  it("Apollo Client's @defer: in parts, and denied where a field would be nulled", async () => {
    const parts = await firstValueFrom(
      client("/parts")
        .apollo.watchQuery({ query: gql("{ me { id ... @defer { name } } }") })
        .pipe(take(2), toArray()),
    );
    assert.ok(parts.length > 0);
    const nulled = await post("/parts", { query: "{ me { id ... @defer { notes } } }" });
    assert.equal(nulled.status, 403);
  });

  it("graphql-ws, by Apollo Client", async () => {
    const socket = createWsClient({
      url: `${gateway.url.replace("http", "ws")}/graphql`,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocol: string) {
          super(url, protocol, { headers });
        }
      },
    });
    const apollo = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });
    const received = await firstValueFrom(
      apollo
        .subscribe<{ order: { id: string } }>({ query: gql("subscription { order { id customer_id } }") })
        .pipe(toArray()),
    );
    assert.deepEqual(
      received.map(({ data }) => data?.order.id),
      ["1", "3"],
    );
    await socket.dispose();
  });

  it("graphql-sse: an event stream per operation, each event evaluated and masked", async () => {
    for (const path of ["/sse", "/yoga"]) {
      const sse = createSseClient({ url: `${gateway.url}${path}`, headers: { ...headers } });
      const events: unknown[] = [];
      for await (const { data } of sse.iterate({ query: "subscription { order { id customer_id ssn } }" }))
        events.push(data);
      const ssn = path === "/sse" ? "***" : "111-11-1111";
      assert.equal(events.length, 2, path);
      assert.deepEqual(JSON.parse(JSON.stringify(events[0])), {
        order: { id: "1", customer_id: "c-1", ssn },
      });
      sse.dispose();
    }
    const url = `${gateway.url}/yoga?query=${encodeURIComponent("subscription { order { id customer_id ssn } }")}`;
    const text = await (await fetch(url, { headers: { ...headers, accept: "text/event-stream" } })).text();
    assert.ok(text.includes('"c-1"') && !text.includes("c-2") && !text.includes("111-11-1111"), text);
  });

  it("graphql-sse: its single connection mode is refused when the stream is reserved", async () => {
    const reserved = await fetch(`${gateway.url}/sse`, { method: "PUT", headers });
    assert.equal(reserved.status, 400);
    const open = await fetch(`${gateway.url}/sse`, { headers: { ...headers, accept: "text/event-stream" } });
    assert.equal(open.status, 400);
  });

  it("graphql-yoga: uploads over 1 MiB, and none over the limit", async () => {
    const upload = async (size: number, query = "mutation ($file: File!) { upload(file: $file) }") => {
      const form = new FormData();
      form.set("operations", JSON.stringify({ query, variables: { file: null } }));
      form.set("map", '{"0":["variables.file"]}');
      form.set("0", new File([new Uint8Array(size).fill(45)], "file.bin"));
      return fetch(`${gateway.url}/yoga`, { method: "POST", headers, body: form });
    };
    const answer = await upload(3_000_000);
    assert.deepEqual(await answer.json(), { data: { upload: 3_000_000 } });
    assert.equal(
      (await upload(3_000_000, "mutation ($file: File!) { upload(file: $file) x: salary }")).status,
      400,
    );
    assert.equal((await upload(3_000_000, "query ($file: File!) { salary }")).status, 403);
    assert.equal((await upload(6_000_000)).status, 413);
    const long = await post("/graphql", {
      query: "query ($x: String) { me { id } }",
      variables: { x: "x".repeat(2_000_000) },
    });
    assert.equal(long.status, 400, "from Apollo Server: the variable is not used");
    assert.equal(
      (await post("/graphql", { query: "{ me { id } }", variables: { x: "x".repeat(2_000_000) } })).status,
      200,
    );
  });

  it("graphql-http's audits", async () => {
    const audits = serverAudits({
      url: () => `${gateway.url}/http`,
      fetchFn: (input: string, init: RequestInit = {}) =>
        fetch(input, { ...init, headers: { ...(init.headers as Record<string, string>), ...headers } }),
    });
    const failed: string[] = [];
    for (const { name, fn } of audits) {
      const result = await fn();
      if (result.status === "error") failed.push(`${name}: ${result.reason}`);
    }
    assert.deepEqual(failed, []);
  });
});

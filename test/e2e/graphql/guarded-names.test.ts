import assert from "node:assert/strict";
import { createClient, type Client } from "graphql-ws";
import { WebSocket } from "ws";
import { digestOf } from "../../../src/decision/policies/snapshot.ts";
import { compileText } from "../../decision/support.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeControlPlane, ordinary } from "../../support/fake-control-plane.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import {
  POLICIES,
  SDL,
  startGraphqlApplication,
  type GraphqlApplication,
} from "../../support/upstreams/graphql-application.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";

/** The customer's own: it knows nothing of operations, and hides a name. */
const OWN = `
policies:
  - { resource: "* /graphql", condition: exists(user.id) }
response_masks:
  - { api_pattern: /graphql, fields: [{ name: name, condition: true, mask_type: full }] }
`;

describe("end to end: names that a customer's own policy set guards", function () {
  this.timeout(180_000);
  let application: GraphqlApplication;
  let issuer: TestIssuer;
  let plane: FakeControlPlane;
  let gateway: RunningGateway;
  const clients: Client[] = [];
  before(async () => {
    [application, issuer, plane] = await Promise.all([
      startGraphqlApplication(),
      startIssuer(),
      FakeControlPlane.start(),
    ]);
    const files = [{ name: "own.yaml", text: OWN }];
    plane.activate("own", { version: "v1", digest: digestOf(compileText(OWN, "own")), files });
    plane.setCustomer({ ...ordinary("c-1"), policy_sets: ["own"] });
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
      config: { control_plane: { url: plane.url, api_key: plane.apiKey } },
    });
  });
  after(async () => {
    for (const client of clients) await client.dispose();
    await gateway.stop();
    await Promise.all([issuer.close(), application.close(), plane.close()]);
  });

  const authorization = async () => `Bearer ${await issuer.token({ role: "viewer", customer_id: "c-1" })}`;
  const post = async (query: string) => {
    const answer = await fetch(`${gateway.url}/graphql`, {
      method: "POST",
      headers: { authorization: await authorization(), "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  const ALIASES = [
    "{ me { n: name } }",
    "{ me { name: id } }",
    "{ name: me { id } }",
    "{ ...F } fragment F on Query { me { ... on Customer { n: name } } }",
  ];

  it("are masked over HTTP, and not given or taken by an alias", async () => {
    const { status, text } = await post("{ me { name x: id } }");
    assert.deepEqual([status, JSON.parse(text)], [200, { data: { me: { name: "***", x: "c-1" } } }]);
    for (const query of ALIASES) {
      const before = application.operations();
      const refused = await post(query);
      assert.deepEqual([refused.status, application.operations()], [403, before], query);
      assert.match(refused.text, /cannot be renamed here/);
    }
  });

  it("are masked over WebSocket, and not given or taken by an alias", async () => {
    const headers = { authorization: await authorization() };
    class Socket extends WebSocket {
      constructor(url: string, protocols: string | string[]) {
        super(url, protocols, { headers });
      }
    }
    const url = `${gateway.url.replace("http", "ws")}/graphql`;
    const client = createClient({ url, webSocketImpl: Socket, retryAttempts: 0, lazy: true });
    clients.push(client);
    const run = async (query: string) => {
      const got: unknown[] = [];
      let end: unknown;
      client.subscribe(
        { query },
        { next: (value) => got.push(value), error: (error) => (end = error), complete: () => (end = "done") },
      );
      await eventually("the end", () => end !== undefined);
      return { got, end };
    };
    assert.deepEqual(await run("{ me { name x: id } }"), {
      got: [{ data: { me: { name: "***", x: "c-1" } } }],
      end: "done",
    });
    for (const query of ALIASES) {
      const before = application.operations();
      const { got, end } = await run(query);
      assert.deepEqual([got, application.operations()], [[], before], query);
      assert.match(JSON.stringify(end), /cannot be renamed here/);
    }
  });
});

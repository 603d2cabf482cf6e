import assert from "node:assert/strict";
import { once } from "node:events";
import { createClient, type Client } from "graphql-ws";
import { WebSocket } from "ws";
import { startDemoApplication, type DemoApplication } from "../../src/demo/application.ts";

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string }[];
}

describe("demo application: GraphQL", () => {
  let app: DemoApplication;
  beforeEach(async () => {
    app = await startDemoApplication({ port: 0, eventInterval: 600_000 });
  });
  afterEach(async () => {
    await app.close();
  });

  const post = async (query: string, variables: object = {}) => {
    const answer = await fetch(`${app.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    return (await answer.json()) as Answer;
  };

  it("answers queries, from customers to orders and back", async () => {
    const { data } = await post(
      '{ customer(id: "c-2") { name tax_id orders { id quantity customer { city } } } orders(customer_id: "c-3") { item } }',
    );
    assert.deepEqual(data, {
      customer: {
        name: "Blue Heron Logistics",
        tax_id: "PL-5871-0496",
        orders: [{ id: "o-1003", quantity: 240, customer: { city: "Gdynia" } }],
      },
      orders: [{ item: "Calibration kit" }],
    });
    assert.deepEqual(await post('{ customer(id: "c-99") { id } }'), { data: { customer: null } });
  });

  it("lists customers of one status, the active ones where none is named", async () => {
    const ids = async (argument: string, variables?: object) => {
      const declared = argument.includes("$") ? "($s: CustomerStatus)" : "";
      const { data } = await post(`query ${declared} { customers${argument} { id } }`, variables);
      return (data?.["customers"] as { id: string }[]).map(({ id }) => id);
    };
    const active = ["c-1", "c-2", "c-3", "c-5"];
    assert.deepEqual(await ids(""), active);
    assert.deepEqual(await ids("(status: $s)"), active);
    assert.deepEqual(await ids("(status: $s)", { s: "suspended" }), ["c-6"]);
    assert.deepEqual(await ids("(status: null)"), []);
  });

  it("answers GET, but changes nothing by it", async () => {
    const get = (query: string) => fetch(`${app.url}/graphql?query=${encodeURIComponent(query)}`);
    assert.deepEqual(await (await get('{ customer(id: "c-1") { plan } }')).json(), {
      data: { customer: { plan: "enterprise" } },
    });
    assert.equal((await get('mutation { cancelOrder(id: "o-1001") { id } }')).status, 405);
  });

  it("places and cancels orders, with the checks of the REST API", async () => {
    const place = (customer: string, quantity: number) =>
      post(
        `mutation { placeOrder(customer_id: "${customer}", item: "Tape", quantity: ${quantity}, unit_price_cents: 5) { id status customer { name } } }`,
      );
    assert.deepEqual(await place("c-6", 2), {
      data: { placeOrder: { id: "o-1009", status: "placed", customer: { name: "Old Mill Bakery" } } },
    });
    const [nobody, nothing] = [await place("c-99", 2), await place("c-6", 0)];
    assert.deepEqual(
      nobody.errors?.map(({ message }) => message),
      ["no such customer"],
    );
    assert.deepEqual(
      nothing.errors?.map(({ message }) => message),
      ["the body is not valid"],
    );
    const cancel = (id: string) => post(`mutation { cancelOrder(id: "${id}") { status } }`);
    assert.deepEqual(await cancel("o-1009"), { data: { cancelOrder: { status: "cancelled" } } });
    assert.deepEqual(await cancel("o-1"), { data: { cancelOrder: null } });
  });

  it("has orders of customers that were deleted", async () => {
    await fetch(`${app.url}/api/customers/c-4`, { method: "DELETE" });
    const { data } = await post('{ orders(customer_id: "c-4") { id customer { id } } }');
    assert.deepEqual(data, { orders: [{ id: "o-1005", customer: null }] });
  });

  describe("subscriptions", () => {
    let client: Client;
    beforeEach(() => {
      const url = `${app.url.replace("http", "ws")}/graphql`;
      client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
    });
    afterEach(async () => {
      await client.dispose();
    });
    const query = "subscription { orderUpdated { id status customer { name } } }";

    it("give the first order of every customer, then what changes", async () => {
      const events = client.iterate({ query });
      const next = async () => {
        const { value } = (await events.next()) as IteratorResult<Answer, undefined>;
        const { id, status } = value?.data?.["orderUpdated"] as { id: string; status: string };
        return `${id} ${status}`;
      };
      const first = ["o-1001", "o-1003", "o-1004", "o-1005", "o-1006", "o-1008"];
      for (const id of first) assert.equal(await next(), `${id} placed`);
      await post('mutation { cancelOrder(id: "o-1007") { id } }');
      assert.equal(await next(), "o-1007 cancelled");
      await events.return?.();
    });

    it("answer queries over the same connection", async () => {
      const answers = client.iterate({ query: '{ customer(id: "c-3") { city } }' });
      const { value } = (await answers.next()) as IteratorResult<Answer, undefined>;
      assert.deepEqual(value?.data, { customer: { city: "Innsbruck" } });
    });

    it("end with the application while they wait", async () => {
      const events = client.iterate({ query });
      for (let count = 0; count < 6; count++) await events.next();
      const waiting = events.next();
      await app.close();
      await assert.rejects(waiting);
    });

    it("refuse clients that do not speak the protocol", async () => {
      const socket = new WebSocket(`${app.url.replace("http", "ws")}/graphql`);
      assert.equal((await once(socket, "close"))[0], 4406);
    });
  });
});

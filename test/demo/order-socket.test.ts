import assert from "node:assert/strict";
import { once } from "node:events";
import { WebSocket } from "ws";
import { startDemoApplication, type DemoApplication } from "../../src/demo/application.ts";

type Message = Record<string, unknown>;

/** A client that hands over messages one by one, in order. */
async function connect(app: DemoApplication, path = "/ws/orders") {
  const socket = new WebSocket(app.url.replace("http", "ws") + path);
  const arrived: Message[] = [];
  const waiting: ((message: Message) => void)[] = [];
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    const next = waiting.shift();
    if (next === undefined) arrived.push(message);
    else next(message);
  });
  await once(socket, "open");
  return {
    socket,
    say: (message: unknown) => {
      socket.send(
        typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message),
      );
    },
    next: () => {
      const message = arrived.shift();
      return message === undefined
        ? new Promise<Message>((resolve) => waiting.push(resolve))
        : Promise.resolve(message);
    },
  };
}

describe("demo application: order feed", () => {
  const NEVER = 600_000;
  let app: DemoApplication;
  beforeEach(async () => {
    app = await startDemoApplication({ port: 0, eventInterval: NEVER });
  });
  afterEach(async () => {
    await app.close();
  });

  it("tells a subscriber of the customer's first order at once, and whom to call", async () => {
    const { say, next } = await connect(app);
    say({ type: "subscribe", customer_id: "c-2" });
    assert.deepEqual(await next(), {
      type: "order_updated",
      order_id: "o-1003",
      customer_id: "c-2",
      item: "Pallet sensor",
      status: "placed",
      contact: {
        name: "Agata Nowak",
        email: "agata.nowak@customers.example",
        phone: "+48 58 555 0119",
        owner: "u-3",
      },
    });
  });

  it("tells of orders that are placed, and no more after `unsubscribe`", async () => {
    const { say, next } = await connect(app);
    const place = (customer: string) =>
      fetch(`${app.url}/api/orders`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ customer_id: customer, item: "Tape", unit_price_cents: 1 }),
      });
    say({ type: "subscribe", customer_id: "c-1" });
    await next();
    await place("c-2");
    await place("c-1");
    assert.equal((await next())["order_id"], "o-1010");
    say({ type: "unsubscribe", customer_id: "c-1" });
    assert.deepEqual(await next(), { type: "unsubscribed", customer_id: "c-1" });
    await place("c-1");
    say({ type: "ping" });
    assert.deepEqual(await next(), { type: "pong" });
  });

  it("cancels an order, once for everybody who listens", async () => {
    const [one, other] = [await connect(app), await connect(app)];
    other.say({ type: "subscribe", customer_id: "c-1" });
    await other.next();
    one.say({ type: "cancel_order", order_id: "o-1002" });
    other.say({ type: "ping" });
    const told = await one.next();
    assert.deepEqual([told["order_id"], told["status"]], ["o-1002", "cancelled"]);
    const all = [await other.next(), await other.next()];
    assert.deepEqual(all.map(({ type }) => type).sort(), ["order_updated", "pong"]);
    other.say({ type: "cancel_order", order_id: "o-1001" });
    assert.equal((await other.next())["order_id"], "o-1001");
    other.say({ type: "ping" });
    assert.deepEqual(await other.next(), { type: "pong" });
    const orders = await (await fetch(`${app.url}/api/customers/c-1/orders`)).json();
    assert.deepEqual(
      (orders as { orders: { status: string }[] }).orders.map(({ status }) => status),
      ["cancelled", "cancelled"],
    );
  });

  it("goes on after what it does not understand", async () => {
    const { say, next } = await connect(app);
    for (const nonsense of ["", "{", "null", "[]", { type: "shout" }, { type: "subscribe" }]) {
      say(nonsense);
      assert.deepEqual(await next(), { type: "error", error: "the message is not valid" });
    }
    say(Buffer.from('{"type":"ping"}'));
    assert.deepEqual(await next(), { type: "error", error: "only text messages are supported" });
    say({ type: "subscribe", customer_id: "c-99" });
    assert.deepEqual(await next(), { type: "error", error: "no such customer" });
    say({ type: "cancel_order", order_id: "o-1" });
    assert.deepEqual(await next(), { type: "error", error: "no such order" });
  });

  it("subscribes to a customer without orders or contacts left", async () => {
    const { say, next } = await connect(app);
    say({ type: "subscribe", customer_id: "c-5" });
    await next();
    await fetch(`${app.url}/api/customers/c-5`, { method: "DELETE" });
    say({ type: "cancel_order", order_id: "o-1006" });
    assert.equal((await next())["customer_id"], "c-5");
  });

  it("ends a connection that breaks the protocol, and that one alone", async () => {
    const [good, bad] = [await connect(app), await connect(app)];
    const closed = once(bad.socket, "close");
    bad.say("x".repeat(70_000));
    await closed;
    good.say({ type: "ping" });
    assert.deepEqual(await good.next(), { type: "pong" });
  });

  it("moves orders on while somebody listens, round and round", async () => {
    const fast = await startDemoApplication({ port: 0, eventInterval: 1 });
    try {
      const { say, next } = await connect(fast);
      say({ type: "subscribe", customer_id: "c-2" });
      const seen: unknown[] = [];
      while (seen.length < 6) seen.push((await next())["status"]);
      // the feed may have moved on before the subscription
      const cycle = ["placed", "packed", "shipped", "delivered"];
      const start = cycle.indexOf(String(seen[0]));
      assert.deepEqual(
        seen,
        seen.map((_, index) => cycle[(start + index) % cycle.length]),
      );
    } finally {
      await fast.close();
    }
  });

  it("answers 404 to a handshake anywhere else, and counts and logs handshakes", async () => {
    const lines: object[] = [];
    const logged = await startDemoApplication({ port: 0, log: { info: (object) => lines.push(object) } });
    try {
      await assert.rejects(connect(logged, "/ws/other"), /404/);
      await connect(logged, "/ws/orders?from=here");
      assert.equal(logged.requests, 2);
      assert.deepEqual(lines, [
        { method: "GET", path: "/ws/other" },
        { method: "GET", path: "/ws/orders" },
      ]);
    } finally {
      await logged.close();
    }
  });

  it("ends with the application, in the middle of things", async () => {
    const { socket, say, next } = await connect(app);
    say({ type: "subscribe", customer_id: "c-1" });
    await next();
    const events = await fetch(`${app.url}/api/customers/c-1/contacts/calls`);
    const ended = once(socket, "close");
    await app.close();
    await ended;
    await assert.rejects(events.text());
  });
});

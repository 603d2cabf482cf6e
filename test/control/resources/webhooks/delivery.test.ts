import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Webhook } from "standardwebhooks";
import type { BackgroundWork } from "../../../../src/control/platform/context.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { startDeliveries } from "../../../../src/control/resources/webhooks/start-deliveries.ts";
import { startControl, TEST_SETTINGS, type RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import { startReceiver, type Received, type WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { change, emit, logOf, newCustomer, register, settled, signIn } from "../../support/webhooks.ts";

describe("webhooks: delivery", () => {
  let control: RunningControl;
  let deliveries: BackgroundWork;
  let receiver: WebhookReceiver;
  let moved: number;

  beforeEach(async () => {
    moved = 0;
    receiver = await startReceiver();
    control = await startControl({
      routes: webhookRoutes,
      clock: () => Date.now() + moved,
      // longer than a test: what hangs, hangs
      settings: { webhooks: { ...TEST_SETTINGS.webhooks, timeoutMs: 60_000 } },
    });
    deliveries = startDeliveries(control.context);
  });
  afterEach(async () => {
    await receiver.close();
    await deliveries.close();
    await control.close();
  });

  it("sends what specification 6 shows, in the headers of Standard Webhooks", async () => {
    const customer = await newCustomer(control);
    const { id } = await register(control, {
      url: `${receiver.url}/hook?a=b`,
      events: ["user.authenticated"],
    });
    await emit(control, signIn(customer, "usr_1"));
    const [received] = await receiver.has(1);
    assert.ok(received);
    const { id: eventId, timestamp, ...rest } = received.json;
    assert.match(eventId, /^evt_/);
    assert.equal(new Date(timestamp).toISOString(), timestamp);
    assert.deepEqual(rest, {
      type: "user.authenticated",
      data: {
        user: { id: "usr_1", email: "ada@example.com", customer_id: customer },
        session: { id: "ses_1", ip_address: "192.0.2.7", user_agent: "Mozilla/5.0" },
      },
    });
    assert.deepEqual(Object.keys(received.json), ["id", "type", "timestamp", "data"]);
    const { headers } = received;
    assert.equal(received.path, "/hook?a=b");
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["webhook-id"], eventId);
    assert.match(String(headers["webhook-timestamp"]), /^\d{10}$/);
    assert.match(String(headers["webhook-signature"]), /^v1,[A-Za-z0-9+/]{43}=$/);
    const logged = await settled(control, id, { status: "delivered", attempts: 1, response_status: 204 });
    assert.deepEqual([logged.event_id, logged.error, logged.next_attempt_at], [eventId, null, null]);
    assert.ok(logged.finished_at !== null && logged.duration_ms !== null);
    const single = await control.request("GET", `/webhooks/${id}/deliveries/${logged.id}`);
    assert.deepEqual(single.body.data.payload, received.json);
  });

  it("signs so that Standard Webhooks' own library verifies it", async () => {
    const made = await register(control, { url: `${receiver.url}/made` });
    const short = `whsec_${Buffer.from("k").toString("base64")}`;
    await register(control, { url: `${receiver.url}/short`, secret: short });
    const texts: Record<string, string> = {
      "/text": "any-text-a-caller-chooses",
      "/few": "8 chars!",
      "/unicode": " Schlüssel \u{1f511}\r\n ",
      "/not-base64": "whsec_not base64",
      "/unpadded": `whsec_${Buffer.alloc(25, 7).toString("base64url")}`,
      "/base64": Buffer.alloc(24, 7).toString("base64"),
    };
    for (const [path, secret] of Object.entries(texts))
      await register(control, { url: receiver.url + path, secret });
    await emit(control, signIn());
    const verifiers = {
      "/made": new Webhook(made.secret),
      "/short": new Webhook(short),
      ...Object.fromEntries(
        Object.entries(texts).map(([path, secret]) => [
          path,
          new Webhook(Buffer.from(secret), { format: "raw" }),
        ]),
      ),
    };
    const received = await receiver.has(Object.keys(verifiers).length);
    const secrets: Record<string, string> = { ...texts, "/made": made.secret, "/short": short };
    const documented = await verifierOfTheDocumentation();
    for (const [path, verifier] of Object.entries(verifiers)) {
      const one = received.find((each) => each.path === path);
      assert.ok(one);
      assert.deepEqual(verify(verifier, one), one.json);
      const secret = secrets[path] ?? "";
      assert.deepEqual(documented(secret, one.headers, Buffer.from(one.body)), one.json);
      assert.throws(() => documented(`${secret} `, one.headers, Buffer.from(one.body)), /not signed/);
      assert.throws(() => documented(secret, one.headers, Buffer.from(`${one.body} `)), /not signed/);
      const late = { ...one.headers, "webhook-timestamp": "1" };
      assert.throws(() => documented(secret, late, Buffer.from(one.body)), /too old/);
      assert.throws(() => verify(verifier, { ...one, body: one.body.replace("ada", "eve") }));
      assert.throws(() => verify(verifier, { ...one, headers: { ...one.headers, "webhook-id": "evt_x" } }));
      assert.throws(() => verify(new Webhook(Buffer.alloc(32).toString("base64")), one));
    }
  });

  it("signs with both secrets while one replaces the other, then with the new one alone", async () => {
    const old = await register(control, { url: receiver.url });
    const path = `/webhooks/${old.id}/rotate-secret`;
    const rotated = await control.request("POST", path, { body: { overlap_seconds: 3_600 } });
    const [before, after] = [new Webhook(old.secret), new Webhook(rotated.body.data.secret)];
    await emit(control, signIn());
    const [first] = await receiver.has(1);
    assert.ok(first);
    assert.equal(String(first.headers["webhook-signature"]).split(" ").length, 2);
    for (const verifier of [before, after]) verify(verifier, first);

    moved = 3_600_000;
    await emit(control, signIn());
    const [, second] = await receiver.has(2);
    assert.ok(second);
    assert.match(String(second.headers["webhook-signature"]), /^v1,\S+$/);
    // the library compares the timestamp with the machine's clock
    const then = withTimestamp(second, second.headers["webhook-timestamp"]);
    assert.ok(signatureOf(after, then));
    assert.ok(!signatureOf(before, then));
  });

  it("gives each webhook the events it asks for, and those of its own customer", async () => {
    const [mine, other] = [await newCustomer(control, "Acme"), await newCustomer(control, "Other")];
    const hooks = {
      "/all": {},
      "/some": { events: ["policy.updated", "customer.created"] },
      "/mine": { customer_id: mine },
      "/off": { enabled: false },
    };
    for (const [path, body] of Object.entries(hooks))
      await register(control, { url: receiver.url + path, ...body });
    await emit(
      control,
      signIn(mine, "usr_1"),
      signIn(other, "usr_2"),
      { type: "customer.created", customerId: other, data: {} },
      { type: "policy_set.published", data: {} },
    );
    await receiver.has(6);
    // nothing else is left to come
    assert.equal((await control.context.db("webhook_deliveries").select("id")).length, 6);
    const got = (path: string) =>
      receiver.received
        .filter((each) => each.path === path)
        .map(({ json }) => [json.type, json.data.user?.id])
        .sort();
    assert.deepEqual(got("/mine"), [["user.authenticated", "usr_1"]]);
    assert.deepEqual(got("/some"), [["customer.created", undefined]]);
    assert.equal(got("/all").length, 4);
  });

  it("delivers nothing of a transaction that is rolled back", async () => {
    const { id } = await register(control, { url: receiver.url });
    await assert.rejects(
      change(control, async (unit) => {
        unit.emit(signIn("cus_1", "usr_rolled_back"));
        await unit.trx.raw("select 1");
        throw new Error("no");
      }),
    );
    // written, and then it fails: by a unit within a transaction that does not commit
    await assert.rejects(
      control.context.db.transaction(async (trx) => {
        const { enqueueDeliveries } = await import("../../../../src/control/resources/webhooks/enqueue.ts");
        await enqueueDeliveries(trx, [{ ...signIn(), id: "evt_rolled_back", timestamp: new Date() }]);
        assert.equal((await trx("webhook_deliveries").select("id")).length, 1);
        throw new Error("no");
      }),
    );
    await emit(control, signIn("cus_1", "usr_committed"));
    await settled(control, id, { status: "delivered" });
    assert.deepEqual(
      receiver.received.map(({ json }) => json.data.user.id),
      ["usr_committed"],
    );
  });

  it("tells no more of an event than is documented", async () => {
    await register(control, { url: receiver.url });
    const event = signIn();
    const data = { ...event.data, user: { ...event.data.user!, password: "x" }, token: "y", reason: "z" };
    await emit(control, { ...event, data });
    const [received] = await receiver.has(1);
    assert.deepEqual(received?.json.data, event.data);
  });

  it("tells whose an event is that has neither user nor customer", async () => {
    await register(control, { url: receiver.url });
    const data = { reason: "IDP_FAILED" };
    await emit(control, { type: "user.authentication_failed", customerId: "cus_1", data });
    const [received] = await receiver.has(1);
    assert.deepEqual(received?.json.data, { ...data, customer: { id: "cus_1" } });
  });

  it("delivers when its connection for notifications was cut, and after every other was", async () => {
    const { id } = await register(control, { url: receiver.url });
    const cut = () =>
      control.context.db.raw(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
    await cut();
    await eventually("a change", async () => {
      await emit(control, signIn());
      return true;
    });
    await settled(control, id, { status: "delivered" });
  });

  it("goes on with others while one receiver hangs with all that it gets", async () => {
    const stuck = await startReceiver();
    stuck.answer = () => undefined;
    try {
      const { id } = await register(control, { url: stuck.url });
      const quick = await register(control, { url: receiver.url });
      await emit(control, ...Array.from({ length: 30 }, () => signIn()));
      await receiver.has(30);
      // those that hang hang still: nothing had to end before
      assert.ok((await logOf(control, id)).every(({ finished_at }) => finished_at === null));
      assert.ok(stuck.received.length <= 4, String(stuck.received.length));
      await eventually("the log", async () =>
        (await logOf(control, quick.id)).every(({ status }) => status === "delivered"),
      );
    } finally {
      await stuck.close();
    }
  });

  it("delivers once, by whichever of two instances", async () => {
    const second = startDeliveries(control.context);
    try {
      const { id } = await register(control, { url: receiver.url });
      for (let at = 0; at < 20; at += 1) await emit(control, ...Array.from({ length: 5 }, () => signIn()));
      await eventually("100 deliveries", async () =>
        (await logOf(control, id)).every(({ status }) => status === "delivered"),
      );
      const ids = receiver.received.map(({ json }) => json.id);
      assert.equal(ids.length, 100);
      assert.equal(new Set(ids).size, 100);
    } finally {
      await second.close();
    }
  });

  it("sends a test event, once, and does not disable for it", async () => {
    const { id } = await register(control, { url: receiver.url, events: ["customer.created"] });
    receiver.answer = (response) => response.writeHead(500).end();
    const answer = await control.request("POST", `/webhooks/${id}/test`);
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.body.data.status, "pending");
    const [received] = await receiver.has(1);
    assert.deepEqual([received?.json.type, received?.json.data], ["webhook.test", { webhook: { id } }]);
    assert.equal(received?.headers["webhook-id"], answer.body.data.event_id);
    await settled(control, id, { status: "failed", attempts: 1, event_type: "webhook.test" });
    assert.equal((await control.request("GET", `/webhooks/${id}`)).body.data.enabled, true);
  });

  it("sends an event again on demand: the same event, another delivery", async () => {
    const { id } = await register(control, { url: receiver.url });
    await emit(control, signIn());
    const first = await settled(control, id, { status: "delivered" });
    const answer = await control.request("POST", `/webhooks/${id}/deliveries/${first.id}/redeliver`);
    assert.equal(answer.status, 202, answer.text);
    assert.notEqual(answer.body.data.id, first.id);
    const [one, other] = await receiver.has(2);
    assert.ok(one && other);
    assert.equal(one.body, other.body);
    assert.equal(one.headers["webhook-id"], other.headers["webhook-id"]);
  });

  it("does not send again what is still under way", async () => {
    const { id } = await register(control, { url: receiver.url });
    receiver.answer = () => undefined;
    await emit(control, signIn());
    await receiver.has(1);
    const [logged] = await logOf(control, id);
    assert.deepEqual([logged?.status, logged?.next_attempt_at], ["delivering", null]);
    const again = await control.request("POST", `/webhooks/${id}/deliveries/${logged?.id ?? ""}/redeliver`);
    assert.deepEqual([again.status, again.body.error.code], [409, "CONFLICT"]);
  });

  it("filters the log", async () => {
    const { id } = await register(control, { url: receiver.url });
    await emit(control, signIn(), { type: "customer.created", data: {} });
    await receiver.has(2);
    const count = async (query: string) => {
      const answer = await control.request("GET", `/webhooks/${id}/deliveries?${query}`);
      return answer.body.pagination?.total_items ?? answer.status;
    };
    assert.equal(await count("type=customer.created"), 1);
    assert.equal(await count("type=customer.updated"), 0);
    assert.equal(await count("status=failed"), 0);
    assert.equal(await count("status=lost"), 400);
    assert.equal(await count("sort=payload"), 400);
  });
});

type Verify = (secret: string, headers: Received["headers"], rawBody: Buffer) => unknown;

/** What docs/webhooks.md gives to those who use no library. */
async function verifierOfTheDocumentation(): Promise<Verify> {
  const text = await readFile(new URL("../../../../docs/webhooks.md", import.meta.url), "utf8");
  const blocks = [...text.matchAll(/```js\n([\s\S]*?)\n```/g)].map(([, code]) => code ?? "");
  const code = blocks.find((block) => block.includes("export function verify")) ?? "";
  const url = `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
  return ((await import(url)) as { verify: Verify }).verify;
}

function verify(verifier: Webhook, { body, headers }: Pick<Received, "body" | "headers">): unknown {
  return verifier.verify(body, headers as Record<string, string>);
}

function withTimestamp(received: Received, timestamp: unknown) {
  return { ...received, at: new Date(Number(timestamp) * 1000) };
}

function signatureOf(verifier: Webhook, { at, body, headers }: ReturnType<typeof withTimestamp>): boolean {
  const expected = verifier.sign(String(headers["webhook-id"]), at, body);
  return String(headers["webhook-signature"]).split(" ").includes(expected);
}

import assert from "node:assert/strict";
import type { BackgroundWork } from "../../../../src/control/platform/context.ts";
import { writeChanges } from "../../../../src/control/analytics/audit/write-changes.ts";
import type { StoredChange } from "../../../../src/control/platform/unit.ts";
import { retryDelay } from "../../../../src/control/resources/webhooks/retry-delay.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { startDeliveries } from "../../../../src/control/resources/webhooks/start-deliveries.ts";
import { sweep } from "../../../../src/control/resources/webhooks/sweep.ts";
import { createLog } from "../../../../src/telemetry/log.ts";
import { startControl, TEST_SETTINGS, type RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import { freePort } from "../../../support/free-port.ts";
import { startReceiver, type WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { emit, logOf, register, settled, signIn } from "../../support/webhooks.ts";

const HOUR = 3_600_000;

describe("webhooks: what is not taken", () => {
  let control: RunningControl;
  let deliveries: BackgroundWork;
  let receiver: WebhookReceiver;
  let moved: number;
  let changes: StoredChange[];

  /** The machine may be busy: only tests of a time-out shall see one. */
  const start = (timeoutMs = 60_000) => {
    // a secret that does not open is an error of the operator's
    const log = createLog({ level: "silent", name: "test" });
    const { settings } = control.context;
    const webhooks = { ...settings.webhooks, timeoutMs };
    return startDeliveries({ ...control.context, log, settings: { ...settings, webhooks } });
  };
  const startAgain = async (timeoutMs?: number) => {
    await deliveries.close();
    deliveries = start(timeoutMs);
  };
  const answerWith = (status: number, headers: Record<string, string> = {}) => {
    receiver.answer = (response) => response.writeHead(status, headers).end();
  };

  beforeEach(async () => {
    moved = 0;
    changes = [];
    receiver = await startReceiver();
    control = await startControl({
      routes: webhookRoutes,
      clock: () => Date.now() + moved,
      settings: { webhooks: { ...TEST_SETTINGS.webhooks, timeoutMs: 60_000 } },
      writers: {
        changes: (trx, made) => {
          changes.push(...made);
          return writeChanges(trx, made);
        },
      },
    });
    deliveries = start();
  });
  afterEach(async () => {
    await receiver.close();
    await deliveries.close();
    await control.close();
  });

  it("is sent again, the same, until it is taken", async () => {
    const { id } = await register(control, { url: receiver.url });
    answerWith(503);
    await emit(control, signIn());
    const first = await settled(control, id, { status: "pending", attempts: 1, response_status: 503 });
    assert.equal(first.error, "the receiver returned 503");
    const wait = Date.parse(first.next_attempt_at!) - Date.parse(first.last_attempt_at!);
    assert.ok(wait >= 4_000 && wait <= 60_000, String(wait));

    moved += HOUR;
    await settled(control, id, { status: "pending", attempts: 2 });
    answerWith(200);
    moved += HOUR;
    await settled(control, id, { status: "delivered", attempts: 3, response_status: 200, error: null });
    const sent = receiver.received.map(({ body, headers }) => [body, headers["webhook-id"]]);
    assert.deepEqual(sent, [sent[0], sent[0], sent[0]]);
    const times = receiver.received.map(({ headers }) => Number(headers["webhook-timestamp"]));
    assert.ok(times[1]! >= times[0]! + 3_600 && times[2]! >= times[1]! + 3_600);
  });

  it("is given up after a day; then the webhook is disabled and says so", async () => {
    const { id } = await register(control, { url: receiver.url });
    answerWith(500);
    await emit(control, signIn());
    await settled(control, id, { status: "pending", attempts: 1 });
    moved += 12 * HOUR;
    await settled(control, id, { status: "pending", attempts: 2 });
    await emit(control, signIn());
    moved += 12 * HOUR;
    await settled(control, id, { status: "failed", attempts: 3, next_attempt_at: null });

    const { data } = (await control.request("GET", `/webhooks/${id}`)).body;
    assert.deepEqual([data.enabled, data.disabled_reason], [false, "failing"]);
    assert.ok(Date.parse(data.disabled_at) > Date.now());
    const [change] = changes.filter(({ action }) => action === "webhook.disabled");
    assert.deepEqual(
      [change?.actor, change?.target.id, change?.before?.["enabled"], change?.after?.["disabled_reason"]],
      [{ kind: "system", id: "webhooks", name: "webhook deliveries" }, id, true, "failing"],
    );
    // the second one ends as well, by the sweep where it was under way meanwhile; and no event is collected from now on
    await eventually("no more deliveries", async () => {
      await sweep(control.context);
      return (await logOf(control, id)).every(({ finished_at }) => finished_at !== null);
    });
    await emit(control, signIn());
    assert.equal((await logOf(control, id)).length, 2);

    answerWith(200);
    const sent = receiver.received.length;
    const enabled = await control.request("POST", `/webhooks/${id}/enable`);
    assert.deepEqual(
      [enabled.body.data.enabled, enabled.body.data.disabled_reason, enabled.body.data.disabled_at],
      [true, null, null],
    );
    await emit(control, signIn());
    await eventually("the new one", async () => (await logOf(control, id)).at(-1)?.status === "delivered");
    assert.equal(receiver.received.length, sent + 1);
  });

  it("disables nothing when it is one event that is refused while others are taken", async () => {
    const { id } = await register(control, { url: receiver.url });
    receiver.answer = (response, { json }) =>
      response.writeHead(json.type === "customer.created" ? 400 : 200).end();
    await emit(control, { type: "customer.created", data: {} });
    await settled(control, id, { attempts: 1, status: "pending" });
    await emit(control, signIn());
    await eventually("the other", async () => (await logOf(control, id)).at(-1)?.status === "delivered");
    moved += 24 * HOUR;
    await settled(control, id, { status: "failed", response_status: 400 });
    assert.equal((await control.request("GET", `/webhooks/${id}`)).body.data.enabled, true);
  });

  it("disables at once for 410", async () => {
    const { id } = await register(control, { url: receiver.url });
    answerWith(410);
    await emit(control, signIn());
    await settled(control, id, { status: "failed", attempts: 1, response_status: 410 });
    const { data } = (await control.request("GET", `/webhooks/${id}`)).body;
    assert.deepEqual([data.enabled, data.disabled_reason], [false, "gone"]);
  });

  it("cancels what waits when the webhook is switched off or deleted, and sends none of it later", async () => {
    const { id } = await register(control, { url: receiver.url });
    answerWith(500);
    await emit(control, signIn());
    await settled(control, id, { status: "pending", attempts: 1 });
    await control.request("PUT", `/webhooks/${id}`, { body: { enabled: false } });
    const reason = { cancelled_reason: "webhook_disabled" };
    await settled(control, id, { status: "cancelled", attempts: 1, next_attempt_at: null, ...reason });
    await control.request("PUT", `/webhooks/${id}`, { body: { enabled: true } });
    moved += HOUR;
    await control.request("POST", `/webhooks/${id}/test`);
    await receiver.has(2);
    assert.deepEqual(
      receiver.received.map(({ json }) => json.type),
      ["user.authenticated", "webhook.test"],
    );
  });

  it("is not tried while the receiver does not answer at all, but by one; a test ends the pause", async () => {
    await startAgain(1_000);
    const { id } = await register(control, { url: receiver.url });
    receiver.answer = () => undefined;
    await emit(control, ...Array.from({ length: 30 }, () => signIn()));
    const pausedUntil = async () =>
      (await control.request("GET", `/webhooks/${id}`)).body.data.paused_until as string | null;
    const paused = (before: string | null) =>
      eventually("a pause", async () => {
        const until = await pausedUntil();
        const busy = (await logOf(control, id)).some(({ status }) => status === "delivering");
        return !busy && until !== before && until;
      });
    const first = await paused(null);
    const tried = receiver.received.length;
    // four at a time, and the third failure pauses
    assert.ok(tried >= 3 && tried <= 6, String(tried));

    moved += HOUR;
    const second = await paused(first);
    assert.equal(receiver.received.length, tried + 1);
    assert.ok(Date.parse(second) > Date.parse(first));

    await startAgain();
    answerWith(200);
    await control.request("POST", `/webhooks/${id}/test`);
    moved += HOUR;
    await eventually("all of them", async () =>
      (await logOf(control, id)).every(({ status }) => status === "delivered"),
    );
    assert.equal(await pausedUntil(), null);
    assert.equal(receiver.received[tried + 1]?.json.type, "webhook.test");
  });

  it("goes to the new URL once that has changed", async () => {
    const { id } = await register(control, { url: `${receiver.url}/old` });
    answerWith(500);
    await emit(control, signIn());
    await settled(control, id, { status: "pending", attempts: 1 });
    await control.request("PUT", `/webhooks/${id}`, { body: { url: `${receiver.url}/new` } });
    answerWith(200);
    moved += HOUR;
    await settled(control, id, { status: "delivered" });
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ["/old", "/new"],
    );
  });

  for (const status of [301, 302, 303, 307, 308])
    it(`is not sent elsewhere: ${status} is a failure`, async () => {
      const elsewhere = await startReceiver();
      try {
        const { id } = await register(control, { url: receiver.url });
        answerWith(status, { location: elsewhere.url });
        await emit(control, signIn());
        const logged = await settled(control, id, {
          status: "pending",
          attempts: 1,
          response_status: status,
        });
        assert.equal(logged.error, `the receiver returned ${status}; redirects are not followed`);
        assert.deepEqual(elsewhere.received, []);
      } finally {
        await elsewhere.close();
      }
    });

  it("tells why there was no response, and no more than that", async () => {
    const causes: readonly (readonly [string, (() => void) | string])[] = [
      [
        "the connection was closed before a response",
        () => (receiver.answer = (response) => response.destroy()),
      ],
      ["the connection was refused", `http://127.0.0.1:${await freePort()}/`],
      ["the TLS handshake failed", receiver.url.replace("http:", "https:")],
      [
        "the response is not valid HTTP",
        () => (receiver.answer = (response) => response.socket?.end("nonsense\r\n\r\n")),
      ],
    ];
    const assertTold = async (error: string, url = receiver.url) => {
      const { id } = await register(control, { url });
      await control.request("POST", `/webhooks/${id}/test`);
      const logged = await settled(control, id, { status: "failed" });
      assert.deepEqual([logged.error, logged.response_status, logged.response_body], [error, null, null]);
    };
    for (const [error, cause] of causes) {
      if (typeof cause === "function") cause();
      await assertTold(error, typeof cause === "string" ? cause : receiver.url);
    }
    await startAgain(1_500);
    receiver.answer = () => undefined;
    await assertTold("timed out while waiting for a response");
  });

  const bodies: readonly (readonly [string, string | Buffer, (kept: string) => boolean])[] = [
    ["is short", "thanks", (kept) => kept === "thanks"],
    ["has 10,000 bytes", "x".repeat(10_000), (kept) => kept === `${"x".repeat(1_021)}...`],
    [
      "is no text",
      Buffer.from([0, 255, 254, 27, 10]),
      (kept) => /^\\u\{0\}\S+\\u\{1b\}\\u\{a\}$/u.test(kept),
    ],
    ["shows a token", "Bearer 0123456789abcdef", (kept) => !kept.includes("0123456789abcdef")],
  ];
  for (const [what, body, fits] of bodies)
    it(`keeps the beginning of an answer that ${what}`, async () => {
      receiver.answer = (response) => response.writeHead(200).end(body);
      const { id } = await register(control, { url: receiver.url });
      await emit(control, signIn());
      const { response_body: kept } = await settled(control, id, { status: "delivered" });
      assert.ok(fits(kept ?? ""), String(kept));
    });

  it("reads no further in an answer without end, and takes its status", async () => {
    let sent = 0;
    receiver.answer = (response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && sent < 1e9 && response.write("y".repeat(1_000))) sent += 1_000;
      };
      response.on("drain", more);
      more();
    };
    const { id } = await register(control, { url: receiver.url });
    await emit(control, signIn());
    const logged = await settled(control, id, { status: "delivered" });
    assert.equal(logged.response_body?.length, 1_024);
    // what the system's buffers hold
    assert.ok(sent < 50_000_000, String(sent));
  });

  it("takes the status of an answer whose body does not end", async () => {
    await startAgain(3_500);
    receiver.answer = (response) => void response.writeHead(202).write("part");
    const { id } = await register(control, { url: receiver.url });
    await emit(control, signIn());
    await settled(control, id, { status: "delivered", response_status: 202, response_body: "part" });
  });

  it("is not signed with a secret that does not open", async () => {
    const { id } = await register(control, { url: receiver.url });
    await control.context.db("webhooks").update({ secret: "v1.AAAA" });
    await control.request("POST", `/webhooks/${id}/test`);
    const logged = await settled(control, id, { status: "failed" });
    assert.equal(logged.error, "the delivery cannot be signed");
    assert.deepEqual(receiver.received, []);
  });
});

describe("webhooks: targets at delivery", () => {
  const addresses: readonly (readonly [string, string[][]])[] = [
    ["leads to a private address", [["10.0.0.1"]]],
    ["has led to a public address once, and to loopback then", [["93.184.216.34"], ["127.0.0.1"]]],
  ];
  for (const [what, answers] of addresses)
    it(`are looked at again: a name that ${what} is not connected to`, async () => {
      const receiver = await startReceiver();
      const control = await startControl({ routes: webhookRoutes });
      const { webhooks } = TEST_SETTINGS;
      const strict = { ...control.context.settings, webhooks: { ...webhooks, allowPrivateTargets: false } };
      let last: string[] = [];
      const resolve = () => Promise.resolve((last = answers.shift() ?? last));
      // the first answer, where there are two, is that of the registration
      if (answers.length > 1) await resolve();
      const deliveries = startDeliveries({ ...control.context, settings: strict }, { resolve });
      try {
        const url = receiver.url.replace("http://127.0.0.1", "https://receiver.example");
        const { id } = await register(control, { url });
        await emit(control, signIn());
        const logged = await settled(control, id, { status: "pending", attempts: 1 });
        assert.equal(logged.error, "the host has no public address");
        assert.deepEqual(receiver.received, []);
      } finally {
        await deliveries.close();
        await receiver.close();
        await control.close();
      }
    });

  it("are not connected to after the operator has forbidden them", async () => {
    const receiver = await startReceiver();
    const control = await startControl({ routes: webhookRoutes });
    const { id } = await register(control, { url: receiver.url });
    const overTls = await register(control, { url: receiver.url.replace("http:", "https:") });
    const webhooks = { ...TEST_SETTINGS.webhooks, allowPrivateTargets: false };
    const settings = { ...control.context.settings, webhooks };
    const deliveries = startDeliveries({ ...control.context, settings });
    try {
      await emit(control, signIn());
      const one = await settled(control, id, { status: "pending", attempts: 1 });
      const other = await settled(control, overTls.id, { status: "pending", attempts: 1 });
      assert.deepEqual(
        [one.error, other.error],
        ["the URL must begin with https://", "the address is not public"],
      );
      assert.deepEqual(receiver.received, []);
    } finally {
      await deliveries.close();
      await receiver.close();
      await control.close();
    }
  });
});

describe("webhooks: when to try again", () => {
  it("waits longer each time, up to an hour, with some chance", () => {
    const middle = () => 0.5;
    const waits = Array.from({ length: 14 }, (_, at) => retryDelay(at + 1, middle) / 1_000);
    assert.deepEqual(waits.slice(0, 4), [5, 10, 20, 40]);
    assert.deepEqual(waits.slice(9, 12), [2_560, 3_600, 3_600]);
    assert.deepEqual([retryDelay(1, () => 0), retryDelay(1, () => 1)], [4_000, 6_000]);
    assert.equal(retryDelay(10_000, middle), HOUR);
  });
});

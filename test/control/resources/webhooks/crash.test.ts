import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { startDeliveries } from "../../../../src/control/resources/webhooks/start-deliveries.ts";
import { closeDatabase, migrate, openDatabase } from "../../../../src/storage/index.ts";
import { startControl, TEST_SETTINGS, type RunningControl } from "../../../support/control.ts";
import { privatePostgres } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { startReceiver, type WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { emit, logOf, register, settled, signIn } from "../../support/webhooks.ts";

const CHILD = fileURLToPath(new URL("../../support/deliver-child.ts", import.meta.url));

describe("webhooks: when something dies", () => {
  let control: RunningControl;
  let receiver: WebhookReceiver;
  let moved: number;
  const masterKey = randomBytes(32);

  beforeEach(async () => {
    moved = 0;
    receiver = await startReceiver();
    control = await startControl({ routes: webhookRoutes, clock: () => Date.now() + moved, masterKey });
  });
  afterEach(async () => {
    await receiver.close();
    await control.close();
  });

  it("delivers again what a process was sending when it was killed", async () => {
    const { id } = await register(control, { url: receiver.url });
    receiver.answer = () => undefined;
    const child = spawn(process.execPath, [CHILD, control.database.url, masterKey.toString("hex")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(child.stdout, "data");
      await emit(control, signIn());
      await receiver.has(1);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    const deliveries = startDeliveries(control.context);
    try {
      receiver.answer = (response) => response.writeHead(200).end();
      // another that comes after it is not held up, and the claim of the dead keeps the first from being sent twice
      await emit(control, signIn());
      await receiver.has(2);
      const [first] = await logOf(control, id);
      assert.deepEqual([first?.status, first?.attempts], ["delivering", 1]);
      assert.equal(receiver.received.length, 2);

      moved = 120_000;
      await settled(control, id, { status: "delivered", attempts: 2 });
      const [one, , again] = receiver.received.map(({ body }) => body);
      assert.equal(one, again);
    } finally {
      await deliveries.close();
    }
  });

  it("writes down what became of a delivery once a database that was killed is back, and sends it no more", async () => {
    const postgres = await privatePostgres();
    const db = openDatabase(postgres.url);
    let local: RunningControl | undefined;
    try {
      await migrate(db);
      const database = { url: postgres.url, db, close: () => Promise.resolve() };
      local = await startControl({ routes: webhookRoutes, database });
      const deliveries = startDeliveries(local.context);
      const { id } = await register(local, { url: receiver.url });
      let answerNow: () => void = () => undefined;
      receiver.answer = (response) => (answerNow = () => response.writeHead(200).end());
      await emit(local, signIn());
      await receiver.has(1);
      await postgres.kill9();
      answerNow();
      await postgres.restart();
      const running = local;
      await eventually("the outcome", async () => (await logOf(running, id))[0]?.status === "delivered");
      receiver.answer = (response) => response.writeHead(200).end();
      await emit(running, signIn());
      await receiver.has(2);
      await deliveries.close();
      assert.equal(receiver.received.length, 2);
    } finally {
      await local?.close();
      await closeDatabase(db);
      await postgres.close();
    }
  });

  it("waits at its end for what is under way", async () => {
    const deliveries = startDeliveries(control.context);
    const { id } = await register(control, { url: receiver.url });
    let answerNow: () => void = () => undefined;
    receiver.answer = (response) => (answerNow = () => response.writeHead(200).end());
    await emit(control, signIn());
    await receiver.has(1);
    const closing = deliveries.close();
    answerNow();
    await closing;
    assert.equal((await logOf(control, id))[0]?.status, "delivered");
    await emit(control, signIn());
    assert.equal((await logOf(control, id))[1]?.status, "pending");
  });

  it("gives back at its end what takes too long, for the next to send at once", async () => {
    const webhooks = { ...TEST_SETTINGS.webhooks, timeoutMs: 60_000 };
    const patient = { ...control.context, settings: { ...control.context.settings, webhooks } };
    const deliveries = startDeliveries(patient);
    const { id } = await register(control, { url: receiver.url });
    receiver.answer = () => undefined;
    await emit(control, signIn());
    await receiver.has(1);
    await deliveries.close();
    await settled(control, id, { status: "pending", attempts: 1, error: null });
    receiver.answer = (response) => response.writeHead(200).end();
    const next = startDeliveries(control.context);
    await settled(control, id, { status: "delivered", attempts: 2 });
    await next.close();
  });
});

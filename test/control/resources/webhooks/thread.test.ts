import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Worker } from "node:worker_threads";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { startDeliveryThread } from "../../../../src/processes/control-plane/start-delivery-thread.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import { startReceiver, type WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { emit, logOf, register, settled, signIn } from "../../support/webhooks.ts";

describe("webhooks: the thread that delivers", () => {
  let control: RunningControl;
  let receiver: WebhookReceiver;
  let threads: Worker[];
  const masterKey = randomBytes(32);

  const start = () =>
    startDeliveryThread(control.context, {
      databaseUrl: control.database.url,
      keys: { sealing: masterKey, others: [] },
      logLevel: "error",
      onThread: (thread) => threads.push(thread),
    });

  before(async () => {
    receiver = await startReceiver();
    control = await startControl({ routes: webhookRoutes, masterKey });
  });
  after(async () => {
    await receiver.close();
    await control.close();
  });
  beforeEach(() => {
    threads = [];
  });

  it("begins with the first delivery, and is started again when it dies", async () => {
    const deliveries = start();
    try {
      const { id } = await register(control, { url: receiver.url });
      assert.equal(threads.length, 0);
      await emit(control, signIn());
      await settled(control, id, { status: "delivered", attempts: 1 });
      assert.equal(threads.length, 1);
      await threads[0]?.terminate();
      await emit(control, signIn());
      await eventually("the second", async () => (await logOf(control, id)).at(-1)?.status === "delivered");
      assert.equal(threads.length, 2);
    } finally {
      await deliveries.close();
    }
    // it ends what it has begun, and takes up nothing else
    const [, second] = threads;
    assert.equal(second?.threadId, -1);
    await emit(control, signIn());
    assert.equal(receiver.received.length, 2);
  });

  it("takes up what an earlier process has left", async () => {
    const { id } = await register(control, { url: receiver.url });
    await emit(control, signIn());
    const deliveries = start();
    await settled(control, id, { status: "delivered" });
    await deliveries.close();
    // closed twice, and before anything has begun
    await deliveries.close();
    await start().close();
  });
});

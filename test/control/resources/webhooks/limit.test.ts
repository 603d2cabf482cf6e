import assert from "node:assert/strict";
import { newId } from "../../../../src/control/platform/ids.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { MAX_WEBHOOKS } from "../../../../src/control/resources/webhooks/service.ts";
import { startControl, TEST_SETTINGS, type RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import { register, URL_OF_NOBODY } from "../../support/webhooks.ts";
import { lockWaits } from "../../../support/lock-waits.ts";

describe("webhooks: their number", () => {
  let control: RunningControl;

  before(async () => {
    control = await startControl({
      settings: { webhooks: { ...TEST_SETTINGS.webhooks, allowPrivateTargets: true } },
      routes: webhookRoutes,
    });
  });
  after(() => control.close());

  it("is bounded where several are created at the same time", async () => {
    const { db } = control.context;
    const { id } = await register(control);
    const row = await db("webhooks").where({ id }).first<object>();
    await db("webhooks").insert(
      Array.from({ length: MAX_WEBHOOKS - 2 }, () => ({ ...row, id: newId("webhook") })),
    );
    // without a lock, all of them have counted before one is stored
    const held = await db.transaction();
    try {
      await held.raw("lock table webhooks in share row exclusive mode");
      const body = { url: URL_OF_NOBODY, events: ["*"] };
      const asked = [1, 2, 3].map(() => control.request("POST", "/webhooks", { body }));
      await eventually("the requests that wait", async () => {
        return (await lockWaits(db)).length === asked.length;
      });
      await held.rollback();
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      assert.deepEqual(statuses.sort(), [201, 409, 409]);
    } finally {
      if (!held.isCompleted()) await held.rollback();
    }
  });
});

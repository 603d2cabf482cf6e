import assert from "node:assert/strict";
import * as z from "zod";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import { created, writeRoute, type Route } from "../../../../src/control/platform/frame/route.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";

describe("a request that is repeated with its Idempotency-Key", () => {
  let api: RunningControl;
  let isAway = false;
  let prepared = 0;

  /** Prepares by asking something that may be away. */
  const route = (): Route =>
    writeRoute({
      method: "post",
      path: "/things",
      operation: "createThing",
      summary: "Create a thing",
      tag: "things",
      group: "management",
      permission: "configure",
      tenancy: "all",
      body: z.strictObject({ name: z.string() }),
      answers: { 201: z.object({ name: z.string() }) },
      errors: ["IDP_UNREACHABLE"],
      prepare({ body }) {
        prepared += 1;
        return isAway ? Promise.reject(new ApiError("IDP_UNREACHABLE")) : Promise.resolve(body.name);
      },
      write: (_call, _unit, name) => Promise.resolve(created({ name })),
    });

  before(async () => {
    api = await startControl({ routes: () => [route()] });
  });
  after(() => api.close());

  const post = (key: string, name = "a") =>
    api.request("POST", "/things", { body: { name }, headers: { "idempotency-key": key } });

  it("gets the same answer while what it was prepared from is away", async () => {
    const first = await post("lost");
    assert.equal(first.status, 201);
    isAway = true;
    const before = prepared;
    const again = await post("lost");
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(prepared, before);
    assert.equal((await post("lost", "b")).body.error.code, "IDEMPOTENCY_KEY_REUSED");
    assert.equal((await post("new")).body.error.code, "IDP_UNREACHABLE");
    isAway = false;
    assert.equal((await post("new")).status, 201);
  });
});

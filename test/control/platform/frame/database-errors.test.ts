import assert from "node:assert/strict";
import * as z from "zod";
import { ok, writeRoute } from "../../../../src/control/platform/frame/route.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";

describe("a database that takes nothing at the moment", () => {
  let api: RunningControl;

  before(async () => {
    api = await startControl({
      routes: () => [
        writeRoute({
          method: "post",
          path: "/things",
          operation: "createThing",
          summary: "Create a thing",
          tag: "things",
          group: "management",
          permission: "configure",
          tenancy: "all",
          body: z.strictObject({ state: z.string().length(5) }),
          answers: { 200: z.object({}) },
          async write({ body }, unit) {
            await unit.trx.raw(
              "create function pg_temp.fail(state text) returns void language plpgsql as $$ begin raise exception using errcode = state; end $$",
            );
            await unit.trx.raw("select pg_temp.fail(?)", [body.state]);
            return ok({});
          },
        }),
      ],
    });
  });
  after(() => api.close());

  for (const [state, why, status] of [
    ["40001", "lost to others, again and again", 503],
    ["40P01", "deadlocked, again and again", 503],
    ["53100", "the disk is full", 503],
    ["53200", "out of memory", 503],
    ["25006", "it is a standby since a failover", 503],
    ["22012", "a defect", 500],
  ] as const) {
    it(`${state} (${why}) is ${status}`, async () => {
      const answer = await api.request("POST", "/things", { body: { state } });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("retry-after"), status === 503 ? "1" : null);
    });
  }
});

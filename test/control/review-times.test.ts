import assert from "node:assert/strict";
import { makeOwner, send, startGuardedControl, type Person } from "../support/guarded-control.ts";
import { startControl, type RunningControl } from "../support/control.ts";

/** In the year 10000, and before the year 0, by UTC: ISO 8601 with four digits cannot say when that is. */
const BEYOND = ["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"];

describe("review: times at the ends of the calendar", () => {
  describe("of an API key", () => {
    let control: RunningControl;
    let owner: Person;
    before(async () => {
      control = await startGuardedControl();
      owner = await makeOwner(control);
    });
    after(() => control.close());

    it("are refused where no answer could tell them, and break no list", async () => {
      for (const expires_at of BEYOND) {
        const body = { name: "long", scope: "read_only", expires_at };
        const answer = await send(control, "POST", "/api-keys", owner.headers, body);
        assert.equal(answer.status, 422, `${expires_at}: ${answer.text}`);
        assert.equal(answer.body.error.details.fields[0].path, "expires_at");
      }
      assert.equal((await send(control, "GET", "/api-keys", owner.headers)).status, 200);
    });

    it("may be the last that there is", async () => {
      const body = { name: "long", scope: "read_only", expires_at: "9999-12-31T23:59:59Z" };
      const answer = await send(control, "POST", "/api-keys", owner.headers, body);
      assert.equal(answer.status, 201, answer.text);
      assert.equal(answer.body.data.expires_at, "9999-12-31T23:59:59.000Z");
    });
  });

  describe("in a query", () => {
    let control: RunningControl;
    before(async () => {
      control = await startControl();
    });
    after(() => control.close());

    for (const [path, name] of [
      ["/customers", "created_before"],
      ["/sessions", "created_after"],
      ["/audit/logs", "to"],
      ["/analytics/events", "to"],
      ["/analytics/dashboard", "to"],
      ["/analytics/users", "seen_since"],
    ] as const)
      it(`are malformed: ${path}`, async () => {
        for (const time of BEYOND) {
          const answer = await control.request("GET", `${path}?${name}=${encodeURIComponent(time)}`);
          assert.equal(answer.status, 400, `${time}: ${answer.text.slice(0, 200)}`);
        }
        const last = await control.request("GET", `${path}?${name}=9999-12-31T23:59:59Z`);
        assert.ok([200, 400].includes(last.status), last.text);
      });
  });
});

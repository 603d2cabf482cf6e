import assert from "node:assert/strict";
import { readIdentity } from "../../src/control/sign-in/claims.ts";
import { startControl, type RunningControl } from "../support/control.ts";

/** What a page of a hundred users can be made of. */
const BOUND = 32_768;

describe("review: sizes that others choose", () => {
  it("a provider's profile is bounded as a whole, the largest claims being left out", () => {
    const large = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(256, "x"));
    const mapping = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`copy_${at}`, "large"]));
    const { profile, leftOut } = readIdentity(mapping, { sub: "s", large, role: "editor" }, {});
    assert.ok(Buffer.byteLength(JSON.stringify(profile)) <= BOUND);
    assert.equal(profile["role"], "editor");
    assert.equal(leftOut.length, 50);
  });

  it("groups of a usual number are taken over", () => {
    const groups = Array.from({ length: 200 }, (_, at) => `${at}`.padEnd(36, "0"));
    assert.deepEqual(readIdentity({}, { sub: "s", groups }, {}).profile["groups"], groups);
  });

  describe("of an administrator", () => {
    let control: RunningControl;
    before(async () => {
      control = await startControl();
    });
    after(() => control.close());

    it("attributes are bounded as a whole", async () => {
      const { body } = await control.request("POST", "/customers", { body: { name: "Acme" } });
      const list = Array.from({ length: 200 }, () => "x".repeat(400));
      const answer = await control.request("POST", `/customers/${body.data.id as string}/users`, {
        body: { subject: "s", attributes: { list } },
      });
      assert.equal(answer.status, 422, answer.text.slice(0, 200));
      assert.equal(answer.body.error.details.fields[0].path, "attributes");
    });
  });
});

import assert from "node:assert/strict";
import { takeRecords } from "../../support/gateway-records.ts";
import { KnownPeople, NOW } from "../../support/known-people.ts";

describe("erasure: what candidates would have decided", () => {
  let known: KnownPeople;
  beforeEach(async () => {
    known = await KnownPeople.start();
  });
  afterEach(() => known.control.close());

  it("leaves of differences in shadow the rules and reasons, of those that come later as well", async () => {
    const { control, customer } = known;
    const { user } = await known.makeUser(customer);
    const shadow = (n: number) => ({
      ...{ timestamp: new Date(NOW - n).toISOString(), event: "shadow_decision", request_id: "" },
      ...{ user_id: user.id, customer_id: customer, resource: "/people/ada@mail.example" },
      ...{ action: "GET", difference: "denies", policy_set: "main@v1", decision: "ALLOW", rule: null },
      ...{
        candidate_decision: "DENY",
        candidate_rule: "policies[1]",
        candidate_detail: "of ada@mail.example",
      },
    });
    await takeRecords(control, [shadow(1)]);
    await known.ask("DELETE", `/users/${user.id}`);
    await known.erase();
    await takeRecords(control, [shadow(2)]);
    const rows = await known.db("audit_records").where({ user_id: user.id, kind: "shadow" });
    assert.equal(rows.length, 2);
    for (const { resource, record } of rows) {
      assert.equal(resource, "/people/***");
      assert.deepEqual(record, {
        ...{ difference: "denies", decision: "ALLOW", candidate_decision: "DENY" },
        candidate_rule: "policies[1]",
      });
    }
  });
});

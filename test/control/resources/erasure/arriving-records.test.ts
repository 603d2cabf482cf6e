import assert from "node:assert/strict";
import { runs } from "../../../support/runs.ts";
import { rowsWith } from "../../support/database-texts.ts";
import { takeRecords } from "../../support/gateway-records.ts";
import { KnownPeople } from "../../support/known-people.ts";

describe("erasure while records arrive", () => {
  let known: KnownPeople;
  before(async () => {
    known = await KnownPeople.start();
  });
  after(() => known.control.close());

  it("holds for them, and for what rules read", async () => {
    for (let round = 0; round < runs(5); round += 1) {
      const { user } = await known.makeUser(known.customer, `sub-${round}`);
      const email = `sub-${round}.lovelace@mail.example`;
      const batches = Array.from({ length: 6 }, () =>
        Array.from({ length: 20 }, () => known.recordsOf(user, email)).flat(),
      );
      const sending = batches.map((batch) => takeRecords(known.control, batch));
      await Promise.all([...sending, known.ask("DELETE", `/users/${user.id}`).then(() => known.erase())]);
      await known.erase();
      assert.deepEqual(await rowsWith(known.db, [email, "Countess"]), []);
      const decided = await known.db("audit_records").where({ user_id: user.id, kind: "decision" });
      assert.equal(decided.length, 121, "the decisions stay");
      assert.deepEqual(await known.db("record_inputs"), []);
    }
  });
});

import assert from "node:assert/strict";
import { createApiKey } from "../../../../src/control/resources/api-keys/store.ts";
import { wipe } from "../../../../src/control/sandbox/wipe.ts";
import { namedActor } from "../../../../src/control/platform/named-actor.ts";
import type { RunningControl } from "../../../support/control.ts";
import {
  makeOwner,
  makePerson,
  OPERATOR,
  send,
  startGuardedControl,
} from "../../../support/guarded-control.ts";
import { rowsWith } from "../../support/database-texts.ts";
import { KnownPeople } from "../../support/known-people.ts";

describe("erasure of a dashboard user", () => {
  let known: KnownPeople;
  let control: RunningControl;

  beforeEach(async () => {
    known = await KnownPeople.start();
    ({ control } = known);
  });
  afterEach(() => control.close());

  it("cannot begin while something is written that names them", async () => {
    const guarded = await startGuardedControl({ database: control.database, clock: () => known.time });
    try {
      const { id } = await makeOwner(guarded);
      const actor = { kind: "dashboard_user", id, name: "Olga", role: "owner", sessionId: "any" } as const;
      await control.context.units({ ...OPERATOR, actor }, async (unit) => {
        assert.equal((await namedActor(unit.trx, actor)).name, "Olga");
        await assert.rejects(
          async () => known.db("dashboard_users").where({ id }).forUpdate().noWait().first("id"),
          { code: "55P03" },
        );
      });
    } finally {
      await guarded.close();
    }
  });

  it("takes name and e-mail address out of what they did and what was done to them", async () => {
    const guarded = await startGuardedControl({ database: control.database, clock: () => known.time });
    try {
      const owner = await makeOwner(guarded);
      const admin = await makePerson(guarded, owner, "admin");
      await known.db("dashboard_users").where({ id: admin.id }).update({ name: "Ada Lovelace" });
      const made = await send(guarded, "POST", "/api-keys", admin.headers, {
        name: "k",
        scope: "read_only",
      });
      assert.equal(made.status, 201, made.text);
      const secrets = ["Lovelace", admin.email];
      assert.ok((await rowsWith(known.db, secrets)).length >= 4);
      const deleted = await send(guarded, "DELETE", `/dashboard/users/${admin.id}`, owner.headers);
      assert.equal(deleted.status, 200);
      // a reset of the sandbox keeps the platform's keys, and who made them is still to be erased
      await control.context
        .units(OPERATOR, async (unit) => {
          await wipe(unit);
          assert.deepEqual(await unit.trx("erasures").pluck("id"), [admin.id]);
          throw new Error("undone");
        })
        .catch((error: unknown) => {
          assert.match(String(error), /undone/);
        });
      await known.erase();
      assert.deepEqual(await rowsWith(known.db, secrets), []);
      const query = `kind=change&action=api_key.created&user_id=${admin.id}`;
      const changes = await known.ask("GET", `/audit/logs?${query}`);
      assert.deepEqual(changes[0].actor, { kind: "dashboard_user", id: admin.id });
      // of others nothing changes
      assert.ok((await rowsWith(known.db, ["Olga"])).length > 0);
      // who asked was known before the deletion, and what they asked for is done after it
      const actor = {
        kind: "dashboard_user",
        id: admin.id,
        name: "Ada Lovelace",
        role: "admin",
        sessionId: "ended",
      } as const;
      await control.context.units({ ...OPERATOR, actor }, (unit) =>
        createApiKey(unit, { environment: "production", name: "late", scope: "read_only" }),
      );
      assert.deepEqual(await rowsWith(known.db, secrets), []);
      const gone = await known.ask("GET", `/erasures/${admin.id}`);
      assert.deepEqual([gone.kind, gone.customer_id, gone.status], ["dashboard_user", null, "finished"]);
    } finally {
      await guarded.close();
    }
  });
});

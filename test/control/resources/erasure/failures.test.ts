import assert from "node:assert/strict";
import { erasureFailure, erasureRetryDelay } from "../../../../src/control/resources/erasure/failure.ts";
import { runErasures } from "../../../../src/control/resources/erasure/jobs.ts";
import type { RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";
import { rowsWith } from "../../support/database-texts.ts";
import { KnownPeople, NOW, SECRETS } from "../../support/known-people.ts";

describe("an erasure that fails", () => {
  let known: KnownPeople;
  let control: RunningControl;
  let customer: string;

  beforeEach(async () => {
    known = await KnownPeople.start();
    ({ control, customer } = known);
  });
  afterEach(() => control.close());

  it("says which step fails, how often, and when it is tried again, while others go on", async () => {
    const { user } = await known.makeUser(customer);
    const { user: neighbour } = await known.makeUser(customer, "sub-else");
    await known.db.raw(
      `create function refuse() returns trigger language plpgsql as
         $$ begin raise exception 'no %', old.id_token using errcode = 'P0001'; end $$`,
    );
    await known.db.raw(
      `create trigger stays before update on sessions for each row
         when (old.user_id = '${user.id}' and new.id_token is null) execute function refuse()`,
    );
    for (const { id } of [user, neighbour]) await known.ask("DELETE", `/users/${id}`);
    const failure = async () => (await known.ask("GET", `/erasures/${user.id}`)).failure;
    const at = (ms: number) => new Date(NOW + ms).toISOString();
    const failed = (attempts: number, next: number) => ({
      step: "sessions",
      message: "the database refused a statement (SQLSTATE P0001); see the control plane's log",
      ...{ attempts, next_attempt_at: at(next) },
    });
    assert.equal(await failure(), null);
    await eventually("the first failure, and the end of the other", async () => {
      await runErasures(control.context);
      const { status } = await known.ask("GET", `/erasures/${neighbour.id}`);
      return (await failure()) !== null && status === "finished";
    });
    assert.deepEqual(await failure(), failed(1, 1_000));
    known.time = NOW + 1_000;
    await runErasures(control.context);
    assert.deepEqual(await failure(), failed(2, 3_000));
    const [listed] = await known.ask("GET", "/erasures?status=running");
    assert.deepEqual([listed.id, listed.failure], [user.id, failed(2, 3_000)]);
    await known.db.raw("drop trigger stays on sessions");
    // not before its time
    await runErasures(control.context);
    assert.deepEqual(await failure(), failed(2, 3_000));
    known.time = NOW + 3_000;
    await known.erase();
    assert.equal(await failure(), null);
    assert.deepEqual(await rowsWith(known.db, SECRETS), []);
  });

  it("is told in words of its own, whatever the error says", () => {
    const failed = (code?: string) =>
      Object.assign(new Error("Key (email)=(ada@lovelace.example)"), { code });
    assert.deepEqual(
      [failed("23505"), failed("57014"), failed("ECONNREFUSED"), failed(), "ada@lovelace.example"].map(
        erasureFailure,
      ),
      [
        "the database refused a statement (SQLSTATE 23505)",
        "the database did not respond in time",
        "the database refused the connection",
        "an unexpected error",
        "an unexpected error",
      ].map((reason) => `${reason}; see the control plane's log`),
    );
    assert.deepEqual([1, 2, 3, 9, 10, 10_000].map(erasureRetryDelay), [
      ...[1_000, 2_000, 4_000, 256_000, 300_000, 300_000],
    ]);
  });
});

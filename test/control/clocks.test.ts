import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { recordsRoutes } from "../../src/control/analytics/records/routes.ts";
import { pruneRollups } from "../../src/control/analytics/rollups/prune-rollups.ts";
import { customerRoutes } from "../../src/control/resources/customers/routes.ts";
import { signInRoutes } from "../../src/control/sign-in/routes.ts";
import { databaseNow } from "../../src/storage/index.ts";
import { startControl, type RunningControl } from "../support/control.ts";
import { decisionRecord, GATEWAY_KEY, takenRecords } from "./support/gateway-records.ts";
import { SIGN_IN_KEY, startSignInBench, type SignInBench } from "./support/sign-in.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Two instances on one database: the clock of the first is right, that of the second is off. */
describe("instances whose clocks differ", () => {
  const masterKey = randomBytes(32);
  let right: SignInBench;
  let wrong: RunningControl;
  let off = 0;

  before(async () => {
    right = await startSignInBench({ masterKey, databaseNow });
    wrong = await startControl({
      ...{ database: right.database, masterKey, databaseNow },
      clock: () => Date.now() + off,
      routes: (context, shared) => [
        ...customerRoutes(context),
        ...recordsRoutes(context),
        ...signInRoutes(context, shared),
      ],
    });
  });
  after(async () => {
    await wrong.close();
    await right.close();
  });

  for (const [which, difference] of [
    ["ahead", 2 * DAY],
    ["behind", -2 * DAY],
  ] as const)
    it(`carry a request with one Idempotency-Key out once (two days ${which})`, async () => {
      off = difference;
      for (const [first, second] of [
        [right, wrong],
        [wrong, right],
      ] as const) {
        const once = {
          body: { name: "Once" },
          headers: { "idempotency-key": randomBytes(8).toString("hex") },
        };
        const made = await first.request("POST", "/customers", once);
        assert.equal(made.status, 201, made.text);
        assert.equal((await second.request("POST", "/customers", once)).text, made.text);
      }
    });

  it("accept the same records and statistics of gateways", async () => {
    const now = Date.now();
    const at = (time: number) => decisionRecord({ timestamp: new Date(time).toISOString() });
    let sequence = 0;
    const report = async (to: number, of = (sequence += 1)) => {
      const { body } = await wrong.request("POST", "/gateway/statistics", {
        body: {
          ...{ instance: "gateway", sequence: of, caches: [] },
          ...{ from: new Date(to - 1_000).toISOString(), to: new Date(to).toISOString() },
          audit: { decided: 1, recorded: 1, dropped: 0 },
        },
        as: GATEWAY_KEY,
      });
      return body.data as object;
    };
    for (const difference of [20 * DAY, -20 * DAY]) {
      off = difference;
      const taken = await takenRecords(wrong, [at(now), at(now + 10 * MINUTE), at(now - 8 * DAY)]);
      assert.deepEqual(
        [taken.accepted, taken.rejected.map((rejected) => (rejected as { code: string }).code)],
        [1, ["CLOCK_AHEAD", "TOO_OLD"]],
      );
      assert.deepEqual(await report(now), { accepted: true });
      const sent = sequence;
      // what has been counted is remembered as long as it may be sent again
      await pruneRollups(right.database.db, Date.now(), wrong.context.settings.retention);
      assert.deepEqual(await report(now, sent), { accepted: false, reason: "DUPLICATE" });
      assert.deepEqual(await report(now + 10 * MINUTE), { accepted: false, reason: "CLOCK_AHEAD" });
      assert.deepEqual(await report(now - 8 * DAY), { accepted: false, reason: "TOO_OLD" });
    }
    const received = await right.database
      .db("audit_records")
      .where({ kind: "decision" })
      .select("received_at");
    assert.equal(received.length, 2);
    for (const { received_at: time } of received as { received_at: Date }[])
      assert.ok(Math.abs(time.getTime() - now) < 10 * MINUTE, time.toISOString());
    // a report never counts in the future
    const [counted] = await right.database.db("rollup_audit").max({ latest: "start" });
    assert.ok((counted as { latest: Date }).latest.getTime() <= Date.now());
  });

  for (const [which, difference] of [
    ["ahead", 5 * MINUTE],
    ["behind", -5 * MINUTE],
  ] as const)
    it(`repeat each other's refreshes (five minutes ${which})`, async () => {
      off = difference;
      const { refresh_token: token } = await right.signIn(await right.customer());
      const refresh = (instance: RunningControl) =>
        instance.request("POST", "/auth/refresh", { body: { refresh_token: token }, as: SIGN_IN_KEY });
      // the same application twice at once, at both instances
      const answers = [await refresh(right), await refresh(wrong), await refresh(right)];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
        answers.map(({ text }) => text).join("\n"),
      );
      const next = answers.map(({ body }) => body.data.refresh_token as string);
      assert.equal(new Set(next).size, 1);
    });
});

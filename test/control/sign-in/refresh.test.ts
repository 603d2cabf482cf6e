import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { decodeJwt } from "jose";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { signInRoutes } from "../../../src/control/sign-in/routes.ts";
import { startControl } from "../../support/control.ts";
import {
  OTHER_KEY,
  SIGN_IN_KEY,
  startSignInBench,
  told,
  type SignInBench,
  type Tokens,
} from "../support/sign-in.ts";

const HOUR = 3_600_000;
/** Longer than the time for which a used token brings the same next one. */
const LATER = 11_000;
/** Another key of the family of the one that signs in: it was rolled. */
const ROLLED_KEY: Actor = { ...SIGN_IN_KEY, id: "key_rolled", familyId: SIGN_IN_KEY.id };

const [OLD_MASTER, NEW_MASTER] = [randomBytes(32), randomBytes(32)];

describe("refresh tokens", () => {
  let bench: SignInBench;
  let customer: string;
  let tokens: Tokens;
  /** Time stands still after each sign-in, however long a test takes, and goes on by so much. */
  let still: number | undefined;
  let skip = 0;
  const clock = () => (still ?? Date.now()) + skip;
  before(async () => {
    bench = await startSignInBench({
      clock,
      ...{ masterKey: OLD_MASTER, previousKeys: [NEW_MASTER] },
      settings: { refreshTokenSeconds: 2 * 3_600, sessionSeconds: 5 * 3_600 },
    });
    customer = await bench.customer();
  });
  after(() => bench.close());
  beforeEach(async () => {
    skip = 0;
    still = undefined;
    tokens = await bench.signIn(customer);
    still = Date.now();
    bench.forget();
  });

  const next = async (token: string): Promise<Tokens> => {
    const answer = await bench.refresh(token);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as Tokens;
  };

  it("are exchanged for others of the same session, once", async () => {
    const second = await next(tokens.refresh_token);
    assert.match(second.refresh_token, /^ghr_[\w-]{43}$/);
    assert.notEqual(second.refresh_token, tokens.refresh_token);
    assert.notEqual(second.access_token, tokens.access_token);
    const [before, after] = [decodeJwt(tokens.access_token), decodeJwt(second.access_token)];
    assert.equal(after["sid"], before["sid"]);
    assert.notEqual(after.jti, before.jti);
    assert.deepEqual(second.session, tokens.session);
    assert.deepEqual(second.user, tokens.user);
    assert.ok((await next(second.refresh_token)).refresh_token);
    // a refresh is no event
    assert.deepEqual(bench.events, []);
  });

  it("end the session when they are used again, and their successors with it", async () => {
    const second = await next(tokens.refresh_token);
    skip = LATER;
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "INVALID_REFRESH_TOKEN"]);
    assert.deepEqual(
      bench.events.map(({ type, data }) => [type, data.reason, data.session?.id, data.user?.id]),
      [["session.revoked", "refresh_reuse", tokens.session.id, tokens.user.id]],
    );
    const [change] = bench.told;
    assert.equal(change?.type, "session_ended");
    assert.equal(change.session_id, tokens.session.id);
    const expires = decodeJwt(second.access_token).exp! * 1000;
    // so long as the most tolerant gateway would take it
    assert.equal(Date.parse(change.until), expires + 300_000);
    assert.equal(bench.changes[0]?.action, "session.revoked");
    const answer = await bench.refresh(second.refresh_token);
    assert.deepEqual(told(answer), [401, "SESSION_ENDED"]);
    assert.equal(answer.body.error.details.reason, "refresh_reuse");
    // only once
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "INVALID_REFRESH_TOKEN"]);
    assert.equal(bench.events.length, 1);
  });

  it("give requests at once the same next token, and access tokens of their own", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => bench.refresh(tokens.refresh_token)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const given = answers.map(({ body }) => body.data as Tokens);
    assert.equal(new Set(given.map(({ refresh_token: one }) => one)).size, 1);
    assert.equal(new Set(given.map(({ access_token: one }) => one)).size, 3);
    assert.deepEqual(new Set(given.map(({ session }) => session.id)), new Set([tokens.session.id]));
    assert.deepEqual(bench.events, []);
    // one chain: it goes on from there
    const third = await next(given[0]?.refresh_token ?? "");
    assert.ok(await next(third.refresh_token));
  });

  it("give the same next one for ten seconds after the first use, not after the last", async () => {
    const first = await next(tokens.refresh_token);
    skip = 6_000;
    const repeated = await next(tokens.refresh_token);
    assert.equal(repeated.refresh_token, first.refresh_token);
    // it was issued then, and lives no longer
    assert.equal(repeated.refresh_expires_in, first.refresh_expires_in - 6);
    skip = LATER;
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "INVALID_REFRESH_TOKEN"]);
    assert.deepEqual(told(await bench.refresh(first.refresh_token)), [401, "SESSION_ENDED"]);
  });

  it("give the same next one at instances on both sides of a change of the encryption key", async () => {
    const changed = await startControl({
      ...{ database: bench.database, clock, routes: signInRoutes },
      ...{ masterKey: NEW_MASTER, previousKeys: [OLD_MASTER] },
    });
    try {
      const after = async (token: string): Promise<Tokens> => {
        const answer = await changed.request("POST", "/auth/refresh", {
          body: { refresh_token: token },
          as: SIGN_IN_KEY,
        });
        assert.equal(answer.status, 200, answer.text);
        return answer.body.data as Tokens;
      };
      const second = await next(tokens.refresh_token);
      assert.equal((await after(tokens.refresh_token)).refresh_token, second.refresh_token);
      const third = await after(second.refresh_token);
      assert.equal((await next(second.refresh_token)).refresh_token, third.refresh_token);
      assert.notEqual((await next(third.refresh_token)).refresh_token, third.refresh_token);
      assert.deepEqual(bench.events, []);
    } finally {
      await changed.close();
    }
  });

  it("end the session at once where the next one has been used, for then its answer has arrived", async () => {
    const second = await next(tokens.refresh_token);
    const third = await next(second.refresh_token);
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "INVALID_REFRESH_TOKEN"]);
    assert.deepEqual(
      bench.events.map(({ type, data }) => [type, data.reason]),
      [["session.revoked", "refresh_reuse"]],
    );
    assert.deepEqual(told(await bench.refresh(third.refresh_token)), [401, "SESSION_ENDED"]);
  });

  it("end the session at once where another application brings them again", async () => {
    const second = await next(tokens.refresh_token);
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token, OTHER_KEY)), [
      401,
      "INVALID_REFRESH_TOKEN",
    ]);
    assert.deepEqual(told(await bench.refresh(second.refresh_token)), [401, "SESSION_ENDED"]);
  });

  it("are evaluated again when they are repeated", async () => {
    await next(tokens.refresh_token);
    await bench.database.db("users").where({ id: tokens.user.id }).update({ status: "suspended" });
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [403, "USER_SUSPENDED"]);
    await bench.database.db("users").where({ id: tokens.user.id }).update({ status: "active" });
    await bench.request("DELETE", `/auth/logout?session_id=${tokens.session.id}`);
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "SESSION_ENDED"]);
  });

  it("are stored as hashes, the next ones too", async () => {
    const second = await next(tokens.refresh_token);
    const rows = await bench.database.db("refresh_tokens").where({ session_id: tokens.session.id });
    assert.equal(rows.length, 2);
    for (const { refresh_token: token } of [tokens, second])
      assert.ok(!JSON.stringify(rows).includes(token.slice(4)));
  });

  it("give the same answer to the same Idempotency-Key, at once or later: for whom the answer was lost", async () => {
    const ask = () =>
      bench.request("POST", "/auth/refresh", {
        as: SIGN_IN_KEY,
        body: { refresh_token: tokens.refresh_token },
        headers: { "idempotency-key": `lost-${tokens.session.id}` },
      });
    const [first, second] = await Promise.all([ask(), ask()]);
    assert.equal(first.status, 200, first.text);
    assert.equal(second.text, first.text);
    assert.equal((await ask()).text, first.text);
    assert.ok((await next(first.body.data.refresh_token)).refresh_token);
  });

  it("are good for keys of their customer alone, and no other ends anything with them", async () => {
    const limited = { ...SIGN_IN_KEY, id: "key_limited", customerId: "cus_00000000000000000000000000" };
    const refused = [401, "INVALID_REFRESH_TOKEN"];
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token, limited)), refused);
    const { refresh_token: second } = await next(tokens.refresh_token);
    skip = LATER;
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token, limited)), refused);
    assert.deepEqual(bench.events, []);
    const own = await bench.refresh(second, { ...limited, customerId: customer });
    assert.equal(own.status, 200, own.text);
  });

  it("outlive the key of the sign-in: those that it was rolled to are the same application", async () => {
    const first = await next(tokens.refresh_token);
    // an answer that was lost while keys were exchanged
    const answer = await bench.refresh(tokens.refresh_token, ROLLED_KEY);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.data.refresh_token, first.refresh_token);
    assert.equal(decodeJwt(answer.body.data.access_token as string)["client_id"], SIGN_IN_KEY.id);
    const ask = (as: Actor) =>
      bench.request("POST", "/auth/refresh", {
        as,
        body: { refresh_token: first.refresh_token },
        headers: { "idempotency-key": `rolled-${tokens.session.id}` },
      });
    const lost = await ask(SIGN_IN_KEY);
    assert.equal(lost.status, 200, lost.text);
    skip = LATER;
    assert.equal((await ask(ROLLED_KEY)).text, lost.text);
    const session = await bench.request("GET", `/sessions/${tokens.session.id}`);
    assert.equal(session.body.data.client_id, SIGN_IN_KEY.id);
  });

  it("give another application of the customer's tokens that name it", async () => {
    const answer = await bench.refresh(tokens.refresh_token, OTHER_KEY);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(decodeJwt(answer.body.data.access_token as string)["client_id"], OTHER_KEY.id);
    const session = await bench.request("GET", `/sessions/${tokens.session.id}`);
    assert.equal(session.body.data.client_id, SIGN_IN_KEY.id);
  });

  it("die when nobody uses them, and live on when somebody does, but not longer than the session", async () => {
    assert.equal(tokens.refresh_expires_in, 2 * 3_600);
    skip = 1.5 * HOUR;
    const second = await next(tokens.refresh_token);
    skip = 3 * HOUR;
    const third = await next(second.refresh_token);
    skip = 4.95 * HOUR;
    const fourth = await next(third.refresh_token);
    assert.ok(fourth.refresh_expires_in <= 180 && fourth.expires_in <= 180);
    skip = 5.01 * HOUR;
    const over = await bench.refresh(fourth.refresh_token);
    assert.deepEqual([...told(over), over.body.error.details.reason], [401, "SESSION_ENDED", "expired"]);
    const other = await bench.signIn(customer);
    skip += 2 * HOUR;
    assert.deepEqual(told(await bench.refresh(other.refresh_token)), [401, "INVALID_REFRESH_TOKEN"]);
  });

  it("end with a session that a policy has shortened, whatever becomes of the policy", async () => {
    const sessions = bench.database.db("sessions").where({ id: tokens.session.id });
    const before = new Date(String(tokens.session["expires_at"]));
    const second = await next(tokens.refresh_token);
    await sessions.clone().update({ expires_at: new Date(clock() + HOUR) });
    const repeated = await next(tokens.refresh_token);
    assert.equal(repeated.refresh_token, second.refresh_token);
    assert.equal(repeated.refresh_expires_in, 3_600);
    await sessions.clone().update({ expires_at: before });
    skip = HOUR + 2_000;
    assert.deepEqual(told(await bench.refresh(second.refresh_token)), [401, "INVALID_REFRESH_TOKEN"]);
    // as an earlier release left it: the token would outlive the session
    await bench.database.db("refresh_tokens").update({ expires_at: before });
    assert.deepEqual(told(await bench.refresh(second.refresh_token)), [401, "INVALID_REFRESH_TOKEN"]);
  });

  it("end with a session that has expired for one instance only, at every door", async () => {
    const status = (as: string) => bench.request("PUT", `/users/${tokens.user.id}`, { body: { status: as } });
    const doors = [
      () => bench.request("DELETE", `/sessions/${tokens.session.id}`),
      () => bench.request("DELETE", `/auth/logout?session_id=${tokens.session.id}`),
      () => bench.request("DELETE", `/auth/logout?user_id=${tokens.user.id}`),
      async () => {
        await status("suspended");
        return status("active");
      },
    ];
    for (const [at, door] of doors.entries()) {
      if (at > 0) {
        skip = 0;
        still = undefined;
        tokens = await bench.signIn(customer);
        still = Date.now();
      }
      // tokens that a gateway may still accept
      await bench.database
        .db("sessions")
        .where({ id: tokens.session.id })
        .update({ last_token_expires_at: new Date(clock() + 2 * HOUR) });
      bench.forget();
      skip = 2 * HOUR + 2_000;
      const answer = await door();
      assert.equal(answer.status, 200, answer.text);
      const known = bench.told.map((change) => change.type === "session_ended" && change.session_id);
      assert.ok(known.includes(tokens.session.id), String(at));
      // the clock of another instance
      skip = 2 * HOUR - 2_000;
      assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "SESSION_ENDED"], String(at));
    }
  });

  for (const token of ["ghr_", "x", "ghr_' or 1=1 --", "\r\nx: y"])
    it(`are not ${JSON.stringify(token)}`, async () => {
      assert.deepEqual(told(await bench.refresh(token)), [401, "INVALID_REFRESH_TOKEN"]);
    });

  it("are neither codes nor access tokens", async () => {
    const arrived = await bench.arrive(customer);
    for (const token of [arrived.get("code") ?? "", tokens.access_token.slice(0, 200)])
      assert.deepEqual(told(await bench.refresh(token)), [401, "INVALID_REFRESH_TOKEN"]);
    const code = new URLSearchParams({ code: tokens.refresh_token });
    assert.deepEqual(told(await bench.exchange(code)), [401, "INVALID_CODE"]);
  });
});

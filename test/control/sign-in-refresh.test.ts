import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import {
  OTHER_KEY,
  SIGN_IN_KEY,
  startSignInBench,
  told,
  type SignInBench,
  type Tokens,
} from "./support/sign-in.ts";

const HOUR = 3_600_000;

describe("refresh tokens", () => {
  let bench: SignInBench;
  let customer: string;
  let tokens: Tokens;
  let skip = 0;
  before(async () => {
    bench = await startSignInBench({
      clock: () => Date.now() + skip,
      settings: { refreshTokenSeconds: 2 * 3_600, sessionSeconds: 5 * 3_600 },
    });
    customer = await bench.customer();
  });
  after(() => bench.close());
  beforeEach(async () => {
    skip = 0;
    tokens = await bench.signIn(customer);
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

  it("let one of two requests at once win, and end the session", async () => {
    const both = await Promise.all([1, 2, 3].map(() => bench.refresh(tokens.refresh_token)));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401, 401]);
    const winner = both.find(({ status }) => status === 200);
    assert.deepEqual(told(await bench.refresh(winner?.body.data.refresh_token)), [401, "SESSION_ENDED"]);
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

  it("are good for the key of the sign-in alone, and no other ends anything with them", async () => {
    const limited = { ...SIGN_IN_KEY, customerId: "cus_00000000000000000000000000" };
    for (const key of [OTHER_KEY, limited])
      assert.deepEqual(told(await bench.refresh(tokens.refresh_token, key)), [401, "INVALID_REFRESH_TOKEN"]);
    const { refresh_token: second } = await next(tokens.refresh_token);
    assert.deepEqual(told(await bench.refresh(tokens.refresh_token, OTHER_KEY)), [
      401,
      "INVALID_REFRESH_TOKEN",
    ]);
    assert.deepEqual(bench.events, []);
    assert.ok(await next(second));
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

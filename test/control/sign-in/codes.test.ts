import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import {
  OTHER_KEY,
  RETURN_URL,
  SIGN_IN_KEY,
  startSignInBench,
  told,
  type SignInBench,
} from "../support/sign-in.ts";

const NOBODY = "cus_00000000000000000000000000";

describe("a code of a sign-in", () => {
  let bench: SignInBench;
  let skip = 0;
  before(async () => {
    bench = await startSignInBench({ clock: () => Date.now() + skip });
  });
  after(() => bench.close());
  beforeEach(() => {
    skip = 0;
    bench.forget();
  });

  it("is good once: a second use ends the session that the first has made", async () => {
    const customer = await bench.customer();
    const arrived = await bench.arrive(customer);
    const first = await bench.exchange(arrived);
    assert.equal(first.status, 200);
    bench.forget();
    assert.deepEqual(told(await bench.exchange(arrived)), [401, "INVALID_CODE"]);
    const { session } = first.body.data;
    assert.deepEqual(
      bench.events.map(({ type, data }) => [type, data.session?.id, data.reason]),
      [["session.revoked", session.id, "code_reuse"]],
    );
    assert.deepEqual(
      bench.told.map((change) => change.type === "session_ended" && change.session_id),
      [session.id],
    );
    const refreshed = await bench.refresh(first.body.data.refresh_token);
    assert.deepEqual(told(refreshed), [401, "SESSION_ENDED"]);
    assert.equal(refreshed.body.error.details.reason, "code_reuse");
  });

  it("is used by one of two requests at once, and the session is over then", async () => {
    const arrived = await bench.arrive(await bench.customer());
    const both = await Promise.all([bench.exchange(arrived), bench.exchange(arrived)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
    const won = both.find(({ status }) => status === 200);
    assert.deepEqual(told(await bench.refresh(won?.body.data.refresh_token)), [401, "SESSION_ENDED"]);
  });

  it("is good for keys of its customer alone, and no other ends anything with it", async () => {
    const customer = await bench.customer();
    const arrived = await bench.arrive(customer);
    const limited = { ...SIGN_IN_KEY, customerId: NOBODY };
    assert.deepEqual(told(await bench.exchange(arrived, {}, limited)), [401, "INVALID_CODE"]);
    const answer = await bench.exchange(arrived, {}, { ...limited, customerId: customer });
    assert.equal(answer.status, 200, answer.text);
    bench.forget();
    assert.deepEqual(told(await bench.exchange(arrived, {}, limited)), [401, "INVALID_CODE"]);
    assert.deepEqual(bench.events, []);
  });

  it("gives another application of the customer's tokens that name it", async () => {
    const arrived = await bench.arrive(await bench.customer());
    const answer = await bench.exchange(arrived, {}, OTHER_KEY);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(decodeJwt(answer.body.data.access_token as string)["client_id"], OTHER_KEY.id);
  });

  it("is good for its customer, state and return URL alone, where these are named", async () => {
    const customer = await bench.customer();
    const arrived = await bench.arrive(customer);
    for (const wrong of [{ customer_id: NOBODY }, { state: "another" }, { return_url: `${RETURN_URL}2` }])
      assert.deepEqual(told(await bench.exchange(arrived, wrong)), [401, "INVALID_CODE"]);
    const right = {
      grant_type: "authorization_code",
      customer_id: customer,
      state: arrived.get("state"),
      return_url: RETURN_URL,
    };
    assert.equal((await bench.exchange(arrived, right)).status, 200);
  });

  it("is good for a minute, after which the session is none", async () => {
    const customer = await bench.customer();
    const arrived = await bench.arrive(customer);
    skip = 61_000;
    assert.deepEqual(told(await bench.exchange(arrived)), [401, "INVALID_CODE"]);
    const list = await bench.request("GET", `/sessions?customer_id=${customer}`);
    assert.deepEqual(
      list.body.data.map(({ status }: { status: string }) => status),
      ["expired"],
    );
  });

  for (const code of ["", "x", "' or 1=1 --", "\u0000", "x".repeat(201)])
    it(`is not ${JSON.stringify(code.slice(0, 20))}`, async () => {
      const { status } = await bench.request("POST", "/auth/token", { as: SIGN_IN_KEY, body: { code } });
      assert.ok([400, 401, 422].includes(status));
    });

  it("has its answer repeated for a request that is repeated with its Idempotency-Key", async () => {
    const arrived = await bench.arrive(await bench.customer());
    const ask = () =>
      bench.request("POST", "/auth/token", {
        as: SIGN_IN_KEY,
        body: { code: arrived.get("code") },
        headers: { "idempotency-key": "exchange-1" },
      });
    const first = await ask();
    assert.equal(first.status, 200);
    assert.equal((await ask()).text, first.text);
    assert.equal((await bench.refresh(first.body.data.refresh_token)).status, 200);
  });
});

import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import type { Actor } from "../../../src/control/platform/actor.ts";
import { createKeyring } from "../../../src/control/sign-in/issuer/keyring.ts";
import { startMaintenance } from "../../../src/control/maintenance.ts";
import { pruneSignIns } from "../../../src/control/sign-in/prune.ts";
import { FULL_KEY, type RequestOptions } from "../../support/control.ts";
import { startIdentityProvider } from "../../support/providers/identity-provider.ts";
import {
  OTHER_KEY,
  RETURN_URL,
  SIGN_IN_KEY,
  startSignInBench,
  told,
  type SignInBench,
  type Tokens,
} from "../support/sign-in.ts";

const NO_SESSION = "ses_00000000000000000000000000";
const NO_CUSTOMER = "cus_00000000000000000000000000";

describe("sessions", () => {
  let bench: SignInBench;
  let customer: string;
  let tokens: Tokens;
  let skip = 0;
  before(async () => {
    bench = await startSignInBench({
      clock: () => Date.now() + skip,
      provider: { postLogoutRedirectUris: [RETURN_URL] },
    });
    customer = await bench.customer();
  });
  after(() => bench.close());
  beforeEach(async () => {
    skip = 0;
    bench.provider.users.set("alice", { claims: { email: "alice@acme.example" }, amr: ["pwd"] });
    bench.provider.users.set("bob", {});
    tokens = await bench.signIn(customer);
    bench.forget();
  });

  const announced = () => bench.events.map(({ type, data }) => [type, data.session?.id, data.reason]);
  const endedFor = () =>
    bench.told.flatMap((change) => (change.type === "session_ended" ? change.session_id : []));

  describe("for administrators", () => {
    it("are read with all that is known and no secret", async () => {
      const answer = await bench.request("GET", `/sessions/${tokens.session.id}`);
      const {
        created_at: createdAt,
        last_used_at: lastUsedAt,
        expires_at: expiresAt,
        ...rest
      } = answer.body.data;
      assert.ok(createdAt <= lastUsedAt && lastUsedAt < expiresAt);
      assert.deepEqual(rest, {
        id: tokens.session.id,
        customer_id: customer,
        user_id: tokens.user.id,
        client_id: SIGN_IN_KEY.id,
        status: "active",
        scope: "openid profile email groups",
        auth_time: null,
        amr: ["pwd"],
        acr: null,
        ip_address: "127.0.0.1",
        user_agent: tokens.session["user_agent"],
        ended_at: null,
        end_reason: null,
      });
    });

    it("are shown where a later release has ended them for a reason of its own", async () => {
      await bench.database
        .db("sessions")
        .where("id", tokens.session.id)
        .update({
          ...{ ended_at: new Date(), end_reason: "of_a_later_release" },
        });
      for (const path of [`/sessions/${tokens.session.id}`, `/sessions?user_id=${tokens.user.id}`]) {
        const { status, body } = await bench.request("GET", path);
        assert.equal(status, 200);
        const [session] = [body.data].flat() as { end_reason: string; status: string }[];
        assert.deepEqual([session?.status, session?.end_reason], ["ended", "revoked"]);
      }
    });

    it("are listed by customer, user, status and time, in pages", async () => {
      const other = await bench.customer();
      const bob = await bench.signIn(other, { login: "bob" });
      const second = await bench.signIn(other);
      await bench.request("DELETE", `/sessions/${second.session.id}`);
      const list = async (query: string) => {
        const answer = await bench.request("GET", `/sessions?customer_id=${other}&${query}`);
        assert.equal(answer.status, 200, answer.text);
        return answer.body.data.map(({ id }: { id: string }) => id);
      };
      assert.deepEqual(await list("order=asc"), [bob.session.id, second.session.id]);
      assert.deepEqual(await list("limit=1&page=2"), [bob.session.id]);
      assert.deepEqual(await list("status=active"), [bob.session.id]);
      assert.deepEqual(await list("status=ended"), [second.session.id]);
      assert.deepEqual(await list("status=expired"), []);
      assert.deepEqual(await list(`user_id=${bob.user.id}`), [bob.session.id]);
      assert.deepEqual(await list(`created_before=2020-01-01T00:00:00Z`), []);
      assert.equal((await list(`created_after=2020-01-01T00:00:00Z`)).length, 2);
      skip = 25 * 3_600_000;
      assert.deepEqual(await list("status=expired"), [bob.session.id]);
      assert.deepEqual(await list("status=active"), []);
      const mixed = await bench.request("GET", `/sessions?customer_id=${other}' or '1'='1`);
      assert.deepEqual(mixed.body.data, []);
      assert.deepEqual(told(await bench.request("GET", "/sessions?sort=id_token")), [
        400,
        "INVALID_PARAMETER",
      ]);
      assert.deepEqual(told(await bench.request("GET", "/sessions?status=pending")), [
        400,
        "INVALID_PARAMETER",
      ]);
    });

    it("are revoked: refresh ends, gateways and webhooks are told, once", async () => {
      const revoke = () => bench.request("DELETE", `/sessions/${tokens.session.id}`);
      const answer = await revoke();
      assert.equal(answer.status, 200);
      assert.deepEqual([answer.body.data.status, answer.body.data.end_reason], ["ended", "revoked"]);
      assert.deepEqual(announced(), [["session.revoked", tokens.session.id, "revoked"]]);
      assert.deepEqual(endedFor(), [tokens.session.id]);
      const [change] = bench.changes;
      assert.deepEqual(
        [change?.action, change?.target, change?.actor.id],
        ["session.revoked", { type: "session", id: tokens.session.id }, FULL_KEY.id],
      );
      const refused = await bench.refresh(tokens.refresh_token);
      assert.deepEqual(
        [...told(refused), refused.body.error.details.reason],
        [401, "SESSION_ENDED", "revoked"],
      );
      const again = await revoke();
      assert.equal(again.body.data.ended_at, answer.body.data.ended_at);
      assert.equal(bench.events.length + bench.changes.length, 2);
    });

    it("of other customers are not there", async () => {
      const limited: Actor = { ...FULL_KEY, id: "key_limited", customerId: NO_CUSTOMER };
      for (const method of ["GET", "DELETE"]) {
        const path = `/sessions/${tokens.session.id}`;
        assert.deepEqual(told(await bench.request(method, path, { as: limited })), [
          404,
          "SESSION_NOT_FOUND",
        ]);
        assert.deepEqual(told(await bench.request(method, `/sessions/${NO_SESSION}`)), [
          404,
          "SESSION_NOT_FOUND",
        ]);
      }
      for (const query of ["", `?customer_id=${customer}`, `?user_id=${tokens.user.id}`]) {
        const list = await bench.request("GET", `/sessions${query}`, { as: limited });
        assert.deepEqual([list.body.data, list.body.pagination.total_items], [[], 0]);
      }
      const own = await bench.request("GET", "/sessions", { as: { ...limited, customerId: customer } });
      assert.ok(own.body.data.length > 0);
      assert.deepEqual(bench.events, []);
    });

    it("are revoked by those alone who may configure", async () => {
      const path = `/sessions/${tokens.session.id}`;
      for (const scope of ["read_only", "authentication"] as const)
        assert.deepEqual(told(await bench.request("DELETE", path, { as: { ...FULL_KEY, scope } })), [
          403,
          "INSUFFICIENT_SCOPE",
        ]);
    });
  });

  describe("logout", () => {
    const logout = (body: object | undefined, query = "", options: RequestOptions = {}) =>
      bench.request("DELETE", `/auth/logout${query}`, {
        as: SIGN_IN_KEY,
        ...(body !== undefined && { body }),
        ...options,
      });

    it("ends a session by its id, in the body or the query", async () => {
      const other = await bench.signIn(customer);
      bench.forget();
      const answer = await logout({ session_id: tokens.session.id });
      assert.equal(answer.status, 200);
      assert.equal(answer.body.data.ended, 1);
      assert.deepEqual(announced(), [["user.logged_out", tokens.session.id, "logout"]]);
      assert.deepEqual(endedFor(), [tokens.session.id]);
      assert.deepEqual(told(await bench.refresh(tokens.refresh_token)), [401, "SESSION_ENDED"]);
      assert.equal((await logout(undefined, `?session_id=${other.session.id}`)).body.data.ended, 1);
    });

    it("tells gateways for as long as one may still take a token", async () => {
      await logout({ session_id: tokens.session.id });
      const [change] = bench.told;
      assert.ok(change?.type === "session_ended");
      assert.equal(Date.parse(change.until), decodeJwt(tokens.access_token).exp! * 1000 + 300_000);
      const other = await bench.signIn(customer);
      bench.forget();
      skip = 3_600_000;
      assert.equal((await logout({ session_id: other.session.id })).body.data.ended, 1);
      assert.deepEqual(bench.told, []);
    });

    it("ends a session by its refresh token, a used one too, for keys of its customer alone", async () => {
      const body = { refresh_token: tokens.refresh_token };
      const limited = { ...SIGN_IN_KEY, customerId: NO_CUSTOMER };
      assert.deepEqual(told(await logout(body, "", { as: limited })), [404, "SESSION_NOT_FOUND"]);
      assert.equal((await bench.refresh(tokens.refresh_token)).status, 200);
      assert.equal((await logout(body, "", { as: OTHER_KEY })).body.data.ended, 1);
      assert.deepEqual(announced(), [["user.logged_out", tokens.session.id, "logout"]]);
      assert.deepEqual(told(await logout({ refresh_token: "ghr_unknown" })), [404, "SESSION_NOT_FOUND"]);
    });

    it("ends all sessions of a user, and no other's", async () => {
      const bob = await bench.signIn(customer, { login: "bob" });
      const second = await bench.signIn(customer);
      bench.forget();
      const answer = await logout({ user_id: second.user.id, customer_id: customer });
      assert.ok(answer.body.data.ended >= 2);
      assert.ok(
        bench.events.every(({ type, userId }) => type === "user.logged_out" && userId === second.user.id),
      );
      assert.ok(endedFor().includes(tokens.session.id) && endedFor().includes(second.session.id));
      assert.equal((await bench.refresh(bob.refresh_token)).status, 200);
    });

    it("of a session that is over already ends none, and is no error", async () => {
      await logout({ session_id: tokens.session.id });
      bench.forget();
      const again = await logout({ session_id: tokens.session.id });
      assert.deepEqual([again.status, again.body.data.ended], [200, 0]);
      assert.deepEqual([bench.events, bench.told, bench.changes], [[], [], []]);
    });

    it("knows nothing of other customers' sessions and users", async () => {
      const as = { ...SIGN_IN_KEY, customerId: NO_CUSTOMER };
      const { session, user } = tokens;
      assert.deepEqual(told(await logout({ session_id: session.id }, "", { as })), [
        404,
        "SESSION_NOT_FOUND",
      ]);
      assert.deepEqual(told(await logout({ refresh_token: tokens.refresh_token }, "", { as })), [
        404,
        "SESSION_NOT_FOUND",
      ]);
      assert.deepEqual(told(await logout({ user_id: user.id }, "", { as })), [404, "USER_NOT_FOUND"]);
      const customer_id = NO_CUSTOMER;
      assert.deepEqual(told(await logout({ session_id: session.id, customer_id })), [
        404,
        "SESSION_NOT_FOUND",
      ]);
      assert.deepEqual(told(await logout({ user_id: user.id, customer_id })), [404, "USER_NOT_FOUND"]);
      assert.deepEqual(told(await logout({ session_id: NO_SESSION })), [404, "SESSION_NOT_FOUND"]);
      assert.deepEqual(bench.events, []);
    });

    it("must be told whose, once", async () => {
      const { session, user } = tokens;
      for (const [body, query] of [
        [undefined, ""],
        [{}, ""],
        [{ customer_id: customer }, ""],
        [{ session_id: session.id, user_id: user.id }, ""],
        [{ user_id: user.id }, `?session_id=${session.id}`],
        [{ session_id: session.id }, `?session_id=${session.id}`],
        [{ session_id: session.id, everything: true }, ""],
      ] as const)
        assert.deepEqual(told(await logout(body, query)), [422, "VALIDATION_FAILED"]);
      assert.deepEqual(told(await logout(undefined, `?refresh_token=${tokens.refresh_token}`)), [
        400,
        "INVALID_PARAMETER",
      ]);
      assert.deepEqual(bench.events, []);
    });

    it("says where to end the provider's session too, and the provider takes it", async () => {
      const body = { session_id: tokens.session.id, post_logout_return_url: RETURN_URL, state: "after" };
      const { end_session_url: text } = (await logout(body)).body.data;
      const url = new URL(text);
      assert.equal(url.origin, bench.provider.issuer);
      const { id_token_hint: hint, ...rest } = Object.fromEntries(url.searchParams);
      assert.deepEqual(rest, {
        client_id: "gatehouse",
        post_logout_redirect_uri: RETURN_URL,
        state: "after",
      });
      assert.equal(decodeJwt(hint ?? "").sub, "alice");
      // it shows its form only where hint and return URL are good
      const shown = await fetch(url, { redirect: "manual" });
      assert.equal(shown.status, 200, await shown.clone().text());
      assert.match(await shown.text(), /<form/);
    });

    it("leads to no return URL but the customer's, and ends nothing then", async () => {
      for (const url of ["https://evil.example/", `${RETURN_URL}&x=1`]) {
        const refused = await logout({ session_id: tokens.session.id, post_logout_return_url: url });
        assert.deepEqual(told(refused), [422, "RETURN_URL_NOT_ALLOWED"]);
      }
      assert.equal((await bench.refresh(tokens.refresh_token)).status, 200);
    });

    it("does not wait for a provider", async () => {
      const gone = await startIdentityProvider({ redirectUri: `${bench.url}/v1/auth/callback` });
      const { session } = await bench.signIn(await bench.customer(gone));
      await gone.close();
      const answer = await logout({ session_id: session.id });
      assert.equal(answer.body.data.ended, 1);
      assert.ok(answer.body.data.end_session_url.startsWith(gone.issuer));
    });
  });

  it("end with their customer or user, each with an event of its own", async () => {
    const own = await bench.customer();
    const first = await bench.signIn(own);
    const second = await bench.signIn(own, { login: "bob" });
    bench.forget();
    await bench.request("PUT", `/users/${second.user.id}`, { body: { status: "suspended" } });
    assert.deepEqual(announced(), [["session.revoked", second.session.id, "user_suspended"]]);
    assert.deepEqual(endedFor(), [second.session.id]);
    bench.forget();
    await bench.request("PUT", `/customers/${own}`, { body: { status: "suspended" } });
    const revoked = announced().filter(([type]) => type === "session.revoked");
    assert.deepEqual(revoked, [["session.revoked", first.session.id, "customer_suspended"]]);
    assert.deepEqual(endedFor(), [first.session.id]);
    assert.equal((await bench.refresh(tokens.refresh_token)).status, 200);
  });

  it("are forgotten with their codes and tokens once events of that age are, and flows within hours", async () => {
    const count = async (table: string) =>
      Number((await bench.database.db(table).count({ n: "*" }).first<{ n: string }>()).n);
    skip = 2 * 3_600_000;
    await pruneSignIns(bench.context);
    assert.equal(await count("sign_in_flows"), 0);
    assert.equal((await bench.refresh(tokens.refresh_token)).status, 200);
    skip = 89 * 86_400_000;
    await pruneSignIns(bench.context);
    assert.ok((await count("sessions")) > 0);
    skip = 92 * 86_400_000;
    await Promise.all([pruneSignIns(bench.context), pruneSignIns(bench.context)]);
    for (const table of ["sessions", "sign_in_codes", "refresh_tokens"]) assert.equal(await count(table), 0);
  });

  it("are looked after until that is stopped", async () => {
    await startMaintenance(bench.context, createKeyring(bench.context)).close();
  });
});

import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { rollApiKey } from "../../../../src/control/resources/api-keys/roll.ts";
import { makeKey, OPERATOR } from "../../../support/guarded-control.ts";
import { HOUR, refusal, startOAuthBench, type OAuthBench } from "../../support/oauth.ts";
import { RETURN_URL, SIGN_IN_KEY, type Tokens } from "../../support/sign-in.ts";

describe("logout at the OAuth endpoints", () => {
  let bench: OAuthBench;
  before(async () => {
    bench = await startOAuthBench();
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.reset();
  });

  const logout = (parameters: Readonly<Record<string, string>>, method = "GET") =>
    method === "GET"
      ? bench.ask(`/logout?${new URLSearchParams(parameters).toString()}`, "", {}, method)
      : bench.ask("/logout", parameters, {}, method);

  it("ends the session of the ID token, by GET and POST, and goes to a return URL of the customer", async () => {
    for (const method of ["GET", "POST"]) {
      const tokens = await bench.signIn(bench.customerId);
      bench.forget();
      const hint = { id_token_hint: tokens.id_token, client_id: SIGN_IN_KEY.id };
      const answer = await logout({ ...hint, post_logout_redirect_uri: RETURN_URL, state: "a b&c" }, method);
      assert.equal(answer.status, 303);
      const location = new URL(answer.headers.get("location") ?? "");
      assert.equal(location.searchParams.get("state"), "a b&c");
      assert.ok(location.href.startsWith(RETURN_URL));
      assert.deepEqual(
        bench.events.map(({ type, data }) => [type, data.session?.id]),
        [["user.logged_out", tokens.session.id]],
      );
      assert.deepEqual(await bench.introspect(tokens.access_token), { active: false });
      // again: the session is over, and the browser gets where it was to go
      assert.equal((await logout({ ...hint, post_logout_redirect_uri: RETURN_URL }, method)).status, 303);
      assert.equal(bench.events.length, 1);
    }
  });

  it("takes an ID token that has expired, and none that says nothing of a session here", async () => {
    const tokens = await bench.signIn(bench.customerId);
    bench.skip = HOUR;
    const body = decodeJwt(tokens.id_token);
    const forged = `${tokens.id_token.split(".")[0]}.${Buffer.from(JSON.stringify({ ...body, sub: "usr_x" })).toString("base64url")}.${tokens.id_token.split(".")[2]}`;
    for (const hint of [
      {},
      { logout_hint: tokens.session.id },
      { id_token_hint: "x" },
      { id_token_hint: tokens.access_token },
      { id_token_hint: forged },
      { id_token_hint: tokens.id_token, client_id: "key_other" },
    ]) {
      const answer = await logout({ ...hint, post_logout_redirect_uri: RETURN_URL });
      assert.equal(answer.status, 400, JSON.stringify(hint));
      assert.match(answer.text, /not signed out/);
      assert.equal(answer.headers.get("location"), null);
    }
    assert.equal((await bench.introspect(tokens.refresh_token))["active"], true);
    const answer = await logout({ id_token_hint: tokens.id_token });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /You are signed out/);
    assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.doesNotMatch(answer.text, /script|style/);
    assert.equal((await bench.introspect(tokens.refresh_token))["active"], false);
  });

  it("knows the application by the id of any key that was rolled to another", async () => {
    const scope = "authentication";
    const roll = (id: string) =>
      bench.context.units(OPERATOR, (unit) =>
        rollApiKey(unit, { environment: "production", id, overlap: 0 }),
      );
    const [{ row: first }, { row: stranger }] = [
      await makeKey(bench, { scope }),
      await makeKey(bench, { scope }),
    ];
    const { row: second } = await roll(first.id);
    const { row: third } = await roll(second.id);
    const holder = { ...SIGN_IN_KEY, id: second.id, familyId: first.id };
    const answer = await bench.exchange(await bench.arrive(bench.customerId), {}, holder);
    const { id_token: hint, refresh_token: token } = answer.body.data as Tokens;
    assert.equal(decodeJwt(hint).aud, first.id);
    for (const id of [stranger.id, "key_x", "' or 1=1 --", "x".repeat(2_000)])
      assert.equal((await logout({ id_token_hint: hint, client_id: id }, "POST")).status, 400, id);
    assert.equal((await bench.introspect(token))["active"], true);
    for (const { id } of [third, second, first]) {
      assert.equal((await logout({ id_token_hint: hint, client_id: id })).status, 200);
      assert.equal((await bench.introspect(token))["active"], false);
    }
  });

  it("sends nobody to an address that is not the customer's, and ends the session all the same", async () => {
    for (const to of [
      "https://evil.example/",
      `${RETURN_URL}&x=1`,
      "javascript:alert(1)",
      "//evil.example",
    ]) {
      const tokens = await bench.signIn(bench.customerId);
      const answer = await logout({ id_token_hint: tokens.id_token, post_logout_redirect_uri: to });
      assert.deepEqual([answer.status, answer.headers.get("location")], [400, null]);
      assert.match(answer.text, /You are signed out/);
      assert.ok(!answer.text.includes(to));
      assert.equal((await bench.introspect(tokens.refresh_token))["active"], false);
    }
  });

  it("does nothing by HEAD, nor where a parameter is repeated", async () => {
    const { id_token: hint, refresh_token: token } = await bench.signIn(bench.customerId);
    assert.equal((await bench.ask(`/logout?id_token_hint=${hint}`, "", {}, "HEAD")).status, 405);
    const twice = await bench.ask(`/logout?id_token_hint=${hint}&id_token_hint=${hint}`, "", {}, "GET");
    assert.deepEqual(refusal(twice), [400, "invalid_request"]);
    assert.equal((await bench.introspect(token))["active"], true);
  });
});

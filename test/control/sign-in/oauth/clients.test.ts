import assert from "node:assert/strict";
import { decodeJwt } from "jose";
import { FULL_KEY, OWNER, type Answered } from "../../../support/control.ts";
import {
  basic,
  HOUR,
  refusal,
  startOAuthBench,
  type Credentials,
  type OAuthBench,
} from "../../support/oauth.ts";
import { SIGN_IN_KEY, told } from "../../support/sign-in.ts";

describe("machine clients at the OAuth endpoints", () => {
  let bench: OAuthBench;
  before(async () => {
    bench = await startOAuthBench();
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.reset();
  });

  it("get tokens of their own, with the scopes that they ask for among theirs", async () => {
    const client = await bench.machine({ customer_id: bench.customerId });
    const answer = await bench.ask(
      "/token",
      { grant_type: "client_credentials", scope: "reports:write" },
      basic(client),
    );
    const { access_token: token, ...rest } = answer.body;
    assert.deepEqual(rest, { token_type: "Bearer", expires_in: 900, scope: "reports:write" });
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const { iat, exp, jti, sid, ...claims } = decodeJwt(token as string);
    assert.equal(exp! - iat!, 900);
    assert.ok(typeof jti === "string");
    assert.match(String(sid), /^cls_/);
    assert.deepEqual(claims, {
      iss: bench.url,
      aud: "gatehouse",
      sub: client.id,
      client_id: client.id,
      customer_id: bench.customerId,
      principal_type: "machine",
      scope: "reports:write",
      amr: [],
    });
    assert.equal(decodeJwt(await bench.tokenFor(client))["scope"], "reports:read reports:write");
    assert.ok(!("customer_id" in decodeJwt(await bench.tokenFor(await bench.machine()))));
    for (const scope of ["reports:delete", "reports:read openid", "reports:read  reports:write", "*"])
      assert.deepEqual(
        refusal(await bench.ask("/token", { grant_type: "client_credentials", scope }, basic(client))),
        [400, "invalid_scope"],
        scope,
      );
    const { active, sub, principal_type: type, exp: until } = await bench.introspect(token as string);
    assert.deepEqual([active, sub, type, until], [true, client.id, "machine", exp]);
  });

  it("are made, read, changed and deleted by people alone, and their secrets are kept as hashes", async () => {
    for (const as of [FULL_KEY, SIGN_IN_KEY])
      assert.deepEqual(told(await bench.request("POST", "/clients", { as, body: { name: "x" } })), [
        403,
        "INSUFFICIENT_SCOPE",
      ]);
    const client = await bench.machine({ customer_id: bench.customerId });
    const as = OWNER;
    const path = `/clients/${client.id}`;
    const rows: unknown = await bench.database.db("clients").where({ id: client.id });
    const kept = JSON.stringify([rows, bench.changes, (await bench.request("GET", path, { as })).body]);
    assert.ok(!kept.includes(client.secret));
    const listed = await bench.request("GET", `/clients?customer_id=${bench.customerId}&limit=100`, { as });
    assert.ok(listed.body.data.some(({ id }: { id: string }) => id === client.id));
    const change = (ifMatch: string) =>
      bench.request("PUT", path, { as, body: { scopes: ["a"] }, headers: { "if-match": ifMatch } });
    assert.equal((await change(client.etag)).status, 200);
    assert.deepEqual(told(await change(client.etag)), [412, "PRECONDITION_FAILED"]);
    assert.equal(decodeJwt(await bench.tokenFor(client))["scope"], "a");
    for (const scopes of [["openid"], ["a b"], ["a", "a"], [""], ['"'], ["é"], Array(51).fill("a")])
      assert.deepEqual(told(await bench.request("PUT", path, { as, body: { scopes } })), [
        422,
        "VALIDATION_FAILED",
      ]);
    const unknown = { name: "x", customer_id: "cus_00000000000000000000000000" };
    assert.deepEqual(told(await bench.request("POST", "/clients", { as, body: unknown })), [
      422,
      "INVALID_CUSTOMER",
    ]);
    const token = await bench.tokenFor(client);
    bench.forget();
    assert.equal((await bench.request("DELETE", path, { as })).status, 200);
    assert.deepEqual(
      bench.told.map((told) => told.type === "session_ended" && told.session_id),
      [decodeJwt(token)["sid"]],
    );
    assert.deepEqual(await bench.introspect(token), { active: false });
    const again = await bench.ask("/token", { grant_type: "client_credentials" }, basic(client));
    assert.deepEqual(refusal(again), [401, "invalid_client"]);
    for (const method of ["GET", "DELETE"])
      assert.deepEqual(told(await bench.request(method, path, { as })), [404, "CLIENT_NOT_FOUND"]);
  });

  it("roll their secret with an overlap, or end what the old one was good for", async () => {
    const client = await bench.machine();
    const rotation = (body?: object) =>
      bench.request("POST", `/clients/${client.id}/rotate-secret`, {
        as: OWNER,
        ...(body !== undefined && { body }),
      });
    const rotated = (answer: Answered): Credentials => {
      assert.equal(answer.status, 200, answer.text);
      return { id: client.id, secret: answer.body.data.client_secret as string };
    };
    const works = async (credentials: Credentials) =>
      (await bench.ask("/token", { grant_type: "client_credentials" }, basic(credentials))).status === 200;
    const token = await bench.tokenFor(client);
    // of two at once one is the first
    const answers = await Promise.all([rotation(), rotation()]);
    const [one, early] = answers[0].status === 200 ? answers : [answers[1], answers[0]];
    const second = rotated(one);
    assert.deepEqual([await works(client), await works(second)], [true, true]);
    // what the first was promised to be good for stays
    for (const answer of [early, await rotation({ overlap_seconds: 60 })])
      assert.deepEqual(told(answer), [409, "CONFLICT"]);
    const { previous_secret_expires_at: until } = early.body.error.details;
    assert.ok(Math.abs(Date.parse(until) - Date.now() - 24 * HOUR) < HOUR);
    assert.deepEqual([await works(client), await works(second)], [true, true]);
    assert.equal(bench.told.length, 0);
    bench.skip = 25 * HOUR;
    assert.deepEqual([await works(client), await works(second)], [false, true]);
    const third = rotated(await rotation({ overlap_seconds: 3_600 }));
    assert.deepEqual([await works(second), await works(third)], [true, true]);
    // the first token is over by then
    const last = await bench.tokenFor(second);
    const fourth = rotated(await rotation({ overlap_seconds: 0 }));
    const all = [client, second, third, fourth];
    assert.deepEqual(await Promise.all(all.map(works)), [false, false, false, true]);
    assert.deepEqual(
      bench.told.map((change) => change.type === "session_ended" && change.session_id),
      [decodeJwt(token)["sid"]],
    );
    assert.deepEqual(await bench.introspect(last), { active: false });
    assert.equal((await bench.introspect(await bench.tokenFor(fourth)))["active"], true);
  });

  it("lose their tokens for good when their customer is suspended or archived", async () => {
    const customer = await bench.customer();
    const client = await bench.machine({ customer_id: customer });
    const other = await bench.tokenFor(await bench.machine({ customer_id: bench.otherId }));
    for (const status of ["suspended", "archived"]) {
      const token = await bench.tokenFor(client);
      bench.forget();
      await bench.request("PUT", `/customers/${customer}`, { body: { status } });
      await bench.request("PUT", `/customers/${customer}`, { body: { status: "active" } });
      const ended = bench.told.filter((change) => change.type === "session_ended");
      // and once more on the way back: an instance of the release before may have suspended it
      assert.deepEqual([ended[0]?.session_id, ended.length], [decodeJwt(token)["sid"], 2]);
      assert.deepEqual(await bench.introspect(token), { active: false });
      assert.equal((await bench.introspect(await bench.tokenFor(client)))["active"], true);
    }
    assert.equal((await bench.introspect(other))["active"], true);
  });

  it("are told apart from keys at every endpoint", async () => {
    const client = await bench.machine();
    for (const path of ["/introspect", "/revoke"])
      assert.deepEqual(refusal(await bench.ask(path, { token: "x" }, basic(client))), [
        400,
        "unauthorized_client",
      ]);
    assert.deepEqual(refusal(await bench.ask("/token", { grant_type: "client_credentials" })), [
      400,
      "unauthorized_client",
    ]);
    // a machine's token is no key
    const token = await bench.tokenFor(client);
    assert.deepEqual(
      refusal(await bench.ask("/introspect", { token }, basic({ id: client.id, secret: token }))),
      [401, "invalid_client"],
    );
  });
});

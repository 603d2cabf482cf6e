import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { checkSession, type KnownState } from "../../src/decision/decide/check-session.ts";
import { createApiKeyVerifier, type KeyOfCaller } from "../../src/identity/index.ts";
import { createSigner, createSubject, json, startServer } from "./support.ts";

const textOf = (letter: string) => `gh_live_${letter.repeat(38)}`;
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const KEY = textOf("a");
const CALLER: KeyOfCaller = {
  id: "key_1",
  name: "billing job",
  customer_id: "cus_1",
  permissions: ["invoices:read"],
  expires_at: null,
};

describe("identity: API keys of callers", () => {
  const open = () => {
    const world = {
      keys: new Map([[hashOf(KEY), CALLER]]),
      asked: [] as string[],
      now: 1_700_000_000_000,
      isDown: false,
    };
    const verifier = createApiKeyVerifier({
      clock: () => world.now,
      lookup: (hash) => {
        world.asked.push(hash);
        return world.isDown ? Promise.reject(new Error("away")) : Promise.resolve(world.keys.get(hash));
      },
    });
    const reasonOf = async (text: string) => {
      const result = await verifier.verify(text);
      return result.ok ? result.identity.userId : result.reason;
    };
    return Object.assign(world, { verifier, reasonOf });
  };

  it("name the key, at its customer, by a hash", async () => {
    const { verifier, asked } = open();
    const result = await verifier.verify(KEY);
    assert.ok(result.ok);
    const { user, customer, session } = result.identity;
    assert.deepEqual(
      { ...user },
      {
        id: "key_1",
        name: "billing job",
        type: "api_key",
        permissions: ["invoices:read"],
        customer_id: "cus_1",
      },
    );
    assert.deepEqual({ ...customer }, { id: "cus_1" });
    assert.deepEqual({ ...session }, { subject: "key_1", id: "key_1", amr: [], machine: true, apiKey: true });
    assert.deepEqual(asked, [hashOf(KEY)]);
    assert.equal(verifier.cached(KEY), result);
  });

  it("are believed for a minute, also while the control plane is away, and no longer", async () => {
    const world = open();
    assert.equal(await world.reasonOf(KEY), "key_1");
    world.isDown = true;
    world.now += 59_999;
    assert.equal(await world.reasonOf(KEY), "key_1");
    world.now += 1;
    assert.equal(world.verifier.cached(KEY), undefined);
    assert.equal(await world.reasonOf(KEY), "API_KEY_NOT_CHECKED");
    world.isDown = false;
    world.keys.clear();
    assert.equal(await world.reasonOf(KEY), "API_KEY_INVALID");
  });

  it("end when they expire, and are refused if the answer is too late", async () => {
    const world = open();
    world.keys.set(hashOf(KEY), { ...CALLER, expires_at: new Date(world.now + 30_000).toISOString() });
    assert.equal(await world.reasonOf(KEY), "key_1");
    world.now += 30_000;
    assert.equal(world.verifier.cached(KEY), undefined);
    assert.equal(await world.reasonOf(KEY), "API_KEY_INVALID");
    world.keys.set(hashOf(textOf("b")), { ...CALLER, expires_at: "not a time" });
    assert.equal(await world.reasonOf(textOf("b")), "API_KEY_INVALID");
  });

  it("end at once when the control plane says so, whatever is cached", async () => {
    const { verifier } = open();
    const result = await verifier.verify(KEY);
    assert.ok(result.ok);
    const { identity } = result;
    const stateOf = (ended: string): KnownState => ({
      customer: () => undefined,
      sessionEnded: (id) => id === ended,
      userStatus: () => "active",
    });
    const check = (state: KnownState | undefined) =>
      checkSession({ identity }, { state, clientIp: "", now: 0 }).failure?.reason;
    assert.equal(check(stateOf("key_1")), "API_KEY_INVALID");
    assert.equal(check(stateOf("key_2")), undefined);
    assert.equal(check(undefined), "CUSTOMER_STATE_NOT_READY");
  });

  it("are not looked up unless they have the form, and only so many that nobody knows", async () => {
    const world = open();
    for (const text of [
      "gh_live_",
      `${KEY}a`,
      KEY.slice(0, -1),
      `${KEY.slice(0, -1)}-`,
      `${KEY}\n`,
      "gh_prod_x",
    ])
      assert.equal(await world.reasonOf(text), "API_KEY_INVALID");
    assert.equal(world.asked.length, 0);
    assert.equal(await world.reasonOf(KEY), "key_1");
    world.now += 60_000;
    const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const reasons = await Promise.all(letters.map((letter) => world.reasonOf(textOf(letter))));
    assert.equal(reasons.filter((reason) => reason === "API_KEY_NOT_CHECKED").length, letters.length - 20);
    // one that was good is still looked up
    assert.equal(await world.reasonOf(KEY), "key_1");
    assert.equal(world.asked.length, 22);
  });

  it("are looked up once by many requests at a time", async () => {
    const world = open();
    await Promise.all([world.reasonOf(KEY), world.reasonOf(KEY), world.reasonOf(KEY)]);
    assert.equal(world.asked.length, 1);
  });

  it("are nothing that a token can claim to be", async () => {
    const signer = await createSigner("ES256", "key");
    const server = await startServer(json({ keys: [signer.publicJwk] }));
    const { verifier } = createSubject({ jwks: server.origin, claims: { "user.type": "kind" } });
    await verifier.start();
    verifier.close();
    const result = await verifier.verify(await signer.sign({ kind: "api_key" }));
    assert.equal(result.ok ? "" : result.reason, "TOKEN_CLAIMS_INVALID");
    await server.close();
  });
});

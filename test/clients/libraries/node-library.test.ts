import assert from "node:assert/strict";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import {
  ConfigurationError,
  CursorExpiredError,
  Gatehouse,
  SignIn,
  TokenError,
  TokenVerifier,
  UnverifiedTokensError,
  verifyWebhook,
  type GatehouseOptions,
  type EventBatch,
  type TokenVerifierOptions,
} from "../../../clients/node/src/index.ts";
import { delayMs, retryAfterMs } from "../../../clients/node/src/retry.ts";
import { FakeGatehouse } from "../../../clients/node/src/testing/index.ts";
import { KeySet } from "../../../clients/node/src/key-set.ts";
import { startTokenIssuer, type TokenIssuer } from "./support/token-issuer.ts";

/** A client whose requests are answered with this, and how many there were. */
function answering(data: unknown, options: Partial<GatehouseOptions> = {}) {
  const sent: RequestInit[] = [];
  const answer: typeof fetch = (_input, init) => {
    sent.push(init ?? {});
    return Promise.resolve(Response.json({ success: true, data }));
  };
  const gatehouse = new Gatehouse({
    ...{ apiKey: "gh_test_1", environment: "sandbox", fetch: answer },
    ...options,
  });
  return { gatehouse, sent };
}

const hasCode = (code: string) => (error: unknown) => error instanceof TokenError && error.code === code;

describe("client library for Node.js: sign-in", () => {
  let issuer: TokenIssuer;
  before(async () => {
    issuer = await startTokenIssuer();
  });
  after(() => issuer.close());

  it("without keys, no code and no refresh token is used up", async () => {
    const { gatehouse, sent } = answering({});
    const signIn = new SignIn(gatehouse, new TokenVerifier({ issuer: issuer.url }));
    issuer.available = false;
    await assert.rejects(signIn.refresh("rt"), hasCode("KEYS_UNAVAILABLE"));
    const back = { callback: "?code=c&state=s", state: "s" };
    await assert.rejects(signIn.finish(back), hasCode("KEYS_UNAVAILABLE"));
    issuer.available = true;
    assert.equal(sent.length, 0);
  });

  it("tokens that cannot be verified are with the error, and not in logs", async () => {
    const tokens = { access_token: await issuer.token({ aud: "other" }), refresh_token: "rt_new" };
    const signIn = new SignIn(answering(tokens).gatehouse, new TokenVerifier({ issuer: issuer.url }));
    const error = await signIn.refresh("rt").catch((thrown: unknown) => thrown);
    assert.ok(error instanceof UnverifiedTokensError);
    assert.equal(error.code, "TOKEN_AUDIENCE");
    assert.deepEqual(error.tokens, tokens);
    const logged = inspect(error, { showHidden: true, depth: 9 }) + JSON.stringify(error);
    assert.doesNotMatch(logged, /rt_new|eyJ/);
  });
});

describe("client library for Node.js: keys of the issuer", () => {
  let now: number;
  let asked: number;
  let answer: () => Promise<Response>;
  const keys = (...kids: string[]) => Promise.resolve(Response.json({ keys: kids.map((kid) => ({ kid })) }));
  const failing = () => Promise.resolve(new Response("", { status: 503 }));
  const keySet = () =>
    new KeySet<string>({
      ...{ url: "http://issuer.example/jwks", cacheMs: 300_000, cooldownMs: 30_000, clock: () => now },
      fetch: () => {
        asked += 1;
        return answer();
      },
      read: (jwk) => String(jwk["kid"]),
    });

  beforeEach(() => {
    now = 1_000_000;
    asked = 0;
    answer = () => keys("a");
  });

  it("are fetched for a new key id, but not again within the cooldown", async () => {
    const set = keySet();
    assert.deepEqual(await Promise.all([set.find("a"), set.find("a"), set.find("b")]), ["a", "a", undefined]);
    answer = () => keys("b");
    for (let index = 0; index < 20; index += 1) assert.equal(await set.find("b"), undefined);
    assert.equal(asked, 1);
    now += 30_001;
    assert.equal(await set.find("b"), "b");
    assert.equal(asked, 2);
  });

  it("are asked for soon after a failure, and until then nobody says that a key is unknown", async () => {
    const set = keySet();
    await set.find("a");
    now += 30_001;
    answer = failing;
    await assert.rejects(set.find("b"), /no keys/);
    await assert.rejects(set.find("b"), /no keys/);
    assert.equal(await set.find("a"), "a");
    assert.equal(asked, 2);
    answer = () => keys("a", "b");
    now += 2_001;
    assert.equal(await set.find("b"), "b");
  });

  it("are renewed while those from before are in use, for an hour", async () => {
    const set = keySet();
    await set.find("a");
    now += 300_001;
    let release!: (response: Response) => void;
    answer = () => new Promise((resolve) => (release = resolve));
    assert.equal(await set.find("a"), "a");
    assert.equal(asked, 2);
    release(new Response("", { status: 503 }));
    now += 3_700_000;
    answer = failing;
    await assert.rejects(set.find("a"), /no keys/);
  });

  it("are no more than 1 MB", async () => {
    answer = () => Promise.resolve(new Response(`{"keys":[{"kid":"a"}]}${" ".repeat(1_000_000)}`));
    await assert.rejects(keySet().find("a"), /no keys/);
  });
});

describe("client library for Node.js: options", () => {
  it("that are no number, or not a possible one, are refused", () => {
    for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY, "5" as unknown as number]) {
      const about = String(wrong);
      for (const name of ["clockToleranceSeconds", "cacheMs", "cooldownMs"] as const) {
        const options = { issuer: "https://issuer.example", [name]: wrong };
        assert.throws(() => new TokenVerifier(options), ConfigurationError, `${name} ${about}`);
      }
      for (const name of ["timeoutMs", "attemptTimeoutMs", "maxRetries"] as const)
        assert.throws(() => answering({}, { [name]: wrong }), ConfigurationError, `${name} ${about}`);
      const delivery = { body: "", headers: {}, secrets: "s", toleranceSeconds: wrong };
      assert.throws(() => verifyWebhook(delivery), ConfigurationError, about);
    }
  });

  it("of one call are checked, too", async () => {
    const { gatehouse, sent } = answering([]);
    for (const options of [{ timeoutMs: Number.NaN }, { maxRetries: Number.NaN }])
      await assert.rejects(gatehouse.customers.get("x", options), ConfigurationError);
    assert.equal(sent.length, 0);
  });

  it("an issuer and an audience are not empty", () => {
    const wrong = [{}, { issuer: "" }, { issuer: "https://issuer.example", audience: "" }];
    for (const options of wrong)
      assert.throws(() => new TokenVerifier(options as TokenVerifierOptions), ConfigurationError);
  });

  it("a webhook whose time cannot be compared is refused", () => {
    const headers = { "webhook-id": "m", "webhook-timestamp": "1", "webhook-signature": "v1,x" };
    const delivery = { body: "", headers, secrets: "s", now: Number.NaN };
    assert.throws(() => verifyWebhook(delivery), { code: "TIMESTAMP_OUTSIDE_TOLERANCE" });
  });

  it("an ETag that is missing does not make a change unconditional", async () => {
    const { gatehouse, sent } = answering({});
    for (const ifMatch of [undefined, ""])
      await assert.rejects(gatehouse.customers.update("x", {}, { ifMatch: ifMatch! }), ConfigurationError);
    assert.equal(sent.length, 0);
  });

  it("a list is a promise of its first page, with all that promises have", async () => {
    const { gatehouse } = answering([{ id: "cus_1" }]);
    let done = false;
    const page = await gatehouse.customers.list().finally(() => (done = true));
    assert.deepEqual([page.data, done], [[{ id: "cus_1" }], true]);
    const failed = gatehouse.customers.list({}, { timeoutMs: -1 }).catch((error: unknown) => error);
    assert.ok((await failed) instanceof ConfigurationError);
  });
});

describe("client library for Node.js: AbortSignal", () => {
  const reason = new Error("the user has left");
  const isReason = (error: unknown) => error === reason;
  /** A client whose requests are answered by this, and a signal. */
  function aborting(answer: (signal: AbortSignal) => Promise<Response>) {
    const stop = new AbortController();
    const asked: AbortSignal[] = [];
    const gatehouse = new Gatehouse({
      ...{ apiKey: "gh_test_1", environment: "sandbox" },
      fetch: (_input, init) => {
        asked.push(init!.signal!);
        return answer(init!.signal!);
      },
    });
    return { gatehouse, stop, asked };
  }
  const hanging = (signal: AbortSignal) =>
    new Promise<Response>((_, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason as Error);
      });
    });
  const busy = () => Promise.resolve(new Response("", { status: 503, headers: { "retry-after": "30" } }));

  it("that is aborted before the call sends no request", async () => {
    const { gatehouse, stop, asked } = aborting(hanging);
    stop.abort(reason);
    await assert.rejects(gatehouse.customers.get("x", { signal: stop.signal }), isReason);
    await assert.rejects(gatehouse.events.follow({}, { signal: stop.signal }).next(), isReason);
    assert.equal(asked.length, 0);
  });

  it("ends a request that hangs", async () => {
    const calls = [
      (gatehouse: Gatehouse, signal: AbortSignal) => gatehouse.customers.get("x", { signal }),
      (gatehouse: Gatehouse, signal: AbortSignal) => gatehouse.events.follow({}, { signal }).next(),
    ];
    for (const call of calls) {
      const { gatehouse, stop, asked } = aborting(hanging);
      const ended = assert.rejects(call(gatehouse, stop.signal), isReason);
      assert.equal(asked.length, 1);
      stop.abort(reason);
      await ended;
    }
  });

  it("ends the pause before the next attempt", async () => {
    const { gatehouse, stop, asked } = aborting(busy);
    const ended = assert.rejects(gatehouse.customers.get("x", { signal: stop.signal }), isReason);
    const followed = assert.rejects(gatehouse.events.follow({}, { signal: stop.signal }).next(), isReason);
    while (asked.length < 2) await delay(1);
    // both have their answer by then, and wait
    await delay(1);
    stop.abort(reason);
    await ended;
    await followed;
    assert.equal(asked.length, 2);
  });
});

describe("client library for Node.js: following events", () => {
  it("goes on behind what was handled, however the consumer ends", async () => {
    const fake = new FakeGatehouse();
    const gatehouse = fake.client();
    const ids = Array.from({ length: 7 }, () => fake.addEvent("policy.violated", { reason: "x" }));
    const handled: string[] = [];
    let stored: string | undefined;
    // a consumer that crashes in its second batch, before it has stored the cursor
    const consume = async (crashes: boolean) => {
      const query = { limit: 3, ...(stored !== undefined && { after: stored }) };
      for await (const { events, cursor } of gatehouse.events.follow(query)) {
        if (crashes && stored !== undefined) throw new Error("crash");
        handled.push(...events.map(({ id }) => id));
        stored = cursor;
        if (handled.length >= ids.length) return;
      }
    };
    await assert.rejects(consume(true), /crash/);
    assert.deepEqual(handled, ids.slice(0, 3));
    await consume(false);
    assert.deepEqual(handled, ids);
  });

  it("has a cursor before there are events, and waits for them", async () => {
    const fake = new FakeGatehouse();
    const feed = fake.client().events.follow({ after: "latest" }, { pollMs: 1 });
    const first = (await feed.next()).value as EventBatch;
    assert.deepEqual(first.events, []);
    const id = fake.addEvent("user.authenticated", {}, { customerId: "cus_1", userId: "usr_1" });
    const found: string[] = [];
    for await (const { events } of feed) {
      found.push(...events.map((event) => event.id));
      if (found.length > 0) break;
    }
    assert.deepEqual(found, [id]);
    // who stored the first cursor gets it, too
    const again = await fake.client().events.read({ after: first.cursor });
    assert.deepEqual(
      again.events.map((event) => event.id),
      [id],
    );
  });

  it("ends when events after the cursor may be missing", async () => {
    const fake = new FakeGatehouse();
    fake.addEvent("policy.violated");
    const feed = fake.client().events.follow({}, { pollMs: 1 });
    await feed.next();
    fake.expireEvents();
    const error = await feed.next().catch((thrown: unknown) => thrown);
    assert.ok(error instanceof CursorExpiredError);
    assert.equal(error.status, 410);
    assert.equal((await feed.next()).done, true);
  });

  it("pauses at a cursor that stands still, whatever else is said to follow", async () => {
    const feed = { events: [], cursor: "evt_1", more: true };
    const standing = answering(feed);
    const stop = new AbortController();
    const followed = standing.gatehouse.events.follow({ after: "evt_1" }, { signal: stop.signal });
    await followed.next();
    const next = assert.rejects(followed.next(), /abort/);
    // without a pause, many requests would have been sent by now
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    assert.equal(standing.sent.length, 1);
    stop.abort();
    await next;
    const moving = answering(feed);
    const onward = moving.gatehouse.events.follow({ after: "evt_0" });
    await onward.next();
    await onward.next();
    assert.equal(moving.sent.length, 2);
  });

  it("refuses a pause that is no number", async () => {
    const feed = new FakeGatehouse().client().events.follow({}, { pollMs: Number.NaN });
    await assert.rejects(feed.next(), ConfigurationError);
  });
});

describe("client library for Node.js: pauses", () => {
  it("grow, vary, and are never shorter than the server asks", () => {
    const longest = Array.from({ length: 8 }, (_, attempt) => delayMs(attempt, undefined, 1));
    assert.deepEqual(longest, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    assert.equal(delayMs(3, undefined, 0.5), 1000);
    assert.equal(delayMs(5_000, undefined, 1), 8000);
    assert.equal(delayMs(0, 3000, 1), 3000);
  });

  it("are those of Retry-After, where it is one", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    const found = [
      ...["0", "7", "1000000000", "Sun, 01 Mar 2026 12:00:30 GMT", "Sunday, 01-Mar-26 12:00:30 GMT"],
      ...["Sun Mar  1 12:00:30 2026", "Sun, 01 Mar 2026 11:00:00 GMT", "-5", "1e9", "5.5", "soon", ""],
    ].map((header) => retryAfterMs(header, now));
    const dates = [30_000, 30_000, 30_000, 0];
    const none = Array.from({ length: 5 }, () => undefined);
    assert.deepEqual(found, [0, 7000, 1e12, ...dates, ...none]);
    assert.equal(retryAfterMs(null, now), undefined);
  });
});

describe("client library for Node.js: secrets of webhooks", () => {
  it("are texts, and not nothing", () => {
    const wrong = [[], [""], ["good", "\ud800"], [undefined], undefined, [7]];
    for (const secrets of wrong as string[][])
      assert.throws(() => verifyWebhook({ body: "", headers: {}, secrets }), ConfigurationError);
  });
});

import assert from "node:assert/strict";
import { RateBudget } from "../../src/runtime/rate-budget.ts";
import { createFrontProxyReader } from "../../src/decision/decide/front-proxy.ts";
import { createLoadShedding } from "../../src/decision/point/index.ts";
import { createIdentify } from "../../src/decision/decide/identify.ts";
import type { IdentityFailure, TokenVerifier } from "../../src/identity/index.ts";
import type { CanonicalRequest } from "../../src/request/index.ts";
import { checkRequest } from "../support/check-request.ts";
import { allowed, denied, openCheckWorld } from "./support/check-world.ts";

type Headers = readonly (readonly [name: string, value: string])[];

/** What the verifier knows of tokens. */
const KNOWN: Readonly<Record<string, "good" | "bad">> = { good: "good", bad: "bad" };
const verifier: Pick<TokenVerifier, "cached"> = {
  cached: (token) => {
    const known = KNOWN[token];
    if (known === undefined) return undefined;
    return known === "bad"
      ? { ok: false, reason: "TOKEN_SIGNATURE_INVALID", detail: "" }
      : { ok: true, identity: { user: {}, userId: "", session: { amr: [] }, expiresAt: 0 } };
  },
};
const bearerOf = (token: string) => ["authorization", `Bearer ${token}`] as const;

describe("extauthz: a check that others wait behind", () => {
  let world: Awaited<ReturnType<typeof openCheckWorld>>;
  before(async () => {
    world = await openCheckWorld();
  });
  afterEach(() => world.flush());
  after(() => world.close());

  const state = { backlog: true, now: 0 };
  const shedding = (failures = new RateBudget({ perSecond: 1, clock: () => state.now })) => {
    const decide = createLoadShedding({
      verifier,
      cookie: "sid",
      frontProxy: createFrontProxyReader({ trustedProxies: ["10.0.0.1"], backends: [] }),
      failures,
      snapshot: () => undefined,
    });
    return world.checkOf({ shed: (access) => (state.backlog ? decide(access) : undefined) });
  };
  const ask = async (
    { ask }: ReturnType<typeof shedding>,
    headers: Headers,
    peer = "127.0.0.1",
    path = "/public",
  ) => ask(checkRequest({ path, headers, peer }));
  const statusOf = async (...parts: Parameters<typeof ask>) =>
    (await ask(...parts)).denied_response?.status.code;

  beforeEach(() => {
    state.backlog = true;
  });

  const cases: readonly [title: string, headers: Headers, peer: string | undefined, shed: boolean][] = [
    ["without a token", [], undefined, false],
    ["with a token of another scheme", [["authorization", "Basic YTpi"]], undefined, false],
    ["with an empty Authorization", [["authorization", ""]], undefined, false],
    ["with a token alone", [["authorization", "good"]], undefined, false],
    ["with an empty cookie", [["cookie", "sid="]], undefined, false],
    ["with a cookie whose name ends so", [["cookie", "zsid=good"]], undefined, false],
    ["with what is no token", [bearerOf("a b")], undefined, true],
    ["with two", [bearerOf("good"), bearerOf("good")], undefined, true],
    ["with a good token", [bearerOf("good")], undefined, false],
    ["with a bad token", [bearerOf("bad")], undefined, true],
    ["with a good token in the cookie", [["cookie", "a=b; sid=good"]], undefined, false],
    ["with another cookie", [["cookie", "a=good"]], undefined, false],
    ["with a good token from a front proxy", [["x-user-token", "good"]], "10.0.0.1", false],
    ["with that from anybody else", [["x-user-token", "good"]], undefined, true],
  ];
  for (const [title, headers, peer, shed] of cases) {
    it(`${title}: ${shed ? "not now" : "is decided"}`, async () => {
      const status = await statusOf(shedding(), headers, peer);
      assert.equal(status === 503, shed, String(status));
    });
  }

  it("is told when to come again, and has its record", async () => {
    const subject = shedding();
    const answer = denied(await ask(subject, [bearerOf("bad")], undefined, "/public?secret=1"));
    assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "1"]);
    assert.match(answer.body, /"code":"SERVICE_UNAVAILABLE".*"reason":"OVERLOADED"/);
    const [record, ...more] = await subject.records();
    assert.deepEqual(more, []);
    assert.deepEqual(
      [record?.decision, record?.reason, record?.resource, record?.client_ip],
      ["DENY", "OVERLOADED", "/public", "127.0.0.1"],
    );
    assert.doesNotMatch(JSON.stringify(record), /secret=1/);
  });

  it("is decided as ever where nobody waits", async () => {
    state.backlog = false;
    const subject = shedding();
    allowed(await ask(subject, []));
    assert.deepEqual(
      (await subject.records()).map(({ reason }) => reason),
      ["CONDITION_TRUE"],
    );
  });

  it("records are bounded by their rate, and all are counted", async () => {
    const subject = shedding();
    const bytes = checkRequest({ path: "/public", headers: [bearerOf("bad")] });
    for (let time = 0; time < 3_000; time += 1) await subject.check(bytes, { deadline: Infinity });
    const { length } = await subject.records();
    // ten seconds' worth; on a slow machine, and that of what passed meanwhile
    assert.ok(length >= 2_000, String(length));
    const { values } = await subject.metrics.auditDropped.get();
    assert.equal(values.find(({ labels }) => labels["cause"] === "rate")?.value ?? 0, 3_000 - length);
    const decisions = (await subject.metrics.decisions.get()).values;
    assert.deepEqual(
      decisions.map(({ labels, value }) => [labels["decision"], labels["reason"], value]),
      [["DENY", "OVERLOADED", 3_000]],
    );
  });

  it("with a token that is not known is decided, unless many have turned out bad of late", async () => {
    const failures = new RateBudget({ perSecond: 1, clock: () => state.now });
    const subject = shedding(failures);
    assert.notEqual(await statusOf(subject, [bearerOf("unknown")]), 503);
    while (failures.take());
    assert.equal(await statusOf(subject, [bearerOf("unknown")]), 503);
    assert.notEqual(await statusOf(subject, [bearerOf("good")]), 503);
    state.now += 1_000;
    assert.notEqual(await statusOf(subject, [bearerOf("unknown")]), 503);
  });

  it("pays for tokens that were verified in vain, not for keys that are late", async () => {
    const reasons: Readonly<Record<string, IdentityFailure>> = {
      forged: "TOKEN_SIGNATURE_INVALID",
      expired: "TOKEN_EXPIRED",
      early: "IDENTITY_NOT_READY",
    };
    let paid = 0;
    const identify = createIdentify(
      {
        cached: () => undefined,
        verify: (token) => {
          const reason = reasons[token];
          return Promise.resolve(
            reason === undefined
              ? { ok: true, identity: { user: {}, userId: "", session: { amr: [] }, expiresAt: 0 } }
              : { ok: false, reason, detail: "" },
          );
        },
        ready: () => true,
      },
      { failed: () => (paid += 1) },
    );
    for (const [token, expected] of [
      ["fine", 0],
      ["early", 0],
      ["forged", 1],
      ["expired", 2],
    ] as const) {
      const request = { headers: { authorization: [`Bearer ${token}`] } } as unknown as CanonicalRequest;
      await identify(request, false, "203.0.113.7");
      assert.equal(paid, expected, token);
    }
  });

  it("is denied when it cannot be told whether to decide it", async () => {
    const subject = world.checkOf({
      shed: () => {
        throw new Error("no");
      },
    });
    assert.equal(await statusOf(subject, []), 500);
  });
});

import assert from "node:assert/strict";
import { EvaluationFailure } from "../../../src/decision/decide/rollout-arm.ts";
import type { AttributeSource } from "../../../src/decision/attributes/sources.ts";
import { VerdictCache } from "../../../src/decision/decide/verdict-cache.ts";
import type { ValueObject } from "../../../src/policy/index.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import {
  accessOf,
  bearer,
  deciderOf,
  outcome,
  ruleOf,
  snapshotOf,
  useIssuer,
  type DeciderParts,
  type RequestParts,
} from "../support.ts";

const TARGET = "attributes:\n  target: { source: users, key: path.id }\n";
const lookUp = (condition: string) =>
  `${TARGET}policies:\n  - { resource: "GET /u/{id}", condition: ${JSON.stringify(condition)} }\n`;

describe("decision: attributes", () => {
  const idp = useIssuer();

  const decide = async (text: string, parts: RequestParts = {}, options: Partial<DeciderParts> = {}) =>
    outcome(await deciderOf(snapshotOf(text), { verifier: idp.verifier, ...options })(accessOf(parts)));
  const TRUE = "ALLOW CONDITION_TRUE";
  const FALSE = "DENY CONDITION_FALSE";
  const UNKNOWN = "DENY CONDITION_UNKNOWN";

  describe("request", () => {
    const cases: readonly [condition: string, parts: RequestParts, expected: string][] = [
      ['request.method == "GET"', {}, TRUE],
      ['request.method == "GET"', { method: "HEAD" }, FALSE],
      ['request.path == "/x" and request.host == "app.test" and request.scheme == "http"', {}, TRUE],
      ['request.protocol == "HTTP/1.1"', {}, TRUE],
      ['request.client_ip == "192.0.2.7"', { peer: "192.0.2.7" }, TRUE],
      ['request.client_ip == "192.0.2.7"', { peer: "192.0.2.7", headers: [["x-real-ip", "10.0.0.1"]] }, TRUE],
      ['request.headers["x-tier"].includes("gold")', { headers: [["x-tier", "gold"]] }, TRUE],
      [
        'request.headers["x-tier"].includes("gold")',
        {
          headers: [
            ["x-tier", "a"],
            ["x-tier", "gold"],
          ],
        },
        TRUE,
      ],
      ['request.headers["x-tier"].includes("gold")', { headers: [["x-tier", "gold,a"]] }, FALSE],
      ['request.headers["x-tier"].includes("gold")', {}, UNKNOWN],
      ['not request.headers["x-tier"].includes("gold")', {}, UNKNOWN],
      ["exists(request.headers.constructor)", {}, FALSE],
      ["exists(request.headers.constructor)", { headers: [["constructor", "1"]] }, TRUE],
      ['request.query.page.includes("2")', { path: "/x?page=2&page=3" }, TRUE],
      ['request.query.page.includes("4")', { path: "/x?page=2&page=3" }, FALSE],
      ['request.query.page == "2"', { path: "/x?page=2" }, TRUE],
      ['request.query.page == "2"', { path: "/x?page=2&page=3" }, UNKNOWN],
      ['request.query.page != "4"', { path: "/x?page=2&page=3" }, UNKNOWN],
      ['request.query.page in ["2", "3"]', { path: "/x?page=2&page=2" }, UNKNOWN],
      ["exists(request.query.page)", { path: "/x?page=2&page=3" }, TRUE],
      ["exists(request.query.__proto__)", { path: "/x?a=1" }, FALSE],
    ];
    for (const [condition, parts, expected] of cases) {
      it(`${condition} of ${JSON.stringify(parts)}: ${expected}`, async () => {
        assert.equal(await decide(ruleOf(condition), parts), expected);
      });
    }
    it("takes address, scheme and host from a trusted proxy, and shows the headers that the application gets", async () => {
      const frontProxy = { trustedProxies: ["10.0.0.0/8"], backends: [] };
      const headers = [
        ["x-forwarded-for", "192.0.2.1, 192.0.2.7"],
        ["x-forwarded-proto", "https"],
        ["x-forwarded-host", "app.test"],
      ] as const;
      const proxied =
        'request.client_ip == "192.0.2.7" and request.scheme == "https" and ' +
        'request.headers["x-forwarded-for"] == "192.0.2.7" and request.headers["x-forwarded-proto"] == "https"';
      const direct =
        'request.client_ip == "192.0.2.9" and request.scheme == "http" and ' +
        'request.headers["x-forwarded-for"] == "192.0.2.9" and request.headers["x-forwarded-proto"] == "http" and ' +
        'not exists(request.headers["x-forwarded-host"])';
      assert.equal(await decide(ruleOf(proxied), { peer: "10.0.0.1", headers }, { frontProxy }), TRUE);
      assert.equal(await decide(ruleOf(direct), { peer: "192.0.2.9", headers }, { frontProxy }), TRUE);
      assert.equal(await decide(ruleOf(direct), { peer: "192.0.2.9", headers }), TRUE);
    });
    it("evaluates both hosts if a proxy forwards another one than the client's: the application may use either", async () => {
      const frontProxy = { trustedProxies: ["10.0.0.0/8"], backends: [] };
      const forwarded = (host: string) => ({
        peer: "10.0.0.1",
        headers: [["x-forwarded-host", host]] as const,
      });
      const ask = (condition: string, host: string) =>
        decide(ruleOf(condition), forwarded(host), { frontProxy });
      assert.equal(await ask('request.host == "public.test"', "public.test"), FALSE);
      assert.equal(await ask('request.host == "app.test"', "public.test"), FALSE);
      assert.equal(await ask('request.host in ["app.test", "public.test"]', "public.test:8443"), TRUE);
      assert.equal(await ask('request.host == "app.test"', "APP.test:8443"), TRUE);
    });
    it("gives path parameters decoded, and no others", async () => {
      const set = 'policies:\n  - { resource: "GET /a/{id}/{two}", condition: path.id == "é 1" }';
      assert.equal(await decide(set, { path: "/a/%C3%A9%201/x" }), TRUE);
      assert.equal(await decide(set, { path: "/a/%C3%A9%2B1/x" }), FALSE);
    });
  });

  describe("body", () => {
    const set = 'policies:\n  - { resource: "POST /b", condition: request.body.amount <= 10 }';
    const json = [["content-type", "application/json"]] as const;
    const post = (body: string, more: RequestParts = {}) =>
      decide(set, {
        method: "POST",
        path: "/b",
        headers: json,
        body,
        ...more,
      });

    it("is read where the rule reads it", async () => {
      assert.equal(await post('{"amount":10}'), TRUE);
      assert.equal(await post('{"amount":10.5}'), FALSE);
      assert.equal(await post('{"amount":"1"}'), UNKNOWN);
      assert.equal(await post("{}"), UNKNOWN);
    });
    it("is unknown where there is none, or none that is JSON", async () => {
      assert.equal(await post(""), UNKNOWN);
      assert.equal(await post("amount=1", { headers: [["content-type", "text/plain"]] }), UNKNOWN);
    });
    it("is refused where it can be read in two ways, or was cut short", async () => {
      const refused = "DENY AMBIGUOUS_BODY";
      assert.equal(await post('{"amount":1,"amount":100}'), refused);
      assert.equal(await post('{"amount":1'), refused);
      assert.equal(await post('{"amount":1}', { complete: false }), refused);
      assert.equal(await post('{"amount":1}', { headers: [...json, ["content-encoding", "gzip"]] }), refused);
    });
    it("is accepted, and reported, where the check is switched off", async () => {
      const decider = deciderOf(snapshotOf(set), {
        verifier: idp.verifier,
        accept: { switchedOff: new Set(["duplicate_json_member"]) },
      });
      const decision = await decider(
        accessOf({ method: "POST", path: "/b", headers: json, body: '{"amount":1,"amount":2}' }),
      );
      assert.deepEqual(decision.accepted, ["duplicate_json_member"]);
    });
    it("counts anew each time: no verdict over a body is remembered", async () => {
      const decider = deciderOf(snapshotOf(set), { verifier: idp.verifier });
      const ask = async (body: string) =>
        outcome(await decider(accessOf({ method: "POST", path: "/b", headers: json, body })));
      assert.equal(await ask('{"amount":1}'), TRUE);
      assert.equal(await ask('{"amount":11}'), FALSE);
      assert.equal(await ask('{"amount":1}'), TRUE);
    });
  });

  describe("env", () => {
    const at = Date.UTC(2026, 0, 31, 23, 59, 59, 999); // a Saturday
    const cases: readonly [string, string][] = [
      ['env.time == "2026-01-31T23:59:59Z"', TRUE],
      ['env.time >= "2026-02-01T00:00:00Z"', FALSE],
      ['env.date == "2026-01-31" and env.hour == 23 and env.weekday == "saturday"', TRUE],
      ['env.environment == "production"', TRUE],
    ];
    for (const [condition, expected] of cases) {
      it(condition, async () => {
        assert.equal(await decide(ruleOf(condition), { at }), expected);
      });
    }
    it("is of the moment: no verdict over it is remembered", async () => {
      const decider = deciderOf(snapshotOf(ruleOf('env.time < "2026-02-01T00:00:00Z"')), {
        verifier: idp.verifier,
      });
      assert.equal(outcome(await decider(accessOf({ at }))), TRUE);
      assert.equal(outcome(await decider(accessOf({ at: at + 1 }))), FALSE);
    });
    it("denies with an error where the time is none", async () => {
      const decider = deciderOf(snapshotOf(ruleOf("env.hour >= 0")), { verifier: idp.verifier });
      await assert.rejects(
        async () => decider(accessOf({ at: 1e300 })),
        (error) => error instanceof EvaluationFailure && error.cause instanceof RangeError,
      );
    });
  });

  describe("sources", () => {
    const users = new Map<string, ValueObject>([
      ["u-1", { department: "sales", tags: ["a"] }],
      ["__proto__", { department: "odd" }],
    ]);
    const source: AttributeSource = { lookup: (key) => users.get(key) };
    const failing: AttributeSource = {
      lookup: () => {
        throw new Error("down");
      },
    };
    const rejecting: AttributeSource = { lookup: () => Promise.reject(new Error("down")) };
    const late: AttributeSource = {
      lookup: (key) => new Promise((resolve) => setImmediate(resolve, users.get(key))),
    };
    const from = (users: AttributeSource) => ({ sources: new Map([["users", users]]) });
    const ask = (condition: string, path: string, source: AttributeSource, more: RequestParts = {}) =>
      decide(lookUp(condition), { path, ...more }, from(source));

    it("gives what is found, at once or later", async () => {
      for (const one of [source, late]) {
        assert.equal(await ask('target.department == "sales"', "/u/u-1", one), TRUE);
        assert.equal(await ask('target.department == "legal"', "/u/u-1", one), FALSE);
        assert.equal(await ask('target.department == "odd"', "/u/__proto__", one), TRUE);
      }
    });
    it("takes an entry that is not there for missing, which `exists` can see", async () => {
      assert.equal(await ask('target.department == "sales"', "/u/u-2", source), UNKNOWN);
      assert.equal(await ask('target.department != "sales"', "/u/u-2", source), UNKNOWN);
      assert.equal(await ask("exists(target)", "/u/constructor", source), FALSE);
      assert.equal(await ask("not exists(target.department)", "/u/u-2", source), TRUE);
    });
    it("is unknown where the source fails, `exists` included", async () => {
      for (const one of [failing, rejecting]) {
        assert.equal(await ask('target.department == "sales"', "/u/u-1", one), UNKNOWN);
        assert.equal(await ask("not exists(target.department)", "/u/u-1", one), UNKNOWN);
        assert.equal(await ask("not exists(target)", "/u/u-1", one), UNKNOWN);
      }
    });
    it("is unknown where the source is not configured", async () => {
      assert.equal(await decide(lookUp("not exists(target)"), { path: "/u/u-1" }), UNKNOWN);
    });
    it("is not looked up for rules that do not read it", async () => {
      let lookups = 0;
      const counting: AttributeSource = { lookup: () => void (lookups += 1) };
      assert.equal(await ask('path.id == "u-1"', "/u/u-1", counting), TRUE);
      assert.equal(lookups, 0);
      assert.equal(await ask("not exists(target)", "/u/u-1", counting), TRUE);
      assert.equal(lookups, 1);
    });
    it("remembers no verdict of a failing source for a working one", async () => {
      let current: AttributeSource = failing;
      const changing: AttributeSource = { lookup: (key, root) => current.lookup(key, root) };
      const cache = new VerdictCache({ size: 10, ttlMs: 60_000 }, createMetrics());
      const decider = deciderOf(snapshotOf(lookUp('target.department == "sales"')), {
        verifier: idp.verifier,
        cache,
        ...from(changing),
      });
      const path = "/u/u-1";
      assert.equal(outcome(await decider(accessOf({ path }))), UNKNOWN);
      current = source;
      assert.equal(outcome(await decider(accessOf({ path }))), TRUE);
      current = failing;
      assert.equal(outcome(await decider(accessOf({ path }))), UNKNOWN);
    });
    it("asks for an identity where the key comes from it", async () => {
      const set = "attributes:\n  me: { source: users, key: user.id }\n" + ruleOf('me.department == "sales"');
      assert.equal(await decide(set, {}, from(source)), "DENY IDENTITY_REQUIRED");
      const headers = [bearer(await idp.token({ sub: "u-1" }))];
      assert.equal(await decide(set, { headers }, from(source)), TRUE);
      const other = [bearer(await idp.token({ sub: "u-2" }))];
      assert.equal(await decide(set, { headers: other }, from(source)), UNKNOWN);
    });
    it("looks up by a header that was sent once", async () => {
      const set =
        "attributes:\n  by: { source: users, key: 'request.headers[\"x-id\"]' }\n" +
        ruleOf('by.department == "sales"');
      const id = ["x-id", "u-1"] as const;
      assert.equal(await decide(set, { headers: [id] }, from(source)), TRUE);
      assert.equal(await decide(set, { headers: [id, id] }, from(source)), UNKNOWN);
      assert.equal(await decide(set, {}, from(source)), UNKNOWN);
    });
    it("looks up by one string or number, alone or in a list, and by nothing else", async () => {
      const keys: string[] = [];
      const noting: AttributeSource = {
        lookup: (key) => {
          keys.push(key);
          return { ok: true };
        },
      };
      const set = "attributes:\n  dep: { source: users, key: user.department }\n" + ruleOf("dep.ok");
      for (const [department, expected] of [
        [7, TRUE],
        ["7", TRUE],
        [["7"], TRUE],
        [["7", "8"], UNKNOWN],
        [[["7"]], UNKNOWN],
        [[], UNKNOWN],
        [{ a: 1 }, UNKNOWN],
        [true, UNKNOWN],
        [null, UNKNOWN],
      ] as const) {
        const headers = [bearer(await idp.token({ department }))];
        assert.equal(await decide(set, { headers }, from(noting)), expected, JSON.stringify(department));
      }
      assert.deepEqual(keys, ["7", "7", "7"]);
    });
  });
});

import assert from "node:assert/strict";
import { explainAnswer, explainOffline } from "../../../src/decision/explain/explain-offline.ts";
import { decideOffline } from "../../../src/decision/explain/offline.ts";
import { accessOf, snapshotOf } from "../support.ts";
import type { SampleAnswer } from "../../../src/policy/suite/index.ts";

const typed = (type: string, text: string): SampleAnswer => ({
  status: 200,
  headers: [["content-type", type]],
  text,
});

describe("decision: sample answers of other types", () => {
  const explainedWith = async (first: string, second: string, role = "viewer") => {
    const rules = snapshotOf(`
policies:
  - { resource: "GET /a", condition: true }
response_filters:
  - { endpoint: /a, ${first} filter_rules: [{ field: x, condition: true, action: remove }] }
response_masks:
  - { api_pattern: /**, ${second} fields: [{ name: y, condition: user.role != "admin", mask_type: full }] }
`);
    const user = { id: "u", role };
    const lookup = () => undefined;
    const offline = await decideOffline(rules, { raw: accessOf({ path: "/a" }).raw, user, lookup, now: 0 });
    return explainOffline(offline);
  };
  const csv = typed("text/csv", "x,y");

  it("pass where every rule that applies says so", async () => {
    const cases: readonly (readonly [string, string, string, boolean])[] = [
      ["other_types: pass,", "other_types: pass,", "viewer", true],
      ["other_types: pass,", "", "viewer", false],
      ["", "other_types: pass,", "viewer", false],
      ["other_types: pass,", "other_types: refuse,", "viewer", false],
      ["", "", "viewer", false],
      // the second rule does not apply to administrators
      ["other_types: pass,", "", "admin", true],
      ["", "other_types: pass,", "admin", false],
    ];
    for (const [first, second, role, ok] of cases) {
      const { outcome } = explainAnswer(await explainedWith(first, second, role), csv);
      assert.equal(outcome.ok, ok, JSON.stringify([first, second, role]));
      if (outcome.ok) assert.deepEqual(outcome, { ok: true, text: "x,y", paths: [] });
    }
  });

  it("do not pass where an operation was evaluated: its answer is JSON", async () => {
    const rules = snapshotOf(`
policies: [{ resource: "* /**", condition: true }]
graphql_policies: [{ query: people, condition: true }]
response_filters:
  - { endpoint: /**, other_types: pass, filter_rules: [{ field: x, condition: true, action: remove }] }
`);
    const outcomeAt = async (path: string) => {
      const body = JSON.stringify({ query: "{ people { name } }" });
      const { raw } = accessOf({
        method: "POST",
        path,
        headers: [["content-type", "application/json"]],
        body,
      });
      const offline = await decideOffline(rules, { raw, lookup: () => undefined, now: 0 });
      assert.equal(offline.decision.verdict, "ALLOW");
      return explainAnswer(await explainOffline(offline), csv).outcome;
    };
    assert.deepEqual(await outcomeAt("/graphql"), { ok: false, reason: "not_json", status: 502 });
    assert.equal((await outcomeAt("/other")).ok, true);
  });

  it("are successes, whole, not coded, and surely not JSON", async () => {
    const decided = await explainedWith("other_types: pass,", "other_types: pass,");
    const header = (name: string, value: string) => ({
      ...csv,
      headers: [...csv.headers, [name, value] as const],
    });
    const refused: readonly (readonly [SampleAnswer, string, number])[] = [
      [typed("text/csv", '{"x":1}'), "looks_like_json", 502],
      [typed("text/html", "hello"), "looks_like_json", 502],
      [typed("text/plain", "hello"), "not_json", 502],
      [header("content-type", "text/csv"), "not_json", 502],
      [header("content-encoding", "gzip"), "compressed", 502],
      [header("content-range", "bytes 0-1/2"), "partial", 502],
      [{ ...csv, status: 206 }, "partial", 502],
      [{ ...csv, status: 404 }, "not_json", 404],
    ];
    for (const [sample, reason, status] of refused)
      assert.deepEqual(explainAnswer(decided, sample).outcome, { ok: false, reason, status });
    const { outcome } = explainAnswer(decided, typed("application/json", '{"x":1,"y":2,"z":3}'));
    assert.ok(outcome.ok);
    assert.deepEqual([outcome.text, outcome.paths], ['{"y":"***","z":3}', ["$.x", "$.y"]]);
  });
});

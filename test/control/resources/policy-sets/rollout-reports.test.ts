import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import { createPolicySetCompiler } from "../../../../src/control/resources/policy-sets/compiler.ts";
import { rolloutRoutes } from "../../../../src/control/resources/policy-sets/rollout-routes.ts";
import { MOST_REPORTERS } from "../../../../src/control/resources/policy-sets/rollout-store.ts";
import { policySetRoutes } from "../../../../src/control/resources/policy-sets/routes.ts";
import type { ArmSample } from "../../../../src/decision/rollout/arm-sample.ts";
import { MOST_SHADOW_RULES, OTHER_RULES, type RolloutReport } from "../../../../src/protocol/index.ts";
import { startControl, type RunningControl } from "../../../support/control.ts";
import { GATEWAY_KEY } from "../../support/gateway-records.ts";
import { setOf } from "../../support/policy-files.ts";

const NOTHING: ArmSample = { decisions: 0, denials: 0, errors: 0, durations: [], heaviest: [] };

describe("reports about a rollout", () => {
  let control: RunningControl;
  let rollout: string;

  before(async () => {
    control = await startControl({
      routes: (context) => [
        ...policySetRoutes(context, createPolicySetCompiler()),
        ...rolloutRoutes(context),
      ],
    });
    for (const version of ["v1", "v2"]) {
      const body = { name: "main", files: setOf(version, version), activate: version === "v1" };
      assert.equal((await control.request("POST", "/policy-sets", { body })).status, 201);
    }
  });
  after(() => control.close());
  beforeEach(async () => {
    const { status, body } = await control.request("POST", "/policy-sets/main/rollout", {
      body: { version: "v2" },
    });
    assert.equal(status, 201);
    rollout = String(body.data.id);
  });
  afterEach(() => control.request("POST", "/policy-sets/main/rollout/abort"));

  const report = (changes: Partial<RolloutReport>, as: Actor = GATEWAY_KEY) =>
    control.request("POST", "/gateway/rollout-reports", {
      as,
      body: {
        ...{ gateway: "one", rollout, revision: 1 },
        samples: { stable: NOTHING, candidate: NOTHING },
        totals: { stable: NOTHING, candidate: NOTHING },
        ...{ shadow: null, taken_back: null },
        ...changes,
      } satisfies RolloutReport,
    });

  it("name the rules with the most differences, however many each gateway names", async () => {
    const named = (gateway: string, count: number) =>
      Array.from({ length: MOST_SHADOW_RULES }, (_, index) => ({
        ...{ difference: index % 2 === 0 ? ("denies" as const) : ("plan" as const) },
        ...{ rule: `${gateway}[${index}]`, count },
      }));
    const counts = { same: 0, different: 1, failed: 0, dropped: 0 };
    const other = { difference: "denies", rule: OTHER_RULES, count: 5 } as const;
    await report({ gateway: "few", shadow: { ...counts, rules: [...named("few", 1), other] } });
    await report({ gateway: "many", shadow: { ...counts, rules: named("many", 2) } });
    const { body } = await control.request("GET", "/policy-sets/main/rollout");
    const { rules } = body.data.shadow as NonNullable<RolloutReport["shadow"]>;
    const half = MOST_SHADOW_RULES / 2;
    assert.deepEqual(
      rules.filter(({ rule }) => rule === OTHER_RULES),
      [
        { ...other, count: half + other.count },
        { ...other, difference: "plan", count: half },
      ],
    );
    const byName = rules.filter(({ rule }) => rule !== OTHER_RULES);
    assert.equal(byName.length, MOST_SHADOW_RULES);
    assert.ok(byName.every(({ rule, count }) => rule.startsWith("many[") && count === 2));
  });

  it("of one gateway too many are refused, not passed over", async () => {
    await report({});
    await control.database.db.raw(
      `insert into policy_rollout_reports (rollout, sender, gateway, revision, samples, totals, seen_at)
       select rollout, sender, 'g' || number, revision, samples, totals, seen_at
       from policy_rollout_reports, generate_series(2, ?) as number where rollout = ?`,
      [MOST_REPORTERS, rollout],
    );
    const { status, body } = await report({ gateway: "another" });
    assert.deepEqual([status, body.error.code], [409, "CONFLICT"]);
    assert.equal((await report({ gateway: "another" }, { ...GATEWAY_KEY, id: "key_2" })).status, 200);
    assert.equal((await report({})).status, 200, "one that is known");
  });
});

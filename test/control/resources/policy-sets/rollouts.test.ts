import assert from "node:assert/strict";
import type { Actor } from "../../../../src/control/platform/actor.ts";
import type { NewEvent } from "../../../../src/control/platform/events.ts";
import type { ArmSample } from "../../../../src/decision/rollout/arm-sample.ts";
import { createPolicySetCompiler } from "../../../../src/control/resources/policy-sets/compiler.ts";
import { rolloutRoutes } from "../../../../src/control/resources/policy-sets/rollout-routes.ts";
import { pruneReports } from "../../../../src/control/resources/policy-sets/rollout-store.ts";
import { watchRollouts } from "../../../../src/control/resources/policy-sets/rollout-watch.ts";
import { policySetRoutes } from "../../../../src/control/resources/policy-sets/routes.ts";
import type { RolloutReport } from "../../../../src/protocol/index.ts";
import { startControl, type Answered, type RunningControl } from "../../../support/control.ts";
import { GATEWAY_KEY } from "../../support/gateway-records.ts";
import { setOf } from "../../support/policy-files.ts";

const NOTHING: ArmSample = { decisions: 0, denials: 0, errors: 0, durations: [], heaviest: [] };
const sampleOf = (decisions: number, denials = 0): ArmSample => ({
  ...{ decisions, denials, errors: 0, durations: [decisions], heaviest: [] },
});

describe("rollouts of policy sets", () => {
  let control: RunningControl;
  const events: NewEvent[] = [];
  let count = 0;
  let name: string;

  before(async () => {
    control = await startControl({
      routes: (context) => [
        ...policySetRoutes(context, createPolicySetCompiler()),
        ...rolloutRoutes(context),
      ],
      databaseNow: async (db) =>
        (await db.raw<{ rows: { now: Date }[] }>("select clock_timestamp() as now")).rows[0]!.now,
      writers: {
        events: (_trx, stored) => {
          events.push(...stored.map(({ type, data }) => ({ type, data })));
          return Promise.resolve();
        },
        deliveries: () => Promise.resolve(),
      },
    });
  });
  after(() => control.close());
  beforeEach(async () => {
    count += 1;
    name = `set-${count}`;
    for (const version of ["v1", "v2", "v3"]) {
      const body = { name, files: setOf(version, version), activate: version === "v1" };
      assert.equal((await control.request("POST", "/policy-sets", { body })).status, 201);
    }
    events.length = 0;
  });

  const call = (method: "GET" | "POST", path = "", body?: object, headers: Record<string, string> = {}) =>
    control.request(method, `/policy-sets/${name}/rollout${path}`, {
      ...(body !== undefined && { body }),
      headers,
    });
  async function start(terms: object = {}): Promise<Record<string, unknown>> {
    const { status, body, text } = await call("POST", "", { version: "v2", ...terms });
    assert.equal(status, 201, text);
    return body.data as Record<string, unknown>;
  }
  const read = async () => (await call("GET")).body.data as Record<string, unknown>;
  async function report(changes: Partial<RolloutReport> = {}, as: Actor = GATEWAY_KEY): Promise<Answered> {
    const { id, revision } = await read();
    const body: RolloutReport = {
      ...{ gateway: "one", rollout: String(id), revision: Number(revision) },
      samples: { stable: NOTHING, candidate: NOTHING },
      totals: { stable: NOTHING, candidate: NOTHING },
      ...{ shadow: null, taken_back: null },
      ...changes,
    };
    return control.request("POST", "/gateway/rollout-reports", { body, as });
  }
  const watch = () => watchRollouts(control.context);
  /** As if the present terms had taken effect that long ago. */
  const age = (seconds: number) =>
    control.database
      .db("policy_rollouts")
      .where({ policy_set: name, state: "running" })
      .update({ changed_at: control.database.db.raw(`now() - interval '${seconds} s'`) });
  const active = async () =>
    (await control.request("GET", `/policy-sets/${name}`)).body.data.active_version as string;
  const told = () => events.map(({ type, data }) => [type, data.rollout?.percentage, data.rollout?.cause]);
  const notified = async () =>
    (await control.database.db("gateway_changes").where({ policy_set: name })).length;

  it("begin in shadow unless told otherwise, and are told to everybody", async () => {
    const before = await notified();
    const { id, started_at, changed_at, started_by, ...rest } = await start();
    assert.match(String(id), /^rol_/);
    assert.equal(started_at, changed_at);
    assert.deepEqual(started_by, { kind: "api_key", id: "key_00000000000000000000000001", name: "full" });
    const { stable, candidate, ...terms } = rest;
    assert.deepEqual(
      [stable, candidate].map((one) => (one as { version: string }).version),
      ["v1", "v2"],
    );
    assert.deepEqual(terms, {
      ...{ policy_set: name, state: "running", revision: 1, mode: "shadow", percentage: 0, steps: [] },
      ...{ step_pause_seconds: 600, sticky_by: "user" },
      guard: {
        ...{ window_seconds: 60, min_requests: 200, denial_increase: 0.05 },
        ...{ error_increase: 0.01, slowdown: 5, ignored_callers: 5 },
      },
      ...{ ended_at: null, ended_by: null, cause: null, detail: null },
    });
    assert.deepEqual(told(), [["policy_set.rollout_started", 0, undefined]]);
    assert.deepEqual(events[0]?.data.policy_set?.version, "v2");
    assert.equal(await notified(), before + 1);
    assert.equal(await active(), "v1");
    const changes = await control.database
      .db("audit_records")
      .where({ kind: "change", resource: `policy_set/${name}`, action: "policy_set.rollout_started" });
    assert.equal(changes.length, 1);
  });

  it("are told with their set and in the list of sets, while they run", async () => {
    const shown = async () => {
      const one = (await control.request("GET", `/policy-sets/${name}`)).body.data.rollout;
      const all = (await control.request("GET", "/policy-sets?limit=100")).body.data;
      assert.deepEqual(all.find((set: { name: string }) => set.name === name).rollout, one);
      return one;
    };
    assert.equal(await shown(), null);
    const { id } = await start({ mode: "enforce", steps: [5, 50] });
    assert.deepEqual(await shown(), { id, version: "v2", mode: "enforce", percentage: 5 });
    await call("POST", "", { version: "v2", mode: "shadow" });
    assert.deepEqual(await shown(), { id, version: "v2", mode: "shadow", percentage: 0 });
    await call("POST", "/abort", {});
    assert.equal(await shown(), null);
  });

  it("change their terms, all of them, and not who gets the candidate", async () => {
    await start({ mode: "enforce", percentage: 5 });
    const changed = await call("POST", "", { version: "v2", mode: "enforce", steps: [10, 100], guard: null });
    assert.equal(changed.status, 200, changed.text);
    const { revision, percentage, steps, guard } = changed.body.data;
    assert.deepEqual([revision, percentage, steps, guard], [2, 10, [10, 100], null]);
    const same = await call("POST", "", { version: "v2", mode: "enforce", steps: [10, 100], guard: null });
    assert.equal(same.body.data.revision, 2, "nothing has changed");
    for (const wrong of [{ version: "v3" }, { version: "v2", sticky_by: "customer" }])
      assert.equal((await call("POST", "", wrong)).body.error.code, "CONFLICT");
    assert.deepEqual(told(), [
      ["policy_set.rollout_started", 5, undefined],
      ["policy_set.rollout_changed", 10, undefined],
    ]);
  });

  it("are compared by their ETag", async () => {
    await start();
    const { headers } = await call("GET");
    const etag = headers.get("etag") ?? "";
    const enforce = { version: "v2", mode: "enforce", percentage: 1 };
    assert.equal((await call("POST", "", enforce, { "if-match": '"other"' })).status, 412);
    assert.equal((await call("POST", "", enforce, { "if-match": etag })).status, 200);
    for (const end of ["/promote", "/abort"])
      assert.equal((await call("POST", end, undefined, { "if-match": etag })).status, 412, end);
    assert.equal((await read())["state"], "running");
  });

  it("refuse terms that make no sense", async () => {
    const wrong: readonly [object, string][] = [
      [{ mode: "enforce", steps: [10, 5] }, "steps"],
      [{ mode: "enforce", steps: [10, 10] }, "steps"],
      [{ mode: "enforce", steps: [1, 100], percentage: 5 }, "percentage"],
      [{ percentage: 101 }, "percentage"],
      [{ percentage: 0.5 }, "percentage"],
      [{ mode: "half" }, "mode"],
      [{ sticky_by: "device" }, "sticky_by"],
      [{ guard: { window_seconds: 5 } }, "guard.window_seconds"],
      [{ other: 1 }, "other"],
    ];
    for (const [terms, path] of wrong) {
      const { status, body } = await call("POST", "", { version: "v2", ...terms });
      assert.equal(status, 422, JSON.stringify(terms));
      assert.equal(body.error.details.fields[0].path, path);
    }
    assert.equal((await call("POST", "", { version: "v9" })).status, 404);
    assert.equal((await call("POST", "", { version: "v1" })).body.error.code, "CONFLICT");
    assert.equal((await call("GET")).body.error.code, "ROLLOUT_NOT_FOUND");
    const body = { name: `${name}-x`, files: setOf("v1"), activate: false };
    await control.request("POST", "/policy-sets", { body });
    const none = await control.request("POST", `/policy-sets/${name}-x/rollout`, { body: { version: "v1" } });
    assert.match(none.body.error.message, /no active version/);
    for (const end of ["/promote", "/abort"])
      assert.equal((await call("POST", end)).body.error.code, "CONFLICT", end);
  });

  it("keep any other version from being activated until they end", async () => {
    await start();
    const post = (path: string, body?: object) =>
      control.request("POST", `/policy-sets/${name}/${path}`, body === undefined ? {} : { body });
    const published = await control.request("POST", "/policy-sets", { body: { name, files: setOf("v4") } });
    const answers = [
      await post("activate", { version: "v3" }),
      await post("activate", { version: "v2" }),
      published,
    ];
    for (const answer of answers) assert.equal(answer.body.error.code, "CONFLICT", answer.text);
    assert.equal((await post("activate", { version: "v1" })).status, 200, "it is active already");
    assert.equal(
      (await control.request("POST", "/policy-sets", { body: { name, files: setOf("v4"), activate: false } }))
        .status,
      201,
    );
    await call("POST", "/abort");
    assert.equal((await post("activate", { version: "v3" })).status, 200);
    await start();
    assert.equal((await post("rollback")).body.error.code, "CONFLICT");
  });

  it("are promoted, which a rollback undoes, and begin again with another id", async () => {
    const { id } = await start({ mode: "enforce", percentage: 10 });
    const ended = (await call("POST", "/promote")).body.data;
    assert.deepEqual([ended.state, ended.cause, ended.ended_by.name], ["promoted", null, "full"]);
    assert.equal(await active(), "v2");
    await control.request("POST", `/policy-sets/${name}/rollback`);
    assert.equal(await active(), "v1");
    assert.notEqual((await start())["id"], id);
    const { data } = (await control.request("GET", `/policy-sets/${name}/rollouts`)).body;
    assert.deepEqual((data as { state: string }[]).map(({ state }) => state).sort(), ["promoted", "running"]);
    assert.deepEqual(
      told().map(([type]) => type),
      ["policy_set.rollout_started", "policy_set.rollout_promoted", "policy_set.rollout_started"],
    );
  });

  it("are started once by two calls at the same time, and ended once", async () => {
    const both = await Promise.all(["v2", "v3"].map((version) => call("POST", "", { version })));
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
    const ends = await Promise.all([call("POST", "/promote"), call("POST", "/abort")]);
    assert.deepEqual(ends.map(({ status }) => status).sort(), [200, 409]);
    const version = await active();
    assert.equal(version !== "v1", (await read())["state"] === "promoted");
  });

  it("add up what gateways report, the last report of each", async () => {
    await start();
    const rules = [{ difference: "denies" as const, rule: "policies[0]", count: 2 }];
    const shadow = { same: 5, different: 2, failed: 1, dropped: 0, rules };
    await report({ shadow: { ...shadow, same: 1 } });
    await report({ shadow });
    await report({ gateway: "two", shadow, totals: { stable: sampleOf(7, 1), candidate: NOTHING } });
    const { shadow: sum, totals, gateways, comparison } = await read();
    assert.deepEqual(sum, {
      ...{ same: 10, different: 4, failed: 2, dropped: 0 },
      rules: [{ difference: "denies", rule: "policies[0]", count: 4 }],
    });
    assert.deepEqual((totals as Record<string, unknown>)["stable"], {
      ...{ decisions: 7, denials: 1, errors: 0, p99_ms: 0.01 },
    });
    assert.deepEqual(
      (gateways as { id: string; key: string }[]).map(({ id, key }) => [id, key]),
      [
        ["one", GATEWAY_KEY.id],
        ["two", GATEWAY_KEY.id],
      ],
    );
    assert.equal(comparison, null, "nothing is compared in shadow");
  });

  it("go up when they may, and not before", async () => {
    const guard = { min_requests: 10 };
    await start({ mode: "enforce", steps: [1, 50, 100], step_pause_seconds: 60, guard });
    const enough = { samples: { stable: sampleOf(20), candidate: sampleOf(20) } };
    const percentage = async () => (await read())["percentage"];
    await watch();
    await age(61);
    await watch();
    assert.equal(await percentage(), 1, "nothing was reported");
    await report({ ...enough, revision: 7 });
    await watch();
    assert.equal(await percentage(), 1, "of other terms");
    await report(enough);
    await Promise.all([watch(), watch()]);
    assert.equal(await percentage(), 50, "once, however many instances watch");
    await report(enough);
    await watch();
    assert.equal(await percentage(), 50, "its time has not come");
    await age(61);
    await watch();
    assert.equal(await percentage(), 100);
    await report({ samples: { stable: sampleOf(0), candidate: sampleOf(20) } });
    await age(61);
    await watch();
    assert.equal(await percentage(), 100, "the last step");
    assert.deepEqual(
      told().map(([, at]) => at),
      [1, 50, 100],
    );
  });

  it("are taken back by what all gateways report together", async () => {
    await start({ mode: "enforce", percentage: 50, guard: { min_requests: 30 } });
    const half = { samples: { stable: sampleOf(20), candidate: sampleOf(20, 15) } };
    await report(half);
    await watch();
    assert.equal((await read())["state"], "running", "one alone has too few");
    await report({ ...half, gateway: "two" });
    assert.equal(((await read())["comparison"] as { outcome: string }).outcome, "worse");
    await watch();
    const { state, cause, detail, ended_by: by } = await read();
    assert.deepEqual(
      [state, cause, by],
      ["aborted", "denials", { kind: "system", id: "rollouts", name: "rollouts" }],
    );
    assert.match(String(detail), /denials: 75.0 % with the candidate/);
    assert.deepEqual(told().at(-1), ["policy_set.rollout_aborted", 50, "denials"]);
  });

  it("forget what a gateway saw that reports no more", async () => {
    await start({ mode: "enforce", percentage: 50, guard: { min_requests: 10, window_seconds: 10 } });
    await report({ samples: { stable: sampleOf(20), candidate: sampleOf(20, 15) } });
    const seen = (interval: string) =>
      control.database
        .db("policy_rollout_reports")
        .update({ seen_at: control.database.db.raw("now() - ?::interval", [interval]) });
    await seen("61 s");
    await watch();
    assert.equal((await read())["state"], "running");
    await seen("50 s");
    await watch();
    assert.equal((await read())["state"], "aborted");
  });

  it("end everywhere where one gateway has taken the candidate back, in shadow or not", async () => {
    await start({ mode: "enforce", percentage: 1, guard: { min_requests: 1000 } });
    await report({ taken_back: { cause: "errors", detail: "failed evaluations" }, revision: 9 });
    await watch();
    const { state, cause, detail } = await read();
    assert.deepEqual([state, cause, detail], ["aborted", "errors", "gateway one: failed evaluations"]);
    const late = await report({});
    assert.deepEqual([late.status, late.body.data.running], [200, false]);
  });

  it("take reports from gateways alone, within bounds, and forget those of old rollouts", async () => {
    await start();
    for (const as of [
      { ...GATEWAY_KEY, scope: "read_only" },
      { ...GATEWAY_KEY, customerId: "cus_1" },
    ] as const)
      assert.equal((await report({}, as)).status, 403);
    for (const wrong of [
      { gateway: "a b" },
      { gateway: "" },
      { revision: 0 },
      { samples: { stable: { ...NOTHING, decisions: -1 }, candidate: NOTHING } },
      { samples: { stable: { ...NOTHING, durations: Array<number>(300).fill(1) }, candidate: NOTHING } },
      { taken_back: { cause: "operator", detail: "" } },
    ])
      assert.equal((await report(wrong as Partial<RolloutReport>)).status, 422, JSON.stringify(wrong));
    const { body } = await report({ rollout: "rol_none" });
    assert.equal(body.data.running, false);
    await report();
    await call("POST", "/abort");
    const { db } = control.database;
    const { id } = await read();
    const kept = async () => (await db("policy_rollout_reports").where({ rollout: id })).length;
    await pruneReports(db);
    assert.equal(await kept(), 1);
    await db("policy_rollouts")
      .whereNotNull("ended_at")
      .update({ ended_at: db.raw("now() - interval '8 days'") });
    await pruneReports(db);
    assert.equal(await kept(), 0);
  });
});

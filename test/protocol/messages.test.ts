import assert from "node:assert/strict";
import type * as z from "zod";
import { membersNamed, membersOf, withMore } from "./support/members.ts";
import { auditRecord, outcomeRecord } from "../audit/support/records.ts";
import { FeedInstance } from "../control/support/feed-instance.ts";
import { setOf } from "../control/support/policy-files.ts";
import { fleetRoutes } from "../../src/control/resources/gateways/routes.ts";
import { rolloutRoutes } from "../../src/control/resources/policy-sets/rollout-routes.ts";
import { recordsRoutes } from "../../src/control/analytics/records/routes.ts";
import { ControlPlaneClient } from "../../src/sync/index.ts";
import {
  errorEnvelope,
  GATEWAY_ROUTES,
  pathTo,
  policySetData,
  recordsAnswer,
  recordsBody,
  recordsData,
  registrationBody,
  registrationTaken,
  rolloutReportBody,
  rolloutReportTaken,
  stateAnswer,
  stateData,
  statisticsBody,
  statisticsAnswer,
  successEnvelope,
  callerData,
  userData,
  type RecordMember,
  type Registration,
  type RolloutReport,
  type StatisticsReport,
} from "../../src/protocol/index.ts";
import { FULL_KEY, startControl, type RunningControl } from "../support/control.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { hashSecret } from "../../src/control/platform/secret-box.ts";
import { revokeApiKey } from "../../src/control/resources/api-keys/store.ts";
import { rollApiKey } from "../../src/control/resources/api-keys/roll.ts";
import type { UnitOfWork } from "../../src/control/platform/unit.ts";
import { makeKey, OPERATOR } from "../support/guarded-control.ts";

// What the control plane writes is readable: where it is not, this does not compile.
type Readable<Written extends z.ZodType, Read extends z.ZodType> =
  z.output<Written> extends z.input<Read> ? true : never;
const READABLE: readonly [
  Readable<typeof stateData, typeof stateAnswer>,
  Readable<typeof recordsData, typeof recordsAnswer>,
] = [true, true];

describe("the protocol of gateway and control plane", () => {
  /** By route: what was served, and by which schema the gateway reads it. */
  const served: Record<keyof typeof GATEWAY_ROUTES, { reads: z.ZodType; data: unknown[] }> = {
    state: { reads: stateAnswer, data: [] },
    policySet: { reads: policySetData, data: [] },
    user: { reads: userData, data: [] },
    caller: { reads: callerData, data: [] },
    records: { reads: recordsAnswer, data: [] },
    statistics: { reads: statisticsAnswer, data: [] },
    registration: { reads: registrationTaken, data: [] },
    policySetVersion: { reads: policySetData, data: [] },
    rolloutReports: { reads: rolloutReportTaken, data: [] },
  };
  const bodies = {
    ...{ records: [] as unknown[], statistics: [] as unknown[] },
    ...{ registration: [] as unknown[], rolloutReports: [] as unknown[] },
  };
  let database: TestDatabase;
  let feed: FeedInstance;
  let intake: RunningControl;

  before(async () => {
    assert.deepEqual(READABLE, [true, true]);
    database = await testDatabase();
    // a page of one change, so that there is one that others follow
    feed = await FeedInstance.start(database, Date.now, undefined, { pageChanges: 1 });
    intake = await startControl({
      database,
      routes: (context) => [...recordsRoutes(context), ...fleetRoutes(context), ...rolloutRoutes(context)],
    });
    await serveEverything();
  });
  after(async () => {
    await intake.close();
    await feed.close();
    await database.close();
  });

  /** Has each message made with each of its members. */
  async function serveEverything(): Promise<void> {
    const read = async (route: keyof typeof GATEWAY_ROUTES, path: string) => {
      const answer = await feed.control.request("GET", path);
      assert.equal(answer.status, 200, answer.text);
      const envelope = successEnvelope.parse(answer.body);
      served[route].data.push(envelope.data);
      return envelope.data;
    };
    const { cursor } = stateAnswer.parse(await read("state", GATEWAY_ROUTES.state));
    const { id: customer } = await feed.post("/customers", { name: "Acme" });
    const policy = await feed.post("/policies", {
      name: "strict",
      type: "authentication",
      conditions: {
        mfa_required: true,
        max_session_duration: 600,
        allowed_email_domains: ["acme.example"],
        allowed_ip_ranges: ["192.0.2.0/24"],
      },
    });
    await feed.post(`/customers/${String(customer)}/policies`, { policy_ids: [policy["id"]] });
    await feed.post(`/customers/${String(customer)}/idp`, {
      ...{ type: "okta", domain: "acme.okta.example", client_id: "app", client_secret: "a secret" },
      ...{ mfa_acr_values: ["phr"], verify: false },
    });
    const { id: user } = await feed.post(`/customers/${String(customer)}/users`, {
      subject: "ann",
      attributes: { department: "sales" },
    });
    await feed.put(`/users/${String(user)}`, { status: "suspended" });
    await feed.post("/policy-sets", { name: "main", files: setOf("v1") });
    const { id: gone } = await feed.post("/customers", { name: "Gone" });
    await feed.control.request("DELETE", `/customers/${String(gone)}`);
    await feed.append({
      ...{ type: "session_ended", session_id: "ses_1" },
      until: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await feed.post("/policy-sets", { name: "main", files: setOf("v2"), activate: false });
    const { id: rollout } = await feed.post("/policy-sets/main/rollout", { version: "v2" });
    await read("state", GATEWAY_ROUTES.state);
    await read("state", `${GATEWAY_ROUTES.state}?after=${cursor}`);
    await read("policySet", GATEWAY_ROUTES.policySet.replace("{name}", "main"));
    await read("policySetVersion", pathTo(GATEWAY_ROUTES.policySetVersion, "main", "v2"));
    await read("user", GATEWAY_ROUTES.user.replace("{key}", String(user)));
    const caller = await makeKey(feed.control, {
      scope: "caller",
      customerId: String(customer),
      permissions: ["orders:read"],
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    const hash = hashSecret(caller.secret);
    await read("caller", GATEWAY_ROUTES.caller.replace("{hash}", hash));

    // what the gateway sends goes through its own client, and what is answered through the real routes
    const key = Buffer.from(JSON.stringify({ ...FULL_KEY, scope: "gateway" })).toString("base64url");
    const client = new ControlPlaneClient({ url: intake.url, apiKey: key });
    const timestamp = new Date().toISOString();
    const records = [auditRecord({ timestamp }), outcomeRecord({ timestamp }), { none: true }];
    bodies.records.push({ records });
    served.records.data.push(
      await client.records(
        records.map((record) => `${JSON.stringify(record)}\n`),
        10_000,
      ),
    );
    const report: StatisticsReport = {
      ...{ instance: "worker-0", sequence: 1, from: timestamp, to: timestamp },
      caches: [{ name: "tokens", hits: 1, misses: 2, evictions: 3 }],
      audit: { decided: 3, recorded: 2, dropped: 1 },
    };
    bodies.statistics.push(report);
    await client.statistics(report);
    const again = await intake.request("POST", GATEWAY_ROUTES.statistics, { body: report });
    assert.deepEqual(again.body.data, { accepted: false, reason: "DUPLICATE" });
    served.statistics.data.push(again.body.data);
    const digest = "0".repeat(64);
    const registration: Registration = {
      ...{ id: "gateway-1:8080", kind: "gateway", address: "http://127.0.0.1:8080", version: "1.0.0" },
      policies: { source: "directory", set: "main", version: "v1", digest },
      rollout: { digest, mode: "enforce", percentage: 10, decisions: { stable: 9, candidate: 1 } },
      workers: { expected: 2, ready: 1 },
      ...{ started_at: timestamp, sent_at: timestamp, interval_ms: 5_000, leaving: false },
    };
    bodies.registration.push(registration);
    served.registration.data.push(await client.register(registration));
    const heavy = { caller: "dvujA1YI6kIHj77Y", decisions: 2, denials: 1, errors: 0, slow: 0 };
    const arm = { decisions: 3, denials: 1, errors: 0, durations: [0, 3], heaviest: [heavy] };
    const arms = { stable: arm, candidate: arm };
    const rules = [{ difference: "denies" as const, rule: "policies[0]", count: 1 }];
    const seen: RolloutReport = {
      ...{ gateway: "gateway-1:8080", rollout: String(rollout), revision: 1, samples: arms, totals: arms },
      shadow: { same: 1, different: 1, failed: 0, dropped: 0, rules },
      taken_back: { cause: "denials", detail: "more denials" },
    };
    bodies.rolloutReports.push(seen);
    served.rolloutReports.data.push(await client.rolloutReport(seen));
    client.close();
  }

  it("finds only active keys of callers, and announces their end like that of a session", async () => {
    const { control } = feed;
    const statusOf = async (secret: string) =>
      (await control.request("GET", GATEWAY_ROUTES.caller.replace("{hash}", hashSecret(secret)))).status;
    const customerId = await feed.makeCustomer();
    const caller = { scope: "caller", customerId } as const;
    const [kept, revoked] = [await makeKey(control, caller), await makeKey(control, caller)];
    assert.equal(await statusOf(kept.secret), 200);
    for (const scope of ["read_only", "gateway", "full_access"] as const)
      assert.equal(await statusOf((await makeKey(control, { scope })).secret), 404);
    assert.equal(await statusOf("gh_live_nobody"), 404);
    await assert.rejects(makeKey(control, { scope: "caller" }));
    await assert.rejects(makeKey(control, { scope: "read_only", permissions: ["a"] }));

    const state = async (after = "") =>
      stateAnswer.parse(
        successEnvelope.parse((await control.request("GET", `${GATEWAY_ROUTES.state}${after}`)).body).data,
      );
    const endedSince = async (cursor: string) => {
      const ended: string[] = [];
      let page = await state(`?after=${cursor}`);
      for (; ; page = await state(`?after=${page.cursor}`)) {
        ended.push(...page.sessions_ended.map(({ session_id }) => session_id));
        if (page.more !== true) return ended;
      }
    };
    const { cursor } = await state();
    const unit = <T>(work: (unit: UnitOfWork) => Promise<T>) => control.context.units(OPERATOR, work);
    await unit((one) => revokeApiKey(one, revoked.row.id));
    assert.deepEqual(await endedSince(cursor), [revoked.row.id]);
    assert.equal(await statusOf(revoked.secret), 404);
    const rolled = await unit((one) =>
      rollApiKey(one, { environment: "production", id: kept.row.id, overlap: 0 }),
    );
    assert.deepEqual(await endedSince(cursor), [revoked.row.id, kept.row.id]);
    assert.equal(await statusOf(kept.secret), 404);
    assert.equal(await statusOf(rolled.secret), 200);
    await control.request("DELETE", `/customers/${customerId}`);
    assert.equal(await statusOf(rolled.secret), 404);
  });

  for (const route of Object.keys(GATEWAY_ROUTES) as (keyof typeof GATEWAY_ROUTES)[]) {
    it(`serves what gateways read, every member of it: ${GATEWAY_ROUTES[route]}`, () => {
      const { reads, data } = served[route];
      for (const message of data) assert.deepEqual(reads.parse(message), message);
      const seen = new Set(data.flatMap((message) => membersOf(message)));
      for (const member of membersNamed(reads)) assert.ok(seen.has(member), `${member} was never served`);
    });
  }

  it("takes what gateways send, every member of it", () => {
    for (const [schema, messages] of [
      [recordsBody, bodies.records],
      [statisticsBody, bodies.statistics],
      [registrationBody, bodies.registration],
      [rolloutReportBody, bodies.rolloutReports],
    ] as const) {
      for (const message of messages) assert.deepEqual(schema.parse(message), message);
      const sent = new Set(messages.flatMap((message) => membersOf(message)));
      for (const member of membersNamed(schema)) assert.ok(sent.has(member), `${member} was never sent`);
    }
  });

  it("has an error that gateways read, and can tell apart", async () => {
    const answer = await feed.control.request("GET", GATEWAY_ROUTES.policySet.replace("{name}", "none"));
    assert.equal(answer.status, 404);
    assert.equal(errorEnvelope.parse(answer.body).error.code, "POLICY_SET_NOT_FOUND");
  });

  describe("between releases", () => {
    const whole = () => served.state.data.find((message) => stateAnswer.parse(message).complete) as object;

    it("passes over members of an answer that are newer than the gateway", () => {
      const newer = { ...whole(), newer: 1 };
      assert.deepEqual(stateAnswer.parse(newer), whole());
      assert.deepEqual(recordsAnswer.parse({ accepted: 0, duplicates: 0, rejected: [], newer: 1 }), {
        ...{ accepted: 0, duplicates: 0, rejected: [] },
      });
    });

    it("takes an answer without the members that earlier control planes do not have", () => {
      const { customers_deleted: deleted, ...earlier } = whole() as Record<string, unknown>;
      assert.ok(Array.isArray(deleted));
      assert.equal(stateAnswer.parse(earlier).customers_deleted, undefined);
      assert.equal(stateData.safeParse(earlier).success, false);
      const rejected = [{ index: 0, message: "no record" }];
      assert.deepEqual(recordsAnswer.parse({ accepted: 0, duplicates: 0, rejected }).rejected, rejected);
      assert.equal(recordsData.safeParse({ accepted: 0, duplicates: 0, rejected }).success, false);
    });

    it("takes codes of rejection, and spellings of a time, that it does not write itself", () => {
      const rejected = [{ index: 0, code: "NEWER", message: "no record" }];
      assert.ok(recordsAnswer.safeParse({ accepted: 0, duplicates: 0, rejected }).success);
      const sessions_ended = [{ session_id: "s", until: "2100-01-01T00:00:00+01:00" }];
      assert.ok(stateAnswer.safeParse({ ...whole(), sessions_ended }).success);
    });

    it("takes no answer with a value that it does not know", () => {
      const users = [{ id: "u", customer_id: "c", status: "locked" }];
      assert.equal(stateAnswer.safeParse({ ...whole(), users }).success, false);
      assert.equal(stateAnswer.safeParse({ ...whole(), cursor: "" }).success, false);
    });

    it("takes what gateways send, wherever a later release says more", () => {
      for (const [schema, messages] of [
        [statisticsBody, bodies.statistics],
        [registrationBody, bodies.registration],
        [rolloutReportBody, bodies.rolloutReports],
      ] as const)
        for (const message of messages) assert.deepEqual(schema.parse(withMore(message)), message);
    });

    it("takes no batch of records with something else in it, which would be lost", () => {
      assert.equal(recordsBody.safeParse({ records: [], newer: 1 }).success, false);
    });
  });

  it("stores of a record every member that a gateway writes, under its own name", async () => {
    // a value for each, so that a member that is new does not compile without one
    const decision: Record<keyof ReturnType<typeof auditRecord>, unknown> = {
      ...auditRecord({ timestamp: new Date().toISOString(), decision_id: "dec_all" }),
      ...{ rule_name: "name", rule_resource: "GET /a", customer_id: "cus_1", customer_policy_set: "own@v1" },
      ...{ trace_id: "0".repeat(32), detail: "detail", unknown: ["user.role: missing"] },
      ...{ accepted_ambiguities: ["letter_case"], trace: { steps: [] }, rollout_arm: "candidate" },
      ...{ inputs: { before_rules: true } },
    };
    const outcome: Record<keyof ReturnType<typeof outcomeRecord>, unknown> = {
      ...outcomeRecord({ timestamp: new Date().toISOString(), decision_id: "dec_all", event: "connection" }),
      ...{ request_id: "req-1", reason: "too_large", documents_dropped: 1, response_flags: "UF" },
      ...{ upstream: "app", upstream_status: 200, upstream_ms: 1, sent_delivered: 1, sent_dropped: 1 },
      ...{
        received_delivered: 1,
        received_dropped: 1,
        close_code: 1000,
        close_reason: "bye",
        closed_by: "peer",
      },
      denied_messages: [{ direction: "send", type: "t", rule: "r", policy_digest: "2".repeat(64), count: 1 }],
      policy_digests: ["2".repeat(64)],
    };
    const answer = await intake.request("POST", GATEWAY_ROUTES.records, {
      body: { records: [decision, outcome] },
      as: { ...FULL_KEY, scope: "gateway" },
    });
    assert.deepEqual(answer.body.data, { accepted: 2, duplicates: 0, rejected: [] }, answer.text);
    const rows: Record<string, unknown>[] = await database.db("audit_records").where({ id: "dec_all" });
    for (const [kind, record] of [
      ["decision", decision],
      ["connection", outcome],
    ] as const) {
      const row = rows.find((one) => one["kind"] === kind);
      const { inputs = "null" } =
        kind === "decision" ? ((await database.db("record_inputs").first()) as { inputs: string }) : {};
      const parsed = { inputs: JSON.parse(inputs) as unknown };
      const stored = {
        ...row,
        ...(row?.["record"] as object),
        ...parsed,
        event: kind,
        decision_id: row?.["id"],
      };
      for (const [name, value] of Object.entries(record) as [RecordMember, unknown][])
        if (name !== "timestamp") assert.deepEqual(stored[name as keyof typeof stored], value, name);
    }
  });
});

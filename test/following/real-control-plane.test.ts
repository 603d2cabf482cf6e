import assert from "node:assert/strict";
import { auditRecord, outcomeRecord } from "../audit/support/records.ts";
import { PolicyStore } from "../../src/decision/policy-store.ts";
import { UserSource } from "../../src/decision/user-source.ts";
import {
  ControlPlaneClient,
  controlPlaneSource,
  StateFeed,
  StatisticsReporter,
} from "../../src/following/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { ruleOf, silentLog } from "../decision/support.ts";
import { FULL_KEY, startControl, type RunningControl } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";

/** The gateway's side against the API itself: what the contract says is what both do. */
describe("following: the real control plane", () => {
  let control: RunningControl;
  let client: ControlPlaneClient;
  let feed: StateFeed;
  let metrics: Metrics;

  before(async () => {
    control = await startControl();
    const key = { ...FULL_KEY, scope: "gateway" };
    const apiKey = Buffer.from(JSON.stringify(key)).toString("base64url");
    client = new ControlPlaneClient({ url: control.url, apiKey });
    metrics = createMetrics();
    feed = new StateFeed({ maxStaleMs: 60_000 }, { client, metrics, log: silentLog });
    await feed.start();
    assert.ok(feed.current);
  });
  after(async () => {
    feed.close();
    client.close();
    await control.close();
  });

  const sent = async (method: string, path: string, body?: object) => {
    const answer = await control.request(method, path, body === undefined ? {} : { body });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    // eslint-disable-next-line @typescript-eslint/no-unsafe-member-access -- read by the test
    return answer.body.data as Record<string, unknown>;
  };
  const newCustomer = async () => String((await sent("POST", "/customers", { name: "Acme" }))["id"]);

  it("tells of a customer that is suspended, and of its policies", async () => {
    const id = await newCustomer();
    await sent("PUT", `/customers/${id}`, { status: "suspended" });
    await eventually("it is suspended here", () => feed.current?.customer(id)?.status === "suspended");
    await sent("PUT", `/customers/${id}`, { status: "active" });
    await eventually("it is ordinary here", () => feed.current?.customer(id) === undefined);
    const policy = await sent("POST", "/policies", {
      name: "with two factors",
      type: "authentication",
      conditions: { mfa_required: true, max_session_duration: 600 },
    });
    await sent("POST", `/customers/${id}/policies`, { policy_ids: [policy["id"]] });
    const { authentication } = await eventually("its policies are here", () => feed.current?.customer(id));
    assert.equal(authentication.mfa_required, true);
    assert.equal(authentication.max_session_duration, 600);
  });

  it("gives the active version of a policy set, and tells of the next", async () => {
    const publish = (version: string) =>
      sent("POST", "/policy-sets", {
        name: "main",
        files: [{ name: "main.yaml", text: ruleOf("true", `version: ${version}`) }],
      });
    await publish("v1");
    const store = new PolicyStore(
      {
        source: controlPlaneSource(client, feed),
        policySet: "main",
        refreshIntervalMs: 3_600_000,
        caseSensitive: false,
      },
      { metrics, log: silentLog },
    );
    await store.start();
    assert.equal(store.current?.label, "main@v1");
    await publish("v2");
    await eventually("the next version is in force", () => store.current?.label === "main@v2");
    store.close();
    assert.equal(await client.policySet("other"), undefined);
  });

  it("looks up users, and tells when they change", async () => {
    const id = await newCustomer();
    const user = await sent("POST", `/customers/${id}/users`, {
      subject: "ann",
      attributes: { department: "sales" },
    });
    const userId = String(user["id"]);
    const source = new UserSource({}, { fetchUser: (key) => client.user(key), metrics, log: silentLog });
    feed.onChange(({ users }) => {
      source.invalidate(users);
    });
    const found = await source.lookup(userId);
    assert.deepEqual([found?.["department"], found?.["status"]], ["sales", "active"]);
    await sent("PUT", `/users/${userId}`, { attributes: { department: "legal" }, status: "suspended" });
    await eventually("they are suspended here", () => feed.current?.userStatus(userId) === "suspended");
    assert.equal((await source.lookup(userId))?.["department"], "legal");
    assert.equal(await source.lookup("usr_00000000000000000000000000"), undefined);
  });

  it("takes records, each once", async () => {
    const lines = [
      auditRecord({ timestamp: new Date().toISOString(), decision_id: "dec_1" }),
      outcomeRecord({ timestamp: new Date().toISOString(), decision_id: "dec_1" }),
      { decision_id: "dec_2" },
    ].map((record) => `${JSON.stringify(record)}\n`);
    const first = await client.records(lines, 10_000);
    assert.deepEqual([first.accepted, first.duplicates, first.rejected.length], [2, 0, 1]);
    assert.equal(first.rejected[0]?.index, 2);
    const second = await client.records(lines, 10_000);
    assert.deepEqual([second.accepted, second.duplicates, second.rejected.length], [0, 2, 1]);
  });

  it("takes statistics", async () => {
    let failed: object | undefined;
    const log = { warn: (fields: object) => (failed = fields) };
    const reporter = new StatisticsReporter("worker-0", { client, metrics, log });
    metrics.cacheHits.inc({ cache: "tokens" }, 3);
    await reporter.report();
    metrics.cacheHits.inc({ cache: "tokens" }, 4);
    await reporter.report();
    assert.equal(failed, undefined);
  });
});

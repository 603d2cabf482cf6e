import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { auditRecord, outcomeRecord } from "../audit/support/records.ts";
import { oauthRouter } from "../../src/control/sign-in/oauth/router.ts";
import { pruneDeleted } from "../../src/control/resources/erasure/prune-deleted.ts";
import { checkSession } from "../../src/decision/decide/check-session.ts";
import { PolicyStore } from "../../src/decision/policies/policy-store.ts";
import { UserSource } from "../../src/decision/attributes/user-source.ts";
import {
  apiKeyInFile,
  ControlPlaneClient,
  controlPlaneSource,
  StateFeed,
  StatisticsReporter,
} from "../../src/sync/index.ts";
import type { Identity } from "../../src/identity/types.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { eraseAll } from "../control/support/erase-all.ts";
import { ruleOf, silentLog } from "../decision/support.ts";
import { rollApiKey } from "../../src/control/resources/api-keys/roll.ts";
import { createAuthenticator } from "../../src/control/authenticator.ts";
import { FULL_KEY, OWNER, startControl, type RunningControl } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { makeKey, OPERATOR } from "../support/guarded-control.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** The gateway's side against the API itself: what the contract says is what both do. */
describe("following: the real control plane", () => {
  let control: RunningControl;
  let client: ControlPlaneClient;
  let feed: StateFeed;
  let metrics: Metrics;

  before(async () => {
    control = await startControl({ beside: (context, parts) => [oauthRouter(context, parts)] });
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
    assert.equal(authentication.mfa_acr_values, undefined);
    await sent("POST", `/customers/${id}/idp`, {
      type: "okta",
      domain: "acme.okta.example",
      client_id: "app",
      client_secret: "a secret",
      mfa_acr_values: ["phr"],
      verify: false,
    });
    const counting = () => feed.current?.customer(id)?.authentication.mfa_acr_values;
    assert.deepEqual(await eventually("what counts is here", counting), ["phr"]);
  });

  it("tells of a machine client that is deleted: its tokens are those of a session that has ended", async () => {
    const made = await control.request("POST", "/clients", { as: OWNER, body: { name: "reports" } });
    const { id, client_secret } = (made.body as { data: { id: string; client_secret: string } }).data;
    const answer = await fetch(`${control.url}/oauth2/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "client_credentials", client_id: id, client_secret }),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const sid = String(decodeJwt(token)["sid"]);
    assert.equal(feed.current?.sessionEnded(sid), false);
    await control.request("DELETE", `/clients/${id}`, { as: OWNER });
    await eventually("its tokens are refused here", () => feed.current?.sessionEnded(sid) === true);
  });

  it("refuses tokens of any issuer that name a customer whose rows were removed long ago", async () => {
    const id = await newCustomer();
    await sent("DELETE", `/customers/${id}`);
    await eraseAll(control.context);
    const later = () => Date.now() + 400 * 86_400_000;
    await pruneDeleted({ ...control.context, clock: later });
    assert.equal(await control.database.db("customers").where({ id }).first(), undefined);
    // one that begins to follow then
    const fresh = new StateFeed({ maxStaleMs: 60_000 }, { client, metrics, log: silentLog });
    await fresh.start();
    try {
      const admitted = (customer: string) => {
        // as another issuer's token says it: it names no session of ours
        const identity: Identity = {
          ...{ userId: "somebody", user: { id: "somebody" }, customer: { id: customer } },
          ...{ session: { amr: [] }, expiresAt: 0 },
        };
        const admission = { state: fresh.current, clientIp: "192.0.2.7", now: later() };
        return checkSession({ identity }, admission).failure?.reason;
      };
      assert.equal(admitted(id), "CUSTOMER_SUSPENDED");
      assert.equal(admitted(await newCustomer()), undefined);
    } finally {
      fresh.close();
    }
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
    const log = { ...silentLog, warn: (fields: object) => (failed = fields) };
    const reporter = new StatisticsReporter("worker-0", { client, metrics, log });
    metrics.cacheHits.inc({ cache: "tokens" }, 3);
    await reporter.report();
    metrics.cacheHits.inc({ cache: "tokens" }, 4);
    await reporter.report();
    assert.equal(failed, undefined);
  });
});

describe("following: a gateway's key that is rolled", () => {
  it("is replaced in its file at any moment of the overlap, and nothing is interrupted", async () => {
    let skip = 0;
    const control = await startControl({
      clock: () => Date.now() + skip,
      authenticator: createAuthenticator,
    });
    const folder = await temporaryDirectory();
    const path = join(folder, "gateway.key");
    const metrics = createMetrics();
    try {
      const old = await makeKey(control, { scope: "gateway" });
      await writeFile(path, old.secret);
      const apiKey = apiKeyInFile(path, silentLog);
      const client = new ControlPlaneClient({ url: control.url, apiKey });
      const feed = new StateFeed({ maxStaleMs: 60_000 }, { client, metrics, log: silentLog });
      try {
        await feed.start();
        const { environment } = control.context.settings;
        const { secret } = await control.context.units(OPERATOR, (unit) =>
          rollApiKey(unit, { environment, id: old.row.id, overlap: 3_600 }),
        );
        assert.ok((await client.state(undefined, 0)).complete);
        await writeFile(path, `${secret}\n`);
        await eventually("the new key", () => apiKey.current === secret);
        skip = 3_600_000;
        assert.ok((await client.state(undefined, 0)).complete);
        // a gateway that still shows the old one is told so, and reads its file
        const late = new ControlPlaneClient({ url: control.url, apiKey: old.secret });
        await assert.rejects(late.state(undefined, 0), { code: "API_KEY_ROLLED", status: 401 });
        late.close();
        assert.ok(feed.current);
        const [refused] = (await metrics.feedKeyRefused.get()).values;
        assert.equal(refused?.value ?? 0, 0);
      } finally {
        feed.close();
        client.close();
        apiKey.close();
      }
    } finally {
      await control.close();
      await rm(folder, { recursive: true });
    }
  });
});

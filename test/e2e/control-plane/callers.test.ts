import assert from "node:assert/strict";
import { allWorkersAnswer } from "../../support/all-workers.ts";
import {
  apiClient,
  PRODUCTION_ONLY,
  signInOwner,
  startControlPlaneProcess,
  type ControlPlaneProcess,
} from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `
policies:
  - resource: "GET /customers/{customer_id}/invoices"
    condition: >-
      user.type == "api_key" and customer.id == path.customer_id and user.permissions.includes("invoices:read")
  - resource: "POST /customers/{customer_id}/invoices"
    condition: customer.id == path.customer_id and user.permissions.includes("invoices:write")
  - { resource: GET /me, condition: exists(user.id) }
`;

/** Less than a key that was looked up is believed for: what is seen by then was told to the gateway. */
const PUSHED_MS = 20_000;

interface NewKey {
  readonly id: string;
  readonly key: string;
}

describe("end to end: API keys of callers, with a control plane and a gateway", function () {
  this.timeout(240_000);
  let plane: ControlPlaneProcess;
  let upstream: RecordingUpstream;
  let gateway: RunningGateway;
  let asOwner: (method: string, path: string, body?: object) => Promise<NewKey>;
  let acme: string;
  let other: string;

  before(async () => {
    [plane, upstream] = await Promise.all([
      startControlPlaneProcess({ config: { api: PRODUCTION_ONLY } }),
      startRecordingUpstream(),
    ]);
    const url = plane.url.production;
    const { cookie, csrf_token: csrf } = await signInOwner(plane, "production");
    asOwner = async (method, path, body) => {
      const answer = await fetch(`${url}/v1${path}`, {
        method,
        headers: { cookie, "x-csrf-token": csrf, "content-type": "application/json" },
        body: JSON.stringify(body ?? {}),
      });
      const text = await answer.text();
      assert.ok(answer.ok, `${method} ${path}: ${text}`);
      return (JSON.parse(text) as { data: NewKey }).data;
    };
    acme = (await asOwner("POST", "/customers", { name: "Acme" })).id;
    other = (await asOwner("POST", "/customers", { name: "Other" })).id;
    gateway = await startGateway({
      backend: upstream.url,
      issuer: { url, audience: "gatehouse" },
      policies: { "default.yaml": POLICIES },
      nodes: 2,
      config: {
        control_plane: { url, api_key: await plane.createKey("production", "gateway") },
        identity: { issuer: url, audience: "gatehouse", api_keys: "accept" },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
    assert.equal(await plane.stop(), 0, plane.stderr());
  });

  const callerOf = (customer: string, ...permissions: readonly string[]) =>
    asOwner("POST", "/api-keys", { name: "job", scope: "caller", customer_id: customer, permissions });
  /** A look-up that takes two seconds, as it may on a busy machine, is answered 503, which says to come again. */
  const ask = (key: string, path: string, method = "GET") =>
    eventually("an answer that is not 503", async () => {
      const answer = await fetch(`${gateway.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
      });
      const reason = /"reason":"(\w+)"/.exec(await answer.text())?.[1];
      return answer.status !== 503 && `${answer.status}${reason === undefined ? "" : ` ${reason}`}`;
    });
  const invoicesOf = (customer: string) => `/customers/${customer}/invoices`;

  it("a key reads as its customer, with its permissions, and as nobody else", async () => {
    const ours = await callerOf(acme, "invoices:read");
    const theirs = await callerOf(other, "invoices:read", "invoices:write");
    assert.equal(await ask(ours.key, invoicesOf(acme)), "200");
    const {
      "x-user-id": user,
      "x-customer-id": customer,
      authorization,
    } = upstream.seen.at(-1)?.headers ?? {};
    assert.deepEqual([user, customer, authorization], [ours.id, acme, undefined]);
    assert.equal(await ask(ours.key, invoicesOf(acme), "POST"), "403 CONDITION_FALSE");
    assert.equal(await ask(ours.key, invoicesOf(other)), "403 CONDITION_FALSE");

    assert.equal(await ask(theirs.key, invoicesOf(other), "POST"), "200");
    assert.equal(await ask(theirs.key, invoicesOf(acme)), "403 CONDITION_FALSE");
    assert.equal(await ask(theirs.key, invoicesOf(acme), "POST"), "403 CONDITION_FALSE");
  });

  it("a key that the command line made has no permissions", async () => {
    const args = ["--environment", "production", "--scope", "caller", "--customer", acme, "--name", "job"];
    const key = (await plane.cli("keys", "create", ...args)).trim();
    assert.equal(await ask(key, "/me"), "200");
    assert.equal(await ask(key, invoicesOf(acme)), "403 CONDITION_FALSE");
  });

  it("permits nothing at the control plane, and keys of other scopes identify nobody at the gateway", async () => {
    const { key } = await callerOf(acme, "invoices:read");
    for (const path of ["/customers", `/customers/${acme}`, "/audit/logs"])
      assert.equal((await apiClient(plane.url.production, key)("GET", path)).status, 403, path);
    for (const scope of ["full_access", "read_only", "gateway"] as const)
      assert.equal(await ask(await plane.createKey("production", scope), "/me"), "401 API_KEY_INVALID");
  });

  it("a revoked key is refused by every worker as soon as the gateway hears of it, and others are not", async () => {
    const [revoked, kept] = [await callerOf(acme, "invoices:read"), await callerOf(acme, "invoices:read")];
    const asRevoked = () => ask(revoked.key, invoicesOf(acme));
    await allWorkersAnswer("the key is known", "200", asRevoked);
    await asOwner("DELETE", `/api-keys/${revoked.id}`);
    await allWorkersAnswer("the refusal", "401 API_KEY_INVALID", asRevoked, PUSHED_MS);
    assert.equal(await ask(kept.key, invoicesOf(acme)), "200");

    const audit = await eventually("the records of both", async () => {
      const lines = await gateway.audit();
      const denied = lines.find(({ reason }) => reason === "API_KEY_INVALID");
      return denied && lines.some((line) => line["user_id"] === kept.id) && { denied, lines };
    });
    assert.equal(audit.denied["decision"], "DENY");
    const written = [JSON.stringify(audit.lines), gateway.stderr(), plane.stderr(), plane.stdout()];
    for (const text of written) for (const { key } of [revoked, kept]) assert.ok(!text.includes(key));
  });

  it("of a key that is rolled without an overlap, only the new one is good", async () => {
    const old = await callerOf(acme, "invoices:read");
    assert.equal(await ask(old.key, invoicesOf(acme)), "200");
    const rolled = await asOwner("POST", `/api-keys/${old.id}/roll`, { overlap: 0 });
    assert.equal(await ask(rolled.key, invoicesOf(acme)), "200");
    await allWorkersAnswer(
      "the refusal",
      "401 API_KEY_INVALID",
      () => ask(old.key, invoicesOf(acme)),
      PUSHED_MS,
    );
    assert.equal(await ask(rolled.key, invoicesOf(acme)), "200");
  });
});

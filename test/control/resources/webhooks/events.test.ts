import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { EVENT_TYPES, type EventType } from "../../../../src/control/platform/events.ts";
import { watchFleet } from "../../../../src/control/resources/gateways/watch.ts";
import { eventually } from "../../../support/eventually.ts";
import { startReceiver, type Received, type WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { USER_AGENT } from "../../../support/sign-in.ts";
import { setOf } from "../../support/policy-files.ts";
import { startSpecified, type Specified } from "../../support/specified.ts";

type Data = Readonly<Record<string, unknown>>;

describe("webhooks: registration and events, specification 2.6, 4.5 and 6", () => {
  let api: Specified;
  let receiver: WebhookReceiver;
  let secret: string;
  /** What each type's `data` must be, by what was done. */
  const expected = new Map<EventType, Data>();

  before(async () => {
    api = await startSpecified();
    receiver = await startReceiver();
    const webhook = await api.data("POST", "/webhooks", { url: receiver.url, events: [...EVENT_TYPES] });
    secret = webhook.secret;
    await doEverything();
    await eventually("what was done is told", () =>
      [...expected.keys()].every((type) => receiver.received.some(({ json }) => json.type === type)),
    );
  });
  after(async () => {
    await receiver.close();
    await api.close();
  });

  /** What emits events, once each. */
  async function doEverything(): Promise<void> {
    const customer = await api.customer();
    const named = { id: customer, name: "Acme", status: "active" };
    expected.set("customer.created", { customer: named });
    const signIn = async () => {
      const parameters = await api.arrive(customer);
      return api.data("POST", "/auth/token", { code: parameters.get("code") });
    };
    const first = await signIn();
    const user = { id: first.user.id, email: "alice@example.com", customer_id: customer };
    const sessionOf = ({ session }: { session: Data }) => ({
      id: session["id"],
      ip_address: "127.0.0.1",
      user_agent: USER_AGENT,
    });
    expected.set("user.authenticated", { user, session: sessionOf(first) });
    await api.data("DELETE", "/auth/logout", { session_id: first.session.id });
    expected.set("user.logged_out", { user, session: sessionOf(first), reason: "logout" });
    const second = await signIn();
    await api.data("DELETE", `/sessions/${second.session.id}`);
    expected.set("session.revoked", { user, session: sessionOf(second), reason: "revoked" });

    // somebody else: what waits to be told of who is deleted would lose their e-mail address
    const gone = await api.data("POST", `/customers/${customer}/users`, { subject: "gone" });
    await api.data("DELETE", `/users/${gone.id}`);
    expected.set("user.deleted", { user: { id: gone.id, customer_id: customer } });

    await api.arrive(customer, "nobody");
    expected.set("user.authentication_failed", { customer: { id: customer }, reason: "PROVIDER_REFUSED" });

    const policy = await api.data("POST", "/policies", {
      name: "MFA",
      type: "authentication",
      conditions: { mfa_required: true },
    });
    await api.data("POST", `/customers/${customer}/policies`, { policy_ids: [policy.id] });
    await api.arrive(customer);
    expected.set("policy.violated", { user, reason: "MFA_REQUIRED" });
    await api.data("PUT", `/policies/${policy.id}`, { description: "changed" });
    expected.set("policy.updated", { policy: { id: policy.id, name: "MFA", type: "authentication" } });
    const { version, digest } = await api.data("POST", "/policy-sets", { name: "set", files: setOf("v1") });
    expected.set("policy_set.published", { policy_set: { name: "set", version, digest } });
    await loseGateway(digest);
    await rollOut();

    await api.data("PUT", `/customers/${customer}`, { metadata: { plan: "gold" } });
    expected.set("customer.updated", { customer: named });
    await api.data("PUT", `/customers/${customer}`, { status: "suspended" });
    expected.set("customer.suspended", { customer: { ...named, status: "suspended" } });

    const { headers } = api.owner;
    const made = await api.data("POST", "/api-keys", { name: "k", scope: "read_only" }, headers);
    const api_key = { id: made.id, name: "k", scope: "read_only" };
    expected.set("api_key.created", { api_key });
    await api.data("DELETE", `/api-keys/${made.id}`, undefined, headers);
    expected.set("api_key.revoked", { api_key });
  }

  /** A gateway that has diverged, is well again, and is lost. */
  async function loseGateway(digest: string): Promise<void> {
    const { context, database } = api.control;
    const gateway = { id: "eu-1", address: "http://127.0.0.1:8080", version: "1.0.0" };
    /** As if the last announcement had been long ago. */
    const watch = async () => {
      const ago = database.db.raw("now() - interval '1 hour'");
      await database.db("gateways").update({ registered_at: ago, announced_at: ago });
      await watchFleet(context);
    };
    const enforces = async (its: string) => {
      const at = new Date().toISOString();
      await api.data("POST", "/gateway/registration", {
        ...{ ...gateway, kind: "gateway", rollout: null, workers: { expected: 1, ready: 1 } },
        policies: { source: "control_plane", set: "set", version: "v1", digest: its },
        ...{ started_at: at, sent_at: at, interval_ms: 5_000, leaving: false },
      });
      await watch();
    };
    const other = "0".repeat(64);
    await enforces(other);
    expected.set("gateway.diverged", { gateway: { ...gateway, policy_set: "set", digest: other } });
    const since = database.db.raw("now() - interval '2 minutes'");
    await database.db("gateways").update({ digest: null, digest_since: since });
    await database.db("policy_sets").update({ activated_at: since });
    await watch();
    expected.set("gateway.lagging", { gateway: { ...gateway, policy_set: "set", digest: "" } });
    await enforces(digest);
    expected.set("gateway.recovered", { gateway: { ...gateway, policy_set: "set", digest } });
    await database.db("gateways").update({ seen_at: database.db.raw("now() - interval '1 minute'") });
    await watch();
    expected.set("gateway.lost", { gateway: { ...gateway, policy_set: "set", digest } });
  }

  async function rollOut(): Promise<void> {
    const files = setOf("v2", "other");
    const { digest } = await api.data("POST", "/policy-sets", { name: "set", files, activate: false });
    const policy_set = { name: "set", version: "v2", digest };
    const path = "/policy-sets/set/rollout";
    const told = (type: "started" | "changed" | "promoted" | "aborted", rollout: object) => {
      expected.set(`policy_set.rollout_${type}`, { policy_set, rollout });
    };
    const first = await api.data("POST", path, { version: "v2" });
    told("started", { id: first.id, mode: "shadow", percentage: 0 });
    const enforce = { version: "v2", mode: "enforce", percentage: 10 };
    await api.data("POST", path, enforce);
    told("changed", { id: first.id, mode: "enforce", percentage: 10 });
    await api.data("POST", `${path}/abort`, { detail: "not yet" });
    const aborted = { cause: "operator", detail: "not yet" };
    told("aborted", { id: first.id, mode: "enforce", percentage: 10, ...aborted });
    const { id } = await api.data("POST", path, enforce);
    await api.data("POST", `${path}/promote`);
    told("promoted", { id, mode: "enforce", percentage: 10 });
  }

  const deliveriesOf = (type: EventType) => receiver.received.filter(({ json }) => json.type === type);

  it("2.6 webhook registration: url, events, secret", async () => {
    const sent = {
      url: "http://127.0.0.1:9/hook",
      events: ["user.authenticated", "policy.violated"],
      secret: "chosen-by-the-caller",
    };
    const answer = await api.call("POST", "/webhooks", sent);
    assert.equal(answer.status, 201, answer.text);
    const { url, events, secret } = answer.body.data;
    assert.deepEqual({ url, events, secret }, sent);
    const short = await api.call("POST", "/webhooks", { ...sent, secret: "s3cr3t!?" });
    assert.deepEqual([short.status, short.body.data.secret], [201, "s3cr3t!?"]);
    for (const bad of [{ url: "no url" }, { events: ["no.event"] }, { events: [] }, { secret: 7 }])
      assert.equal((await api.call("POST", "/webhooks", { ...sent, ...bad })).status, 422);
  });

  it("4.5 webhooks: POST /webhooks", async () => {
    const body = { url: "http://127.0.0.1:9/", events: ["policy.violated"], secret: "chosen-by-the-caller" };
    const { status, body: answered } = await api.call("POST", "/webhooks", body);
    assert.equal(status, 201);
    assert.equal((await api.data("GET", `/webhooks/${answered.data.id}`)).url, body.url);
  });

  for (const type of EVENT_TYPES)
    it(`6 ${type}: delivered, signed, with what happened`, () => {
      const found = deliveriesOf(type).map(({ json }) => json.data as Data);
      const wanted = expected.get(type);
      assert.ok(wanted !== undefined, "nothing in `doEverything` emits it");
      assert.ok(
        found.some((data) => includes(data, wanted)),
        JSON.stringify({ wanted, found }),
      );
      for (const delivery of deliveriesOf(type)) verify(delivery);
    });

  it("6 delivery payload: id, type, timestamp, data.user.*, data.session.*, and nothing else", () => {
    const [delivery] = deliveriesOf("user.authenticated");
    const { id, type, timestamp, data, ...rest } = delivery?.json;
    assert.match(id, /^evt_/);
    assert.equal(type, "user.authenticated");
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual([data, rest], [expected.get("user.authenticated"), {}]);
  });

  it("6 an event that was not asked for is not delivered", async () => {
    const other = await startReceiver();
    await api.data("POST", "/webhooks", { url: other.url, events: ["policy.updated"] });
    await api.data("POST", "/customers", { name: "Not told" });
    const policy = await api.data("POST", "/policies", {
      name: "told",
      type: "authentication",
      conditions: { mfa_required: true },
    });
    await api.data("PUT", `/policies/${policy.id}`, { name: "told later" });
    const received = await other.has(1);
    assert.ok(received.every(({ json }) => json.type === "policy.updated"));
    await other.close();
  });

  function verify({ body, headers }: Received): void {
    const given = Object.fromEntries(
      ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, String(headers[name])]),
    );
    new Webhook(secret).verify(body, given);
    assert.throws(() => new Webhook(secret).verify(`${body} `, given));
  }
});

/** Whether an object holds all members of another, to any depth. */
function includes(value: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null) return value === part;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(part).every(([name, member]) => includes((value as Data)[name], member));
}

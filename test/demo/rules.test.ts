import assert from "node:assert/strict";
import { compileSet } from "../../src/cli/policy-sets.ts";
import { decideOffline } from "../../src/decision/explain/offline.ts";
import { createSnapshot } from "../../src/decision/policies/snapshot.ts";
import { startDemoApplication, type DemoApplication } from "../../src/demo/application.ts";
import { personOfRole, type DemoRole } from "../../src/demo/people.ts";
import { evaluateEvent, evaluateGraphql } from "../../src/graphql/index.ts";
import {
  evaluate,
  type PlannedField,
  type PlannedMessage,
  type Value,
  type ValueObject,
} from "../../src/policy/index.ts";
import { DEMO_POLICIES } from "../support/demo-policies.ts";

const { ir } = await compileSet(DEMO_POLICIES, "default");
assert.ok(ir);
const snapshot = createSnapshot(ir, { caseSensitive: false });
const env = {};

interface Sent {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: object;
}

/** What is decided about a request of the person that a role stands for. */
async function decide(role: DemoRole, path: string, { method = "GET", headers = [], body }: Sent = {}) {
  const bytes = body && new TextEncoder().encode(JSON.stringify(body));
  const { decision } = await decideOffline(snapshot, {
    raw: {
      method,
      target: path,
      scheme: "http",
      host: "demo.test",
      protocol: "HTTP/1.1",
      headers: [...headers, ...(bytes ? [["content-type", "application/json"] as const] : [])],
      ...(bytes && { body: { bytes, complete: true } }),
    },
    user: { ...personOfRole(role) },
    lookup: () => undefined,
    now: Date.parse("2026-01-01T00:00:00Z"),
  });
  return decision;
}

const isObject = (value: Value): value is ValueObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What the fields of a plan leave of a document: slow, and plain to see. */
function masked(document: Value, fields: readonly PlannedField[], response: ValueObject = {}): Value {
  const visit = (value: Value, path: readonly string[]): Value => {
    if (Array.isArray(value)) return value.map((item: Value) => visit(item, path));
    if (!isObject(value)) return value;
    const members = Object.entries(value).flatMap(([key, member]) => {
      const here = [...path, key];
      const field = fields.find(
        ({ anchored, keys, when }) =>
          here.slice(-keys.length).join() === keys.join() &&
          (!anchored || here.length === keys.length) &&
          (when === undefined || evaluate(when, { item: value, response }) !== false),
      );
      return field?.action.kind === "remove"
        ? []
        : [[key, field ? hidden(member, field) : visit(member, here)]];
    });
    return Object.fromEntries(members) as ValueObject;
  };
  return visit(document, []);
}

function hidden(value: Value, { action }: PlannedField): Value {
  if (action.kind === "replace") return action.replacement;
  if (action.kind === "null") return null;
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return action.kind === "partial" && text.length > 4 ? `***${text.slice(-4)}` : "***";
}

describe("shipped rules for answers", () => {
  let application: DemoApplication;
  before(async () => {
    application = await startDemoApplication({ port: 0 });
  });
  after(async () => {
    await application.close();
  });

  async function seen(role: DemoRole, path: string) {
    const { verdict, plan } = await decide(role, path);
    assert.equal(verdict, "ALLOW");
    const answer = await fetch(application.url + path);
    return masked((await answer.json()) as Value, plan?.response?.fields ?? [], { status: answer.status });
  }

  const first = {
    id: "k-1",
    customer_id: "c-1",
    name: "Iris de Vries",
    email: "iris.de.vries@customers.example",
  };
  const second = { id: "k-2", customer_id: "c-1", name: "Tomas Blom", email: "tomas.blom@customers.example" };
  const contacts = "/api/customers/c-1/contacts";

  it("show administrators everything but card numbers, and phones of others' contacts", async () => {
    assert.deepEqual(await seen("admin", contacts), {
      contacts: [
        {
          ...first,
          phone: "ask the owner",
          ssn: "900-41-6789",
          card_number: "***",
          salary_cents: 7_250_000,
          internal_notes: "Pays late in December.",
          owner: "u-2",
        },
        {
          ...second,
          phone: "+31 10 555 0162",
          ssn: "900-52-1120",
          card_number: "***",
          salary_cents: 5_480_000,
          internal_notes: "Wants to leave for a competitor.",
          owner: "u-1",
        },
      ],
      total: 2,
    });
  });

  it("show managers the notes, and four digits", async () => {
    assert.deepEqual(await seen("manager", `${contacts}/k-1`), {
      ...first,
      phone: "+31 10 555 0147",
      ssn: "***6789",
      card_number: "***",
      internal_notes: "Pays late in December.",
      owner: "u-2",
    });
  });

  it("show viewers neither", async () => {
    assert.deepEqual(await seen("viewer", `${contacts}/k-2`), {
      ...second,
      phone: "ask the owner",
      ssn: "***1120",
      card_number: "***",
      owner: "u-1",
    });
  });

  it("let no error name anybody", async () => {
    for (const role of ["admin", "viewer"] as const)
      assert.deepEqual(await seen(role, `${contacts}/k-4`), {
        error: "the contact has moved to another customer",
      });
  });

  it("show tax ids to administrators and managers", async () => {
    const taxId = async (role: DemoRole) =>
      ((await seen(role, "/api/customers/c-1")) as ValueObject)["tax_id"];
    assert.equal(await taxId("manager"), "NL-8204-7731");
    assert.equal(await taxId("viewer"), "***7731");
  });

  it("leave everything else alone", async () => {
    for (const path of ["/dashboard", "/api/whoami", "/assets/style.css"])
      assert.equal((await decide("manager", path)).plan, undefined, path);
  });
});

describe("shipped rules for GraphQL", () => {
  const ask = async (role: DemoRole, query: string) => {
    const { verdict, graphqlErrors, plan } = await decide(role, "/graphql", {
      method: "POST",
      body: { query },
    });
    const denied = graphqlErrors?.map(({ path = [] }) => path.join(".")) ?? [];
    const nulls = plan?.response?.fields.map(({ keys }) => keys.join(".")) ?? [];
    return verdict === "ALLOW" ? ["allowed", ...nulls] : ["denied", ...denied];
  };

  for (const [role, query, verdict] of [
    ["viewer", "{ customers { name } }", ["allowed"]],
    ["viewer", "{ customers(status: suspended) { name } }", ["denied", "customers"]],
    ["admin", "{ customers(status: suspended) { name } }", ["allowed"]],
    ["viewer", '{ mine: customer(id: "c-1") { tax_id } }', ["allowed", "data.mine.tax_id"]],
    ["manager", '{ mine: customer(id: "c-1") { tax_id } }', ["allowed"]],
    ["manager", '{ customer(id: "c-3") { name } }', ["denied", "customer"]],
    [
      "viewer",
      '{ customers { name } harmless: orders(customer_id: "c-3") { item } }',
      ["denied", "harmless"],
    ],
    [
      "support",
      '{ orders(customer_id: "c-2") { item customer { orders { id } } } }',
      ["denied", "orders.customer.orders"],
    ],
    ["admin", "{ customers { orders { id } } }", ["allowed"]],
    [
      "manager",
      'mutation { placeOrder(customer_id: "c-2", item: "x", unit_price_cents: 1) { id } }',
      ["allowed"],
    ],
    [
      "manager",
      'mutation { placeOrder(customer_id: "c-3", item: "x", unit_price_cents: 1) { id } }',
      ["denied", "placeOrder"],
    ],
    ["manager", 'mutation { cancelOrder(id: "o-1001") { id } }', ["denied", "cancelOrder"]],
    ["admin", 'mutation { cancelOrder(id: "o-1001") { id } }', ["allowed"]],
    ["admin", "{ __schema { types { name } } }", ["denied", "__schema"]],
  ] as const) {
    it(`${role}: ${query}: ${verdict.join(" ")}`, async () => {
      assert.deepEqual(await ask(role, query), verdict);
    });
  }

  it("deliver those events of a subscription that are of one's own customers", async () => {
    const subscribe = async (role: DemoRole, fields: string) => {
      const { verdict, plan } = await decide(role, "/graphql", { headers: UPGRADE });
      const graphql = plan?.websocket?.graphql;
      assert.ok(verdict === "ALLOW" && graphql);
      const payload = { query: `subscription { orderUpdated { ${fields} } }`, variables: {} };
      const kinds = ["query", "mutation", "subscription"] as const;
      return evaluateGraphql(graphql, { payloads: [payload], batch: false, kinds, nullable: false }, { env });
    };
    const evaluated = await subscribe("support", "customer_id item");
    assert.ok(evaluated.kind === "allowed");
    const delivered = ["c-1", "c-2", "c-3", "c-4"].filter(
      (customer_id) =>
        evaluateEvent(evaluated.events, { data: { orderUpdated: { customer_id, item: "x" } } }, { env })
          .deliver,
    );
    assert.deepEqual(delivered, ["c-2", "c-3"]);
    assert.equal((await subscribe("support", "item")).kind, "denied"); // nothing to evaluate
    assert.equal((await subscribe("viewer", "customer_id")).kind, "denied");
  });
});

const UPGRADE = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
] as const;

describe("shipped rules for the order feed", () => {
  const connect = (role: DemoRole) => decide(role, "/ws/orders", { headers: UPGRADE });
  const permits = (rule: PlannedMessage | undefined, message: ValueObject) =>
    rule !== undefined &&
    rule.when !== false &&
    (rule.when === undefined || evaluate(rule.when, { message, env }) === true);

  it("let in who may read orders", async () => {
    assert.equal((await connect("support")).verdict, "ALLOW");
    assert.equal((await connect("viewer")).verdict, "DENY");
    assert.equal((await decide("admin", "/ws/other", { headers: UPGRADE })).verdict, "DENY");
  });

  it("deliver what one may say, and nothing else", async () => {
    const said = async (role: DemoRole, type: string, rest: ValueObject = {}) => {
      const { plan } = await connect(role);
      const rule = plan?.websocket?.send?.[type];
      return permits(rule, { type, ...rest }) ? "delivered" : (rule?.onDeny ?? "not listed");
    };
    assert.equal(await said("manager", "subscribe", { customer_id: "c-2" }), "delivered");
    assert.equal(await said("manager", "subscribe", { customer_id: "c-3" }), "drop");
    assert.equal(await said("manager", "subscribe"), "drop");
    assert.equal(await said("support", "ping"), "delivered");
    assert.equal(await said("support", "unsubscribe", { customer_id: "c-1" }), "delivered");
    assert.equal(await said("admin", "cancel_order", { order_id: "o-1001" }), "delivered");
    assert.equal(await said("manager", "cancel_order", { order_id: "o-1001" }), "close");
    assert.equal(await said("admin", "shutdown"), "not listed");
  });

  it("deliver updates of one's own customers, without what is personal", async () => {
    const update = {
      type: "order_updated",
      customer_id: "c-1",
      contact: { name: "Iris", email: "iris@example.com", phone: "0147", owner: "u-2" },
    };
    const received = async (role: DemoRole) => {
      const rule = (await connect(role)).plan?.websocket?.receive?.["order_updated"];
      return permits(rule, update)
        ? (masked(update, rule?.fields ?? []) as ValueObject)["contact"]
        : "nothing";
    };
    const { name, email, phone, owner } = update.contact;
    assert.deepEqual(await received("admin"), { name, email, owner });
    assert.deepEqual(await received("manager"), { name, email: "***", phone, owner });
    assert.equal(await received("support"), "nothing");
  });

  it("know every type that the application sends", async () => {
    const { plan } = await connect("support");
    assert.deepEqual(Object.keys(plan?.websocket?.receive ?? {}).sort(), [
      "error",
      "order_updated",
      "pong",
      "unsubscribed",
    ]);
  });
});

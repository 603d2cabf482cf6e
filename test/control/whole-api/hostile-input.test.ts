import assert from "node:assert/strict";
import { BODY_LIMIT } from "../../../src/control/platform/frame/read-body.ts";
import { namesWith, SCOPE_PERMISSIONS } from "../../../src/control/platform/actor.ts";
import type { Route } from "../../../src/control/platform/frame/route.ts";
import { GATEWAY_ROUTES } from "../../../src/protocol/index.ts";
import { send } from "../../support/guarded-control.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import { startWholeControl, type WholeControl } from "../../support/whole-control.ts";
import {
  bodyOf,
  idFor,
  nameOf,
  pathParameters,
  pathWith,
  queryParameters,
} from "../support/route-requests.ts";
import { seed, type Seeded } from "../support/seed.ts";

type Headers = Readonly<Record<string, string>>;

/** Texts that mean something to SQL, to knex, to HTTP or to nobody. */
const TEXTS = [
  "'; drop table customers; --",
  "1' or '1'='1\\",
  '?? :id $1 %s {} " ` %',
  "a\r\nX-Injected: 1\r\n\r\n<script>",
  "é € \u{1F600} \u202e",
];

describe("hostile input, at every route", () => {
  let control: WholeControl;
  let seeded: Seeded;
  let key: Headers;
  let person: Headers;

  before(async () => {
    control = await startWholeControl();
    key = await control.keyOf();
    person = (await control.owner()).headers;
    seeded = await seed(control, "Acme", key);
  });
  after(() => control.close());

  /** Headers of somebody who may use the route. */
  function callerOf({ permission }: Route): Headers {
    if (permission === "public") return {};
    return namesWith(SCOPE_PERMISSIONS, permission).length > 0 ? key : person;
  }

  const pathOf = (route: Route) => pathWith(route, (name) => idFor(route, name, seeded));
  const writing = () => control.routes.filter(({ method }) => method !== "get");

  /** Sends these very bytes as JSON. */
  async function sendText(
    route: Route,
    text: string,
    more: Headers = {},
  ): Promise<{ status: number; code: unknown; text: string }> {
    const answer = await fetch(`${control.url}/v1${pathOf(route)}`, {
      method: route.method.toUpperCase(),
      headers: { ...callerOf(route), "content-type": "application/json", ...more },
      body: text,
    });
    const read = await answer.text();
    return { status: answer.status, code: codeIn(read), text: read };
  }

  /** Not even a defect, and no header of the sender's. */
  async function harmless(route: Route, path: string, body?: unknown): Promise<void> {
    const answer = await send(control, route.method.toUpperCase(), path, callerOf(route), body);
    const what = `${nameOf(route)} ${path} ${JSON.stringify(body)}: ${answer.text}`;
    assert.ok(answer.status < 500, what);
    assert.equal(answer.headers.get("x-injected"), null, what);
  }

  describe("texts for SQL and headers", () => {
    afterEach(async () => {
      const tables = await control.context.db("pg_tables").where({ schemaname: "public" }).count();
      assert.ok(Number(tables[0]?.["count"]) > 20);
      const [customer] = await control.context.db("customers").where({ id: seeded.customer });
      assert.equal(customer.name, "Acme");
    });

    it("are harmless in every query parameter", async () => {
      for (const route of control.routes)
        for (const name of queryParameters(route))
          for (const text of TEXTS)
            await harmless(route, `${pathOf(route)}?${name}=${encodeURIComponent(text)}`);
    });

    it("are harmless in every path parameter", async () => {
      for (const route of control.routes)
        for (const name of pathParameters(route))
          for (const text of TEXTS) {
            const path = pathWith(route, (other) => (other === name ? text : idFor(route, other, seeded)));
            await harmless(route, path, bodyOf(route, seeded));
          }
    });

    it("are harmless in every text of every body", async () => {
      for (const route of control.routes) {
        const body = bodyOf(route, seeded);
        // a customer is not renamed here, nor a password tried a hundred times
        if (body === undefined || route.operation === "updateCustomer") continue;
        for (const place of textsIn(body))
          for (const text of TEXTS) await harmless(route, pathOf(route), place(text));
      }
    });

    it("are harmless in what names a request", async () => {
      for (const line of [
        "X-Request-Id: a\rX-Injected: 1",
        "X-Request-Id: a\nX-Injected: 1",
        "Idempotency-Key: \x00",
      ]) {
        const answer = await sendRaw(control.port, rawGet("/v1/customers", [line]));
        assert.ok([400, 401].includes(answer.status));
        assert.equal(answer.headers["x-injected"], undefined);
        assert.equal(JSON.parse(answer.body).success, false);
      }
    });
  });

  it("refuses JSON that is 100,000 deep, with an Idempotency-Key too", async () => {
    const deep = 100_000;
    for (const route of writing()) {
      for (const text of [`${"[".repeat(deep)}${"]".repeat(deep)}`, '{"a":'.repeat(deep)]) {
        const { status, code } = await sendText(route, text, { "idempotency-key": "deep" });
        assert.deepEqual([status, code], [400, "MALFORMED_JSON"], nameOf(route));
      }
    }
  });

  it("refuses a body of one byte too many", async () => {
    for (const route of writing()) {
      const limit = route.bodyLimit ?? BODY_LIMIT;
      const { status, code } = await sendText(route, `"${"a".repeat(limit - 1)}"`);
      assert.deepEqual([status, code], [413, "PAYLOAD_TOO_LARGE"], nameOf(route));
    }
  });

  for (const [what, text] of [
    ["`__proto__`", '{"__proto__":{"admin":true}}'],
    ["a member twice", '{"name":"a","name":"b"}'],
    ["half of a surrogate pair", '{"name":"\\ud800"}'],
    ["U+0000", '{"name":"\\u0000"}'],
    ["a number that not every parser reads exactly", '{"name":9007199254740993}'],
    ["what is no JSON", '{"name":NaN}'],
    ["a body cut short", '{"name":'],
  ] as const)
    it(`refuses ${what}`, async () => {
      for (const route of writing()) {
        const { status, code, text: said } = await sendText(route, text);
        assert.ok(status === 400 || (route.anyText && status === 422), `${nameOf(route)}: ${said}`);
        if (status === 400) assert.equal(code, "MALFORMED_JSON", nameOf(route));
      }
    });

  it("refuses members that no schema names, but for what gateways of a later release report", async () => {
    const { registration, statistics, rolloutReports } = GATEWAY_ROUTES;
    const reports = new Set<string>([registration, statistics, rolloutReports]);
    const ignored = new Set<string>();
    for (const route of writing()) {
      const known = bodyOf(route, seeded);
      const body = { ...known, constructor: "x", isAdmin: true };
      const { status, code, text } = await sendText(route, JSON.stringify(body));
      const isReport = reports.has(route.path);
      if (isReport) ignored.add(route.path);
      const expected = isReport
        ? await sendText(route, JSON.stringify(known))
        : { status: 422, code: "VALIDATION_FAILED" };
      assert.deepEqual([status, code], [expected.status, expected.code], `${nameOf(route)}: ${text}`);
      assert.ok(!isReport || code !== "VALIDATION_FAILED", text);
    }
    assert.equal(ignored.size, reports.size);
  });

  it("refuses a member named `__proto__` at any depth, however it is written", async () => {
    for (const route of writing().filter(({ anyText }) => anyText !== true)) {
      const body = JSON.stringify(bodyOf(route, seeded) ?? {});
      const places = [...body.matchAll(/\{/g)].map(({ index }) => index + 1);
      for (const name of ['"__proto__"', String.raw`"\u005f_proto__"`])
        for (const at of places)
          for (const value of ["null", '{"admin":true}']) {
            const rest = body.slice(at);
            const member = `${name}:${value}${rest.startsWith("}") ? "" : ","}`;
            const { status, code, text } = await sendText(route, `${body.slice(0, at)}${member}${rest}`);
            assert.deepEqual([status, code], [400, "MALFORMED_JSON"], `${nameOf(route)}: ${text}`);
            assert.match(text, /a member named `__proto__`/);
          }
    }
  });

  it("keeps members named `constructor` and `prototype` as any others", async () => {
    const names = ["constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];
    const mapOf = <T>(value: T) => Object.fromEntries(names.map((name) => [name, value]));
    const { customer, user, policy } = seeded;
    for (const [path, member, value] of [
      [`/customers/${customer}`, "metadata", "text"],
      [`/customers/${customer}`, "role_mapping", ["role"]],
      [`/users/${user}`, "attributes", "text"],
    ] as const)
      for (const method of ["PUT", "PATCH"]) {
        const changed = await send(control, method, path, key, { [member]: mapOf(value) });
        assert.equal(changed.status, 200, changed.text);
        const read = await send(control, "GET", path, key);
        const kept = (read.body as { data: Record<string, object> }).data[member];
        assert.deepEqual(Object.entries(kept ?? {}).sort(), Object.entries(mapOf(value)).sort(), path);
        const removed = await send(control, "PATCH", path, key, { [member]: mapOf(null) });
        assert.equal(removed.status, 200, removed.text);
        assert.deepEqual((removed.body as { data: Record<string, object> }).data[member], {}, path);
      }
    for (const method of ["PUT", "PATCH"]) {
      const refused = await send(control, method, `/policies/${policy}`, key, { conditions: mapOf("x") });
      assert.equal(refused.status, 422, refused.text);
      for (const name of names) assert.ok(refused.text.includes(`conditions.${name}`), refused.text);
    }
  });

  it("refuses numbers that are none", async () => {
    const cases = [
      ["createCustomer", '{"name":"n","metadata":{"a":1e400}}'],
      ["createUser", '{"subject":"s","attributes":{"a":-1e400}}'],
      ["createPolicy", '{"name":"n","type":"authentication","conditions":{"max_session_duration":1e400}}'],
      ["rotateWebhookSecret", '{"overlap_seconds":1e400}'],
      ["takeStatistics", '{"instance":"i","sequence":1e400}'],
    ] as const;
    for (const [operation, text] of cases) {
      const route = control.routes.find((one) => one.operation === operation);
      const { status } = await sendText(route!, text);
      assert.equal(status, route!.anyText === true ? 422 : 400, operation);
    }
  });

  it("refuses a parameter that is given twice", async () => {
    for (const route of control.routes)
      for (const name of queryParameters(route)) {
        const path = `${pathOf(route)}?${name}=1&${name}=1`;
        const answer = await send(control, route.method.toUpperCase(), path, callerOf(route));
        assert.deepEqual([answer.status, answer.body.error.code], [400, "INVALID_PARAMETER"], path);
      }
  });

  it("answers HEAD as GET, without a body", async () => {
    for (const route of control.routes) {
      // one that writes is not carried out by a HEAD: 405, as for any method that is not there
      if (route.method !== "get" || route.read === undefined) continue;
      const [get, head] = [
        await send(control, "GET", pathOf(route), callerOf(route)),
        await send(control, "HEAD", pathOf(route), callerOf(route)),
      ];
      assert.deepEqual([head.status, head.text], [get.status, ""], nameOf(route));
      assert.equal(head.headers.get("content-type"), get.headers.get("content-type"), nameOf(route));
    }
  });

  it("lets no cache keep an answer", async () => {
    for (const route of control.routes) {
      if (route.method !== "get") continue;
      const { headers } = await send(control, "GET", pathOf(route), callerOf(route));
      assert.equal(headers.get("cache-control"), "no-store", nameOf(route));
    }
  });

  it("keeps nothing of a body that a password could be guessed by", async () => {
    const { db } = control.context;
    const body = { email: "nobody@example.com", password: "hunter2" };
    const once = { "idempotency-key": "login-1" };
    for (let attempt = 1; attempt <= 2; attempt += 1)
      assert.equal((await send(control, "POST", "/dashboard/login", once, body)).status, 401);
    assert.deepEqual(await db("idempotency_keys").where({ key: "login-1" }), []);
    const webhook = { url: "http://127.0.0.1:9/", events: ["policy.updated"], secret: "a-guessable-secret" };
    await send(control, "POST", "/webhooks", { ...key, "idempotency-key": "webhook-1" }, webhook);
    const [kept] = await db("idempotency_keys").where({ key: "webhook-1" });
    assert.match(kept.fingerprint, /^v1\./, "sealed");
  });

  it("refuses other methods, and says which there are", async () => {
    const paths = Map.groupBy(control.routes, pathOf);
    for (const [path, routes] of paths) {
      const allowed = routes.map(({ method }) => method.toUpperCase());
      for (const method of ["OPTIONS", "TRACE", "PATCH", "DELETE", "PUT", "POST"]) {
        if (allowed.includes(method)) continue;
        const line = `Authorization: ${key["authorization"] ?? ""}`;
        const { status, headers, body } = await sendRaw(control.port, rawGet(`/v1${path}`, [line], method));
        assert.deepEqual([status, codeIn(body)], [405, "METHOD_NOT_ALLOWED"], `${method} ${path}`);
        for (const one of allowed) assert.ok(headers["allow"]?.includes(one), `${method} ${path}`);
      }
    }
  });

  it("refuses paths and headers that are too long, in the envelope", async () => {
    const long = "a".repeat(16_384);
    for (const request of [rawGet(`/v1/customers/${long}`), rawGet("/v1/customers", [`X-Long: ${long}`])]) {
      const { status, body } = await sendRaw(control.port, request);
      assert.deepEqual([status, codeIn(body)], [431, "HEADERS_TOO_LARGE"]);
    }
    for (const route of control.routes)
      for (const name of pathParameters(route)) {
        const path = pathWith(route, (other) =>
          other === name ? "a".repeat(12_000) : idFor(route, other, seeded),
        );
        const answer = await send(control, route.method.toUpperCase(), path, callerOf(route));
        assert.ok([400, 404, 422].includes(answer.status), `${nameOf(route)}: ${answer.text}`);
      }
  });

  for (const [what, request] of [
    ["what is no HTTP", "nonsense\r\n\r\n"],
    ["a control character in a header", rawGet("/v1/customers", ["X-Any: \x01"])],
    ["two lengths", rawGet("/v1/customers", ["Content-Length: 1", "Content-Length: 2"], "POST")],
    [
      "a length and chunks",
      rawGet("/v1/customers", ["Content-Length: 3", "Transfer-Encoding: chunked"], "POST"),
    ],
  ] as const)
    it(`refuses ${what}, in the envelope`, async () => {
      const { status, headers, body } = await sendRaw(control.port, request);
      assert.deepEqual([status, codeIn(body)], [400, "MALFORMED_REQUEST"]);
      assert.match(headers["x-request-id"] ?? "", /^req_/);
      assert.equal(headers["connection"], "close");
    });

  it("ignores an expectation that nobody knows", async () => {
    const { status } = await sendRaw(control.port, rawGet("/v1/customers", ["Expect: the-unexpected"]));
    assert.equal(status, 401);
  });
});

function codeIn(text: string): unknown {
  return (JSON.parse(text) as { error?: { code?: unknown } }).error?.code;
}

/** A body again and again, with each of its texts in turn to be replaced. */
function textsIn(body: unknown): ((text: string) => unknown)[] {
  if (typeof body === "string") return [(text) => text];
  if (typeof body !== "object" || body === null) return [];
  if (Array.isArray(body))
    return body.flatMap((item, at) =>
      textsIn(item).map((place) => (text: string) => body.with(at, place(text))),
    );
  return Object.entries(body).flatMap(([name, member]) =>
    textsIn(member).map((place) => (text: string) => ({ ...body, [name]: place(text) })),
  );
}

import assert from "node:assert/strict";
import * as z from "zod";
import {
  created,
  etagOf,
  ok,
  page,
  readRoute,
  writeRoute,
  type Route,
} from "../../../../src/control/platform/frame/route.ts";
import { listQuery } from "../../../../src/control/platform/frame/list.ts";
import { nameText, pathId } from "../../../../src/control/platform/frame/schemas.ts";
import { ApiError } from "../../../../src/control/platform/errors.ts";
import { FULL_KEY, OWNER, startControl, type RunningControl } from "../../../support/control.ts";

const thing = z.object({ id: z.string(), name: z.string() });
let made = 0;

/** Routes that show what the frame does for all. */
function routes(): readonly Route[] {
  return [
    readRoute({
      method: "get",
      path: "/things",
      operation: "listThings",
      summary: "List things",
      tag: "things",
      group: "management",
      permission: "read",
      tenancy: "handler",
      query: listQuery(["created_at", "name"], { status: z.enum(["on", "off"]).optional() }),
      answers: { 200: z.array(thing) },
      paginated: true,
      read: ({ query }) =>
        Promise.resolve(page([{ id: "t", name: "n", secret: "s" }], { ...query, total: 41 })),
    }),
    writeRoute({
      method: "post",
      path: "/things",
      operation: "createThing",
      summary: "Create a thing",
      tag: "things",
      group: "management",
      permission: "configure",
      tenancy: "all",
      body: z.strictObject({ name: nameText(20), nested: z.strictObject({ size: z.int() }).optional() }),
      answers: { 201: thing },
      async write({ body }, unit) {
        made += 1;
        const id = `t_${made}`;
        await unit.trx("idempotency_keys").count();
        if (body.name === "slow") await unit.trx.raw("select pg_sleep(0.2)");
        if (body.name === "defect") throw new Error("a secret of ours");
        if (body.name === "refused") return { kind: "refusal", error: new ApiError("CONFLICT") };
        return created({ id, ...body });
      },
    }),
    writeRoute({
      method: "get",
      path: "/changing",
      operation: "change",
      summary: "Change something by GET, as a callback does",
      tag: "things",
      group: "management",
      permission: "public",
      tenancy: "handler",
      answers: { 200: thing },
      write({ actor }) {
        made += 1;
        return Promise.resolve(ok({ id: "c", name: actor.kind }));
      },
    }),
    readRoute({
      method: "get",
      path: "/things/{id}",
      operation: "getThing",
      summary: "Read a thing",
      tag: "things",
      group: "management",
      permission: "read",
      tenancy: { path: "id" },
      params: z.object({ id: pathId() }),
      answers: { 200: thing },
      etag: true,
      read: ({ params: { id } }) => {
        if (id === "none") throw new ApiError("NOT_FOUND");
        return Promise.resolve(ok({ id, name: "n" }, { etag: etagOf({ id, revision: 3 }) }));
      },
    }),
    writeRoute({
      method: "put",
      path: "/things/{id}",
      operation: "updateThing",
      summary: "Update a thing",
      tag: "things",
      group: "management",
      permission: "configure",
      tenancy: { path: "id" },
      params: z.object({ id: pathId() }),
      body: z.strictObject({ name: nameText() }),
      answers: { 200: thing },
      etag: true,
      write: ({ params: { id }, body, ...call }) => {
        call.ifMatch(etagOf({ id, revision: 3 }));
        return Promise.resolve(ok({ id, name: body.name }, { etag: etagOf({ id, revision: 4 }) }));
      },
    }),
  ];
}

describe("the frame of the API", () => {
  let api: RunningControl;
  before(async () => {
    api = await startControl({ routes });
  });
  after(() => api.close());

  const raw = (path: string, init: RequestInit) =>
    fetch(`${api.url}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${Buffer.from(JSON.stringify(FULL_KEY)).toString("base64url")}`,
        ...(init.headers as Record<string, string>),
      },
    });
  const code = (answer: { body: { error?: { code?: string } } }) => answer.body.error?.code;

  it("puts every answer into the envelope, and leaves out what the schema does not name", async () => {
    const { status, body, headers } = await api.request("GET", "/things");
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body as object), ["success", "data", "pagination", "meta"]);
    assert.deepEqual(body.data, [{ id: "t", name: "n" }]);
    assert.deepEqual(body.pagination, { current_page: 1, total_pages: 3, total_items: 41, page_size: 20 });
    assert.match(body.meta.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(body.meta.request_id, /^req_/);
    assert.equal(headers.get("x-request-id"), body.meta.request_id);
    for (const name of ["limit", "remaining", "reset"])
      assert.match(headers.get(`x-ratelimit-${name}`) ?? "", /^\d+$/);
  });

  it("keeps an id that the caller gave, unless it could not stand in a log", async () => {
    const given = await api.request("GET", "/things", { headers: { "x-request-id": "mine-1" } });
    assert.equal(given.body.meta.request_id, "mine-1");
    const long = await api.request("GET", "/things", { headers: { "x-request-id": "x".repeat(200) } });
    assert.match(long.body.meta.request_id, /^req_/);
  });

  for (const [query, parameter] of [
    ["page=0", "page"],
    ["page=-1", "page"],
    ["page=1.5", "page"],
    ["page=1e3", "page"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=", "limit"],
    ["sort=secret", "sort"],
    ["sort=name;drop table customers", "sort"],
    ["order=up", "order"],
    ["status=maybe", "status"],
    ["unknown=1", "unknown"],
    ["__proto__=1", "__proto__"],
  ] as const) {
    it(`answers 400 to ?${query}`, async () => {
      const answer = await api.request("GET", `/things?${query}`);
      assert.deepEqual([answer.status, code(answer)], [400, "INVALID_PARAMETER"]);
      assert.deepEqual(answer.body.error.details.parameters[0].parameter, parameter);
    });
  }

  for (const query of ["page=1&page=2", "status=%ff", "status=%00", "status=%"]) {
    it(`answers 400 to the query ${query}`, async () => {
      const answer = await api.request("GET", `/things?${query}`);
      assert.deepEqual([answer.status, code(answer)], [400, "INVALID_PARAMETER"]);
    });
  }

  const json = { "content-type": "application/json" };
  const bodies: [name: string, init: RequestInit, status: number, code: string][] = [
    ["no JSON", { body: "{", headers: json }, 400, "MALFORMED_JSON"],
    ["a repeated member", { body: '{"name":"a","name":"b"}', headers: json }, 400, "MALFORMED_JSON"],
    ["invalid UTF-8", { body: new Uint8Array([0x22, 0xff, 0x22]), headers: json }, 400, "MALFORMED_JSON"],
    ["U+0000 in a text", { body: '{"name":"a\\u0000"}', headers: json }, 400, "MALFORMED_JSON"],
    ["an inexact number", { body: '{"name":1e400}', headers: json }, 400, "MALFORMED_JSON"],
    ["an integer beyond 2^53", { body: '{"name":1.2e20}', headers: json }, 400, "MALFORMED_JSON"],
    ["half a surrogate pair", { body: '{"name":"\\ud800"}', headers: json }, 400, "MALFORMED_JSON"],
    ["__proto__", { body: '{"name":"a","__proto__":{}}', headers: json }, 400, "MALFORMED_JSON"],
    [
      "10,000 arrays in each other",
      { body: "[".repeat(10_000) + "]".repeat(10_000), headers: json },
      400,
      "MALFORMED_JSON",
    ],
    [
      "10,000 objects in each other",
      { body: '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000), headers: json },
      400,
      "MALFORMED_JSON",
    ],
    [
      "another media type",
      { body: "name=a", headers: { "content-type": "application/x-www-form-urlencoded" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "another charset",
      { body: "{}", headers: { "content-type": "application/json; charset=utf-16" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "a compressed body",
      { body: "{}", headers: { ...json, "content-encoding": "gzip" } },
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    [
      "a body over the limit",
      { body: JSON.stringify({ name: "x".repeat(1_000_001) }), headers: json },
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    ["no body", { headers: json }, 422, "VALIDATION_FAILED"],
  ];
  for (const [name, init, status, expected] of bodies) {
    it(`answers ${status} ${expected} to ${name}`, async () => {
      const answer = await raw("/v1/things", { method: "POST", ...init });
      const body = (await answer.json()) as { success: boolean; error: { code: string } };
      assert.deepEqual([answer.status, body.success, body.error.code], [status, false, expected]);
    });
  }

  it("names each field that is not valid by its path", async () => {
    const answer = await api.request("POST", "/things", {
      body: { name: "", nested: { size: "x" }, more: 1 },
    });
    assert.deepEqual([answer.status, code(answer)], [422, "VALIDATION_FAILED"]);
    const paths = (answer.body.error.details.fields as { path: string }[]).map(({ path }) => path);
    assert.deepEqual(paths.sort(), ["more", "name", "nested.size"]);
  });

  it("answers 401, 403, 404, 405, 406 in the envelope, with the three headers", async () => {
    const cases = [
      [await api.request("GET", "/things", { as: null }), 401, "UNAUTHORIZED"],
      [
        await api.request("POST", "/things", {
          body: { name: "a" },
          as: { ...FULL_KEY, scope: "read_only" },
        }),
        403,
        "INSUFFICIENT_SCOPE",
      ],
      [
        await api.request("POST", "/things", { body: { name: "a" }, as: { ...OWNER, role: "viewer" } }),
        403,
        "INSUFFICIENT_ROLE",
      ],
      [
        await api.request("POST", "/things", {
          body: { name: "a" },
          as: { ...FULL_KEY, customerId: "cus_a" },
        }),
        403,
        "CUSTOMER_KEY_NOT_ALLOWED",
      ],
      [
        await api.request("GET", "/things/b", { as: { ...FULL_KEY, customerId: "a" } }),
        404,
        "INVALID_CUSTOMER",
      ],
      [await api.request("GET", "/nothing"), 404, "NOT_FOUND"],
      [await api.request("GET", "/things/%00"), 404, "NOT_FOUND"],
      [await api.request("GET", "/things/%ff"), 400, "INVALID_PARAMETER"],
      [await api.request("DELETE", "/things"), 405, "METHOD_NOT_ALLOWED"],
      [await api.request("GET", "/things", { headers: { accept: "text/html" } }), 406, "NOT_ACCEPTABLE"],
      [await api.request("POST", "/things", { body: { name: "defect" } }), 500, "INTERNAL_ERROR"],
    ] as const;
    for (const [answer, status, expected] of cases) {
      assert.deepEqual([answer.status, code(answer), answer.body.success], [status, expected, false]);
      assert.ok(answer.headers.has("x-ratelimit-limit"), expected);
      assert.ok(!answer.text.includes("a secret of ours"));
    }
    assert.match(cases[1][0].body.error.message, /`configuration` or `full_access`/);
    assert.equal(cases[8][0].headers.get("allow"), "GET, HEAD, POST");
    assert.match(cases[0][0].headers.get("www-authenticate") ?? "", /^Bearer/);
  });

  it("refuses a change whose If-Match names another revision", async () => {
    const { headers } = await api.request("GET", "/things/a");
    const etag = headers.get("etag") ?? "";
    assert.equal(etag, '"a.3"');
    const put = (match: string) =>
      api.request("PUT", "/things/a", { body: { name: "b" }, headers: { "if-match": match } });
    assert.equal((await put(etag)).status, 200);
    assert.equal((await put(`"other", ${etag}`)).status, 200);
    assert.equal((await put("*")).status, 200);
    assert.equal((await put('"a.2"')).status, 412);
    assert.equal((await put(`W/${etag}`)).status, 412);
  });

  it("carries a request with an Idempotency-Key out once, also when it comes twice at once", async () => {
    const before = made;
    const post = (key: string, name = "slow") =>
      api.request("POST", "/things", { body: { name }, headers: { "idempotency-key": key } });
    const [first, second] = await Promise.all([post("k1"), post("k1")]);
    assert.equal(made, before + 1);
    assert.deepEqual([first.status, second.status], [201, 201]);
    assert.equal(first.text, second.text);
    const other = await post("k1", "other");
    assert.deepEqual([other.status, code(other)], [422, "IDEMPOTENCY_KEY_REUSED"]);
    assert.equal((await post("k2")).status, 201);
    assert.equal(made, before + 2);
    const kept = await api.database.db("idempotency_keys").select("answer");
    assert.ok(
      kept.every(({ answer }: { answer: string }) => !answer.includes("slow")),
      "answers are sealed",
    );
    const bad = await api.request("POST", "/things", {
      body: { name: "a" },
      headers: { "idempotency-key": "a b" },
    });
    assert.equal(bad.status, 400);
  });

  it("keeps no answer of a request that failed", async () => {
    const post = (name: string) =>
      api.request("POST", "/things", { body: { name }, headers: { "idempotency-key": "failing" } });
    assert.equal((await post("defect")).status, 500);
    assert.equal((await post("fine")).status, 201);
  });

  it("evaluates a request again that was refused", async () => {
    const post = (name: string) =>
      api.request("POST", "/things", { body: { name }, headers: { "idempotency-key": "refused" } });
    assert.equal((await post("refused")).status, 409);
    assert.equal(code(await post("refused")), "CONFLICT");
    assert.equal((await post("fine")).status, 201);
  });

  it("carries out nothing by HEAD that a GET would change", async () => {
    const changing = await api.request("HEAD", "/changing");
    assert.deepEqual([changing.status, changing.headers.get("allow")], [405, "GET"]);
    assert.equal((await api.request("HEAD", "/things")).status, 200);
    const before = made;
    assert.equal((await api.request("GET", "/changing")).status, 200);
    assert.equal(made, before + 1);
  });

  it("has nobody as the actor of a public route, whoever's cookie comes along", async () => {
    const { body } = await api.request("GET", "/changing", { as: OWNER });
    assert.equal(body.data.name, "anonymous");
  });

  it("describes itself as OpenAPI 3.1, readable without the Internet", async () => {
    const answer = await fetch(`${api.url}/v1/openapi.json`);
    const document = (await answer.json()) as { openapi: string; paths: Record<string, object> };
    assert.equal(document.openapi, "3.1.0");
    assert.deepEqual(Object.keys(document.paths), ["/things", "/changing", "/things/{id}"]);
    const docs = await fetch(`${api.url}/docs`);
    const html = await docs.text();
    assert.match(docs.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    for (const [, asset] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      if (asset?.startsWith("#") === true) continue;
      assert.match(asset ?? "", /^\/(?:docs\/|v1\/openapi\.json$)/);
      assert.equal((await fetch(`${api.url}${asset}`)).status, 200, asset);
    }
  });
});

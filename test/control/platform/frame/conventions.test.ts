import assert from "node:assert/strict";
import { ERROR_CODES } from "../../../../src/control/platform/errors.ts";
import { ENVIRONMENTS } from "../../../../src/control/platform/environment.ts";
import type { Answered } from "../../../support/control.ts";
import { startSpecified, type Specified } from "../../support/specified.ts";

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** In the year 10000, and before the year 0, by UTC: ISO 8601 with four digits cannot say when that is. */
const BEYOND = ["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"];

describe("conventions of the API, specification 2.1, 2.7, 4.6, 7 and 9", () => {
  let api: Specified;
  before(async () => {
    api = await startSpecified();
  });
  after(() => api.close());

  describe("2.1 response envelope", () => {
    it("success, data, meta.timestamp, meta.request_id: on success", async () => {
      const { body } = await api.call("POST", "/customers", { name: "a" });
      assert.deepEqual(Object.keys(body as object).sort(), ["data", "meta", "success"]);
      assert.equal(body.success, true);
      assert.deepEqual(Object.keys(body.meta as object).sort(), ["request_id", "timestamp"]);
      assert.match(body.meta.timestamp, ISO_UTC);
      assert.equal(typeof body.meta.request_id, "string");
    });
    it("success, error, meta: on failure", async () => {
      const { body } = await api.call("GET", "/customers/none");
      assert.deepEqual(Object.keys(body as object).sort(), ["error", "meta", "success"]);
      assert.equal(body.success, false);
      assert.match(body.meta.timestamp, ISO_UTC);
    });
    it("data is an array, and pagination is there, on lists", async () => {
      const { body } = await api.call("GET", "/customers");
      assert.deepEqual(Object.keys(body as object).sort(), ["data", "meta", "pagination", "success"]);
      assert.ok(Array.isArray(body.data));
    });
  });

  it("2.7 pagination object: current_page, total_pages, total_items, page_size", async () => {
    for (const name of ["one", "two", "three"])
      await api.data("POST", "/customers", { name: `page ${name}` });
    const { body } = await api.call("GET", "/customers?name=page&limit=2&page=2");
    assert.deepEqual(body.pagination, { current_page: 2, total_pages: 2, total_items: 3, page_size: 2 });
    assert.equal(body.data.length, 1);
  });

  describe("4.6 request conventions", () => {
    const names = async (query: string) => {
      const found = await api.data("GET", `/customers?name=sorted&${query}`);
      return (found as { name: string }[]).map(({ name }) => name);
    };
    before(async () => {
      for (const name of ["sorted a", "sorted b", "sorted c"]) {
        const { id } = await api.data("POST", "/customers", { name });
        if (name === "sorted b") await api.data("PUT", `/customers/${id}`, { status: "suspended" });
      }
    });
    it("headers: Authorization, Content-Type, Accept", async () => {
      const call = (headers: Readonly<Record<string, string>>) =>
        api.call("POST", "/customers", { name: "n" }, { ...api.key, ...headers });
      assert.equal((await call({ accept: "application/json" })).status, 201);
      assert.equal((await call({ authorization: "" })).status, 401);
      assert.equal((await call({ "content-type": "text/plain" })).status, 415);
      assert.equal((await call({ accept: "text/html" })).status, 406);
    });
    it("page and limit", async () => {
      assert.deepEqual(await names("sort=name&order=asc&limit=2&page=1"), ["sorted a", "sorted b"]);
      assert.deepEqual(await names("sort=name&order=asc&limit=2&page=2"), ["sorted c"]);
    });
    it("limit: 20 unless given, at most 100", async () => {
      assert.equal((await api.call("GET", "/customers")).body.pagination.page_size, 20);
      assert.equal((await api.call("GET", "/customers?limit=100")).status, 200);
      assert.equal((await api.call("GET", "/customers?limit=101")).status, 400);
    });
    it("status", async () => {
      assert.deepEqual(await names("status=suspended"), ["sorted b"]);
      assert.equal((await api.call("GET", "/customers?status=unheard")).status, 400);
    });
    it("sort: by created_at unless given", async () => {
      assert.deepEqual(await names("sort=created_at"), ["sorted c", "sorted b", "sorted a"]);
      assert.deepEqual(await names(""), ["sorted c", "sorted b", "sorted a"]);
      assert.equal((await api.call("GET", "/customers?sort=metadata")).status, 400);
    });
    it("order: desc unless given, and asc", async () => {
      assert.deepEqual(await names("sort=name"), ["sorted c", "sorted b", "sorted a"]);
      assert.deepEqual(await names("sort=name&order=desc"), ["sorted c", "sorted b", "sorted a"]);
      assert.deepEqual(await names("sort=name&order=asc"), ["sorted a", "sorted b", "sorted c"]);
    });
    it("N6, {id}: whatever is none is 404", async () => {
      for (const id of ["0", "cus_0", "%20", "a".repeat(128)])
        assert.equal((await api.call("GET", `/customers/${id}`)).body.error.code, "INVALID_CUSTOMER", id);
    });
  });

  describe("4.6 times at the ends of the calendar, in a query", () => {
    for (const [path, name] of [
      ["/customers", "created_before"],
      ["/sessions", "created_after"],
      ["/audit/logs", "to"],
      ["/analytics/events", "to"],
      ["/analytics/dashboard", "to"],
      ["/analytics/users", "seen_since"],
    ] as const)
      it(`are malformed: ${path}`, async () => {
        for (const time of BEYOND) {
          const answer = await api.call("GET", `${path}?${name}=${encodeURIComponent(time)}`);
          assert.equal(answer.status, 400, `${time}: ${answer.text.slice(0, 200)}`);
        }
        const last = await api.call("GET", `${path}?${name}=9999-12-31T23:59:59Z`);
        assert.ok([200, 400].includes(last.status), last.text);
      });
  });

  describe("7 errors", () => {
    const told = ({ status, body }: Answered) => [status, body.success, body.error?.code];
    it("error body: code, message, details with context", async () => {
      const { body } = await api.call("GET", "/customers/cus_none");
      assert.deepEqual(Object.keys(body.error as object).sort(), ["code", "details", "message"]);
      assert.equal(body.error.code, "INVALID_CUSTOMER");
      assert.equal(typeof body.error.message, "string");
      assert.deepEqual(body.error.details, { customer_id: "cus_none" });
    });
    it("200 success", async () => {
      assert.equal((await api.call("GET", "/customers")).status, 200);
    });
    it("201 created", async () => {
      const { status, headers, body } = await api.call("POST", "/customers", { name: "n" });
      assert.equal(status, 201);
      assert.equal(headers.get("location"), `/v1/customers/${body.data.id}`);
    });
    it("400 bad request, invalid parameters", async () => {
      assert.deepEqual(told(await api.call("GET", "/customers?page=x")), [400, false, "INVALID_PARAMETER"]);
    });
    it("401 unauthorized, invalid API key", async () => {
      const answer = await api.call("GET", "/customers", undefined, { authorization: "Bearer gh_live_x" });
      assert.deepEqual(told(answer), [401, false, "UNAUTHORIZED"]);
    });
    it("403 forbidden, insufficient permissions", async () => {
      const key = await api.control.keyOf({ scope: "authentication" });
      const answer = await api.call("GET", "/customers", undefined, key);
      assert.deepEqual(told(answer), [403, false, "INSUFFICIENT_SCOPE"]);
    });
    it("404 not found", async () => {
      assert.deepEqual(told(await api.call("GET", "/nowhere")), [404, false, "NOT_FOUND"]);
    });
    it("422 validation error", async () => {
      const answer = await api.call("POST", "/customers", { name: 7 });
      assert.deepEqual(told(answer), [422, false, "VALIDATION_FAILED"]);
      assert.equal(answer.body.error.details.fields[0].path, "name");
    });
    it("500 internal server error, which tells nothing of its cause", async () => {
      const broken = await startSpecified();
      await broken.data("POST", "/policies", {
        name: "p",
        type: "authentication",
        conditions: { mfa_required: true },
      });
      // what cannot happen: a table that the code relies on is another one
      await broken.control.context.db.raw("alter table policies rename column conditions to gone");
      Object.assign(broken.control.context.log, { error: () => undefined });
      const answer = await broken.call("GET", "/policies");
      await broken.close();
      assert.deepEqual(told(answer), [500, false, "INTERNAL_ERROR"]);
      assert.ok(!answer.text.includes("conditions"));
    });
    it("INVALID_CUSTOMER: 404 in a path, 422 in a body", async () => {
      assert.deepEqual(told(await api.call("GET", "/customers/cus_none")), [404, false, "INVALID_CUSTOMER"]);
      const body = { customer_id: "cus_none", return_url: "https://app.example.com/" };
      const answer = await api.call("POST", "/auth/authorize", body);
      assert.deepEqual(told(answer), [422, false, "INVALID_CUSTOMER"]);
      assert.deepEqual(answer.body.error.details, { customer_id: "cus_none" });
    });
    it("every code is one of the documented table", () => {
      for (const { status, message } of Object.values(ERROR_CODES)) {
        assert.ok(status >= 400 && status < 600);
        assert.match(message, /^[^A-Z].*[^.]$|^the API/);
      }
    });
  });

  describe("9 versioning", () => {
    for (const environment of ENVIRONMENTS)
      it(`/v1 is part of the path in ${environment}, and nothing is without it`, async () => {
        const served =
          environment === "production" ? api : await startSpecified({ settings: { environment } });
        const { routes, url } = served.control;
        const answers = [
          await served.call("GET", "/customers"),
          await served.control.request("GET", "/../customers", { headers: served.key }),
          await served.control.request("GET", "/../v2/customers", { headers: served.key }),
        ];
        const { servers } = (await (await fetch(`${url}/v1/openapi.json`)).json()) as { servers: unknown };
        if (served !== api) await served.close();
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 404, 404],
        );
        assert.deepEqual(servers, [{ url: `${url}/v1` }]);
        assert.ok(routes.every(({ path }) => !path.startsWith("/v")));
      });
  });
});

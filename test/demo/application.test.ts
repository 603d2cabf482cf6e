import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { startDemoApplication, type DemoApplication } from "../../src/demo/application.ts";

describe("demo application", () => {
  let app: DemoApplication;
  beforeEach(async () => {
    app = await startDemoApplication({ port: 0 });
  });
  afterEach(async () => {
    await app.close();
  });

  const get = (path: string, init?: RequestInit) => fetch(`${app.url}${path}`, init);
  const send = (method: string, path: string, body: unknown) =>
    get(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const json = async (answer: Response) => (await answer.json()) as Record<string, unknown>;

  it("listens where it says", () => {
    assert.notEqual(app.port, 0);
    assert.equal(app.url, `http://127.0.0.1:${app.port}`);
  });

  it("rejects when the port is taken", async () => {
    await assert.rejects(startDemoApplication({ port: app.port }), { code: "EADDRINUSE" });
  });

  it("lists customers, those that are suspended only where they are asked for", async () => {
    const ids = async (path: string) => {
      const { customers, total } = (await json(await get(path))) as {
        customers: { id: string }[];
        total: number;
      };
      assert.equal(total, customers.length);
      return customers.map(({ id }) => id);
    };
    assert.deepEqual(await ids("/api/customers"), ["c-1", "c-2", "c-3", "c-4", "c-5"]);
    assert.deepEqual(await ids("/api/customers?status=suspended"), ["c-6"]);
    assert.deepEqual(await ids("/api/customers?status=trial&status=suspended"), ["c-4", "c-6"]);
    assert.deepEqual(await ids("/api/customers?status=asleep"), []);
  });

  it("reads one customer, and answers 404 for one that is not there", async () => {
    const found = await get("/api/customers/c-1");
    assert.equal(found.status, 200);
    assert.equal((await json(found))["name"], "Northwind Traders");
    const missing = await get("/api/customers/c-99");
    assert.equal(missing.status, 404);
    assert.deepEqual(await json(missing), { error: "no such customer" });
  });

  it("changes only what a PUT names", async () => {
    const changed = await send("PUT", "/api/customers/c-2", { status: "suspended" });
    assert.equal(changed.status, 200);
    const now = await json(await get("/api/customers/c-2"));
    assert.equal(now["status"], "suspended");
    assert.equal(now["name"], "Blue Heron Logistics");
  });

  it("refuses a change of unknown or ill-typed members, and says which", async () => {
    const answer = await send("PUT", "/api/customers/c-2", { status: "asleep", id: "c-9" });
    assert.equal(answer.status, 400);
    const { problems } = (await answer.json()) as { problems: string[] };
    assert.equal(problems.length, 2);
    assert.match(problems[0]!, /^status: /);
    assert.match(problems[1]!, /^body: /);
    assert.equal((await send("PUT", "/api/customers/c-99", {})).status, 404);
  });

  it("deletes a customer once; a new start brings it back", async () => {
    assert.equal((await get("/api/customers/c-3", { method: "DELETE" })).status, 204);
    assert.equal((await get("/api/customers/c-3", { method: "DELETE" })).status, 404);
    const other = await startDemoApplication({ port: 0 });
    try {
      assert.equal((await fetch(`${other.url}/api/customers/c-3`)).status, 200);
    } finally {
      await other.close();
    }
  });

  it("takes an order, which then shows among the customer's orders and in the revenue", async () => {
    const revenue = async () => {
      const { customers } = (await json(await get("/api/reports/revenue"))) as {
        customers: { customer_id: string; name: string; revenue_cents: number }[];
      };
      assert.deepEqual(
        customers,
        [...customers].sort((a, b) => b.revenue_cents - a.revenue_cents),
      );
      return customers.find((entry) => entry.customer_id === "c-2");
    };
    const before = await revenue();
    const placed = await send("POST", "/api/orders", {
      customer_id: "c-2",
      item: "Label printer",
      quantity: 3,
      unit_price_cents: 1000,
    });
    assert.equal(placed.status, 201);
    const { id } = await json(placed);
    const orders = await json(await get(placed.headers.get("location")!));
    assert.equal(orders["total"], 2);
    assert.equal((orders["orders"] as { id: string }[])[1]!.id, id);
    assert.equal((await revenue())!.revenue_cents, before!.revenue_cents + 3000);
  });

  it("keeps the revenue of a customer that was deleted", async () => {
    await get("/api/customers/c-5", { method: "DELETE" });
    const { customers } = (await json(await get("/api/reports/revenue"))) as {
      customers: { customer_id: string; name: string }[];
    };
    assert.equal(customers.find((entry) => entry.customer_id === "c-5")?.name, "(deleted)");
    assert.equal((await get("/api/customers/c-5/orders")).status, 404);
  });

  it("refuses orders that are malformed, for nobody, or not JSON", async () => {
    assert.equal((await send("POST", "/api/orders", {})).status, 400);
    assert.equal((await get("/api/orders", { method: "POST" })).status, 400);
    const nobody = await send("POST", "/api/orders", {
      customer_id: "c-99",
      item: "x",
      unit_price_cents: 1,
    });
    assert.equal(nobody.status, 422);
    const broken = await get("/api/orders", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    });
    assert.equal(broken.status, 400);
    assert.deepEqual(await json(broken), { error: "the request is not valid" });
    const large = await send("POST", "/api/orders", { item: "x".repeat(1_100_000) });
    assert.equal(large.status, 413);
  });

  it("shows a colleague's profile without what only rules need", async () => {
    const profile = await json(await get("/api/users/u-3"));
    assert.equal(profile["department"], "support");
    assert.equal("permissions" in profile, false);
    assert.equal((await get("/api/users/u-99")).status, 404);
  });

  it("echoes identity headers and no others, repeated ones joined, UTF-8 read as such", async () => {
    const nobody = await json(await get("/api/whoami"));
    assert.deepEqual(nobody, { signed_in: false, headers: {} });

    const answer = await new Promise<string>((resolve, reject) => {
      const request = httpRequest(`${app.url}/api/whoami`, (response) => {
        response.setEncoding("utf8");
        let text = "";
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => {
          resolve(text);
        });
      });
      request.on("error", reject);
      request.setHeader("x-user-id", "u-2");
      request.setHeader("x-user-name", Buffer.from("Zoë", "utf8").toString("latin1"));
      request.setHeader("x-user-role", ["viewer", "admin"]);
      request.setHeader("x-customer-id", "c-1");
      request.setHeader("x-other", "no");
      request.end();
    });
    assert.deepEqual(JSON.parse(answer), {
      signed_in: true,
      headers: {
        "x-customer-id": "c-1",
        "x-user-id": "u-2",
        "x-user-name": "Zoë",
        "x-user-role": "viewer, admin",
      },
    });
  });

  it("serves its pages as HTML that greets whoever the gateway says is there", async () => {
    for (const path of ["/", "/dashboard", "/admin/settings"]) {
      const page = await get(path);
      assert.equal(page.status, 200, path);
      assert.match(page.headers.get("content-type")!, /^text\/html/);
      const text = await page.text();
      assert.match(text, /Not signed in/);
      assert.match(text, new RegExp(`<a href="${path}" aria-current="page">`));
    }
    const headers = { "x-user-id": "u-1", "x-user-name": "<b>&\"Ada'", "x-user-role": "admin" };
    const text = await (await get("/dashboard", { headers })).text();
    assert.match(text, /Signed in as &lt;b&gt;&amp;&quot;Ada&#39; \(admin\)/);
    assert.match(text, /Saffron &amp; Salt/);
    assert.match(await (await get("/", { headers: { "x-user-id": "u-9" } })).text(), /Signed in as u-9</);
  });

  it("escapes what callers have stored", async () => {
    await send("PUT", "/api/customers/c-1", { name: "<script>alert(1)</script>" });
    const text = await (await get("/dashboard")).text();
    assert.doesNotMatch(text, /<script>/);
    assert.match(text, /&lt;script&gt;/);
  });

  it("serves every file its pages ask for", async () => {
    const text = await (await get("/")).text();
    const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
    assert.ok(files.length >= 2);
    for (const file of files) assert.equal((await get(file)).status, 200, file);
    assert.match((await get("/assets/style.css")).headers.get("content-type")!, /^text\/css/);
    assert.match((await get("/assets/logo.svg")).headers.get("content-type")!, /^image\/svg\+xml/);
    assert.equal((await get("/assets/constructor")).status, 404);
  });

  it("answers 404 as JSON, and names no framework", async () => {
    const answer = await get("/nothing");
    assert.equal(answer.status, 404);
    assert.deepEqual(await json(answer), { error: "no such page" });
    assert.equal(answer.headers.get("x-powered-by"), null);
  });

  it("answers 400 for a path it cannot decode, and goes on", async () => {
    const answer = await get("/api/customers/%E0%A4%A");
    assert.equal(answer.status, 400);
    assert.equal((await get("/health")).status, 200);
  });

  it("counts the requests that reached it, health checks aside, and logs them", async () => {
    const lines: object[] = [];
    const logged = await startDemoApplication({ port: 0, log: { info: (object) => lines.push(object) } });
    try {
      await fetch(`${logged.url}/health`);
      assert.equal(logged.requests, 0);
      await fetch(`${logged.url}/api/customers?status=active`);
      await fetch(`${logged.url}/nothing`, { method: "POST" });
      assert.equal(logged.requests, 2);
      assert.deepEqual(lines, [
        { method: "GET", path: "/api/customers" },
        { method: "POST", path: "/nothing" },
      ]);
    } finally {
      await logged.close();
    }
  });

  it("closes with connections still open", async () => {
    const own = await startDemoApplication({ port: 0 });
    await (await fetch(`${own.url}/health`)).text(); // fetch keeps the connection alive
    await own.close();
    await own.close(); // once more does no harm
    await assert.rejects(fetch(`${own.url}/health`));
  });
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadGatewayConfig } from "../../src/config/index.ts";
import type { ControlContext } from "../../src/control/platform/context.ts";
import { startControlPlane, type ControlPlane } from "../../src/processes/control-plane/start.ts";
import { createControlPlaneMetrics } from "../../src/telemetry/control-plane-metrics.ts";
import { silentLog } from "../decision/support.ts";
import { sendRaw } from "../gateway/support/client.ts";
import { hex, startCollector } from "../support/collector.ts";
import { temporaryDirectory, testDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { makeKey } from "../support/guarded-control.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

interface Line {
  readonly request_id: string;
  readonly operation: string;
  readonly path?: string;
  readonly status?: number;
  readonly code?: string;
  readonly caller: { readonly kind: string; readonly id?: string };
  readonly client_ip: string;
  readonly trace_id?: string;
}

describe("control: what is observed of requests to the API", () => {
  let database: TestDatabase;
  let collector: Awaited<ReturnType<typeof startCollector>>;
  let metrics: ReturnType<typeof createControlPlaneMetrics>;
  let plane: ControlPlane;
  let file: string;
  let url: string;
  let context: ControlContext;

  const configOf = (accessLog: string) => {
    const loaded = loadGatewayConfig({
      overrides: {
        "api.port": 0,
        "api.environments": ["production"],
        "api.data_directory": file,
        "api.encryption_key": Buffer.alloc(32, 1).toString("base64"),
        "api.access_log": accessLog,
        "database.url": database.url,
        "telemetry.tracing.endpoint": collector.endpoint,
        "telemetry.tracing.sample_ratio": 0,
      },
      env: {},
    });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    return loaded.config;
  };

  before(async () => {
    [database, collector] = await Promise.all([testDatabase(), startCollector()]);
    const folder = await temporaryDirectory();
    file = join(folder, "api.log");
    metrics = createControlPlaneMetrics();
    plane = await startControlPlane(configOf(file), { log: silentLog, metrics });
    const [served] = plane.environments;
    assert.ok(served);
    ({ url, context } = served);
  });
  after(async () => {
    await plane.close();
    collector.close();
    await database.close();
  });

  const lines = async () =>
    (await readFile(file, "utf8"))
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") => {
    const response = await fetch(`${url}${path}`, { method, headers, redirect: "manual" });
    await response.arrayBuffer();
    const id = response.headers.get("x-request-id") ?? "";
    const line = await eventually("its line", async () =>
      (await lines()).find(({ request_id }) => request_id === id),
    );
    return { status: response.status, line, id };
  };

  it("a request is a line, with its route, its caller and its answer", async () => {
    const key = await makeKey({ context });
    const authorization = `Bearer ${key.secret}`;
    const listed = await ask("/v1/customers?limit=3", { authorization });
    assert.deepEqual(
      [listed.line.operation, listed.line.path, listed.line.status, listed.line.code],
      ["listCustomers", "/v1/customers", 200, undefined],
    );
    assert.deepEqual(listed.line.caller, { kind: "api_key", id: key.row.id });
    assert.equal(listed.line.client_ip, "127.0.0.1");
    const id = "cus_00000000000000000000000001";
    const missing = await ask(`/v1/customers/${id}`, { authorization });
    assert.deepEqual(
      [missing.line.path, missing.line.status, missing.line.code],
      [`/v1/customers/${id}`, 404, "INVALID_CUSTOMER"],
    );
    const health = await ask("/healthz");
    assert.deepEqual([health.line.operation, health.line.path], ["health", undefined]);
    const wellKnown = await ask("/.well-known/openid-configuration");
    assert.deepEqual(
      [wellKnown.line.operation, wellKnown.line.path],
      ["well_known", "/.well-known/openid-configuration"],
    );
  });

  it("no secret and nothing personal is in a line, wherever somebody puts it", async () => {
    const key = await makeKey({ context });
    const secrets = ["hunter2", "ada@example.com", "eyJhbGciOi", key.secret, "s3cr3tcode"];
    const authorization = `Bearer ${key.secret}`;
    for (const secret of secrets) {
      const text = encodeURIComponent(secret);
      await ask(`/v1/customers/${text}`, { authorization });
      await ask(`/v1/customers?search=${text}&${text}=1`, { authorization });
      await ask(`/v1/${text}`, { authorization });
      await ask(`/${text}`, {});
      await ask(`/oauth2/${text}`, {});
      await ask(`/.well-known/${text}`, {});
      await ask(`/v1/auth/callback?code=${text}&state=${text}`, { cookie: `a=${text}`, "user-agent": text });
      await ask(`/v1/customers`, { authorization: `Bearer ${secret}`, "x-request-id": `a ${text}` });
    }
    const text = await readFile(file, "utf8");
    for (const secret of secrets) assert.ok(!text.includes(secret), secret);
  });

  it("a request whose client leaves has no status", async () => {
    const { secret } = await makeKey({ context });
    const { length } = await lines();
    const head = [
      "POST /v1/customers HTTP/1.1",
      "Host: a",
      `Authorization: Bearer ${secret}`,
      "Content-Type: application/json",
      "Content-Length: 10",
      // says that the request has arrived
      "Expect: 100-continue",
    ];
    const arrived = (text: string) => text.includes("100 Continue");
    const answer = await sendRaw(Number(new URL(url).port), [...head, "", "{"].join("\r\n"), arrived);
    assert.equal(answer, "HTTP/1.1 100 Continue\r\n\r\n");
    const line = await eventually("its line", async () => (await lines())[length]);
    assert.deepEqual([line.operation, line.status], ["createCustomer", undefined]);
  });

  it("counts requests by operation and status, and how long they took", async () => {
    const before = await metrics.registry.getMetricsAsJSON();
    assert.ok(before.length > 0);
    const count = async (status: string) => {
      const text = await metrics.registry.metrics();
      const found = new RegExp(
        `^gatehouse_api_requests_total\\{environment="production",operation="listCustomers",status="${status}"\\} (\\d+)$`,
        "m",
      ).exec(text);
      return Number(found?.[1] ?? 0);
    };
    const denied = await count("401");
    await ask("/v1/customers");
    assert.equal(await count("401"), denied + 1);
    assert.match(
      await metrics.registry.metrics(),
      /gatehouse_api_request_duration_seconds_count\{environment="production",operation="listCustomers"\} [1-9]/,
    );
  });

  it("a request continues its caller's trace, over OTLP", async () => {
    const { line } = await ask("/v1/customers?search=hunter2", { traceparent: `00-${TRACE}-${PARENT}-01` });
    assert.equal(line.trace_id, TRACE);
    assert.equal((await ask("/v1/customers")).line.trace_id, undefined);
    const span = await eventually("the span", () => collector.spans()[0], 30_000);
    assert.deepEqual(
      [span.name, hex(span.traceId), hex(span.parentSpanId), span.kind],
      ["GET /v1/customers", TRACE, PARENT, 2],
    );
    const attributes = new Map(span.attributes?.map(({ key, value }) => [key, Object.values(value)[0]]));
    assert.equal(attributes.get("http.route"), "/v1/customers");
    assert.equal(attributes.get("http.response.status_code"), 401);
    assert.equal(attributes.get("gatehouse.operation"), "listCustomers");
    assert.ok(!JSON.stringify(span).includes("hunter2"));
    assert.equal(collector.spans().length, 1);
  });

  it("does not start if the access log cannot be written, and says which key is wrong", async () => {
    await assert.rejects(
      startControlPlane(configOf(join(file, "below.log")), { log: silentLog }),
      /^Error: api\.access_log: cannot write /,
    );
  });

  describe("records of refused calls", () => {
    const records = async (id: string, authorization: string) => {
      const response = await fetch(`${url}/v1/audit/logs?kind=refused_call&request_id=${id}`, {
        headers: { authorization },
      });
      assert.equal(response.status, 200);
      return ((await response.json()) as { data: Record<string, unknown>[] }).data;
    };

    it("say who was refused what, and why", async () => {
      const reader = await makeKey({ context });
      const authorization = `Bearer ${reader.secret}`;
      const weak = await makeKey({ context }, { scope: "read_only" });
      const refused = await ask("/v1/customers", { authorization: `Bearer ${weak.secret}` }, "POST");
      assert.equal(refused.status, 403);
      const [record, ...more] = await eventually("the record", async () => {
        const found = await records(refused.id, authorization);
        return found.length > 0 ? found : undefined;
      });
      assert.deepEqual(more, []);
      const { id: _id, timestamp: _timestamp, ...rest } = record ?? {};
      assert.deepEqual(rest, {
        kind: "refused_call",
        user_id: weak.row.id,
        request_id: refused.id,
        actor: { kind: "api_key", id: weak.row.id },
        operation: "createCustomer",
        method: "POST",
        path: "/v1/customers",
        status: 403,
        code: "INSUFFICIENT_SCOPE",
        client_ip: "127.0.0.1",
      });
    });

    it("of a key that is known, but over; of nobody known; and not of calls that only failed", async () => {
      const reader = await makeKey({ context });
      const authorization = `Bearer ${reader.secret}`;
      const revoked = await makeKey({ context });
      await context.db("api_keys").where({ id: revoked.row.id }).update({ revoked_at: new Date() });
      const over = await ask("/v1/users", { authorization: `Bearer ${revoked.secret}` });
      const unknown = await ask("/v1/users", { authorization: "Bearer ghk_live_nothing" });
      const missing = await ask("/v1/nothing", { authorization });
      assert.deepEqual([over.status, unknown.status, missing.status], [401, 401, 404]);
      const found = await eventually("both records", async () => {
        const both = [await records(over.id, authorization), await records(unknown.id, authorization)].flat();
        return both.length === 2 ? both : undefined;
      });
      assert.deepEqual(
        found.map(({ code, user_id }) => [code, user_id]),
        [
          ["API_KEY_REVOKED", revoked.row.id],
          ["UNAUTHORIZED", ""],
        ],
      );
      assert.deepEqual(await records(missing.id, authorization), []);
    });

    it("are few per second, whoever floods; the others are counted", async () => {
      const counts = async () => {
        const { values } = await metrics.apiRefusals.get();
        return Object.fromEntries(values.map(({ labels, value }) => [labels.record, value]));
      };
      const before = await counts();
      const total = (of: Readonly<Record<string, number>>) => (of["recorded"] ?? 0) + (of["rate"] ?? 0);
      let after = before;
      // the slower the machine is, the more of them have a record
      for (let sent = 200; (after["rate"] ?? 0) - (before["rate"] ?? 0) < 100; sent += 200) {
        assert.ok(sent <= 2_000, JSON.stringify({ before, after }));
        await Promise.all(Array.from({ length: 200 }, () => fetch(`${url}/v1/users`).then((r) => r.text())));
        after = await eventually("all counts", async () => {
          const now = await counts();
          return total(now) - total(before) >= sent ? now : undefined;
        });
      }
      // a flood of strangers leaves room for those who are known
      const weak = await makeKey({ context }, { scope: "read_only" });
      const reader = await makeKey({ context });
      const { id } = await ask("/v1/customers", { authorization: `Bearer ${weak.secret}` }, "POST");
      await eventually("the record", async () => (await records(id, `Bearer ${reader.secret}`)).length === 1);
    });
  });
});

import assert from "node:assert/strict";
import { startAdminServer, type AdminServerOptions } from "../../src/telemetry/admin-server.ts";

async function withServer(
  changes: Partial<AdminServerOptions>,
  run: (url: string, errors: string[]) => Promise<void>,
): Promise<void> {
  const errors: string[] = [];
  const server = await startAdminServer({
    port: 0,
    metrics: () => Promise.resolve({ contentType: "text/plain; version=0.0.4", body: "a_total 1\n" }),
    health: () => true,
    ready: () => ({ ready: true, checks: { policies: { ok: true, detail: "default@v1 is in force" } } }),
    log: { error: (_fields, message) => void errors.push(message) },
    ...changes,
  });
  try {
    await run(`http://127.0.0.1:${server.port}`, errors);
  } finally {
    await server.close();
  }
}

describe("telemetry: admin server", () => {
  it("says that it is alive, and that it is not", async () => {
    let alive = true;
    await withServer({ health: () => alive }, async (url) => {
      const response = await fetch(`${url}/healthz`);
      assert.deepEqual([response.status, await response.json()], [200, { healthy: true }]);
      alive = false;
      assert.equal((await fetch(`${url}/healthz`)).status, 503);
    });
  });

  it("names the checks of readiness", async () => {
    const checks = {
      policies: { ok: true, detail: "default@v1 is in force" },
      issuer_keys: { ok: false, detail: "cannot resolve login.example.com" },
    };
    let ready = false;
    await withServer({ ready: () => ({ ready, checks }) }, async (url) => {
      const response = await fetch(`${url}/readyz?verbose`);
      assert.deepEqual([response.status, await response.json()], [503, { ready: false, checks }]);
      assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
      ready = true;
      assert.equal((await fetch(`${url}/readyz`)).status, 200);
    });
  });

  it("serves metrics with their content type", async () => {
    await withServer({}, async (url) => {
      const response = await fetch(`${url}/metrics`);
      assert.deepEqual([response.status, await response.text()], [200, "a_total 1\n"]);
      assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4");
    });
  });

  it("has no health and readiness where they are served elsewhere", async () => {
    const server = await startAdminServer({
      port: 0,
      metrics: () => Promise.resolve({ contentType: "text/plain", body: "a_total 1\n" }),
      log: { error: () => undefined },
    });
    try {
      const status = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}${path}`)).status;
      assert.deepEqual([await status("/healthz"), await status("/readyz")], [404, 404]);
      assert.equal(await status("/metrics"), 200);
    } finally {
      await server.close();
    }
  });

  it("answers HEAD without a body, other methods with 405, other paths with 404", async () => {
    await withServer({}, async (url) => {
      const head = await fetch(`${url}/metrics`, { method: "HEAD" });
      assert.deepEqual([head.status, head.headers.get("content-length"), await head.text()], [200, "10", ""]);
      const post = await fetch(`${url}/metrics`, { method: "POST", body: "x" });
      assert.deepEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
      const other = await fetch(`${url}/metrics/x`);
      assert.deepEqual([other.status, await other.json()], [404, { error: "not found" }]);
    });
  });

  it("answers 500, and is not ready, when asking fails", async () => {
    const fail = () => {
      throw new Error("broken");
    };
    await withServer(
      { metrics: () => Promise.reject(new Error("broken")), ready: fail },
      async (url, errors) => {
        for (const path of ["/metrics", "/readyz"]) {
          const response = await fetch(url + path);
          assert.deepEqual([response.status, await response.json()], [500, { error: "internal error" }]);
        }
        assert.equal(errors.length, 2);
      },
    );
  });

  it("rejects when it cannot listen, and lets go of the port when closed", async () => {
    let port = 0;
    await withServer({}, async (url) => {
      port = Number(new URL(url).port);
      await assert.rejects(
        withServer({ port }, () => Promise.resolve()),
        { code: "EADDRINUSE" },
      );
    });
    await withServer({ port }, async (url) => {
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    });
  });
});

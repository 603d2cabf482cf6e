import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startOpenIdProvider, type OpenIdProvider } from "../../support/providers/openid-provider.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";

const POLICIES = `
policies:
  - name: everybody-reads-news
    resource: "GET /news.txt"
    condition: "true"
  - resource: "GET /reports/{name}"
    condition: user.id == "reader"
  - resource: "POST /reports/{name}"
    condition: user.id == "reader"
  - resource: "GET /secret.txt"
    condition: user.id == "somebody-else"
`;

describe("end to end: an upstream and an OpenID provider that know nothing of the gateway", () => {
  let upstream: ChildProcess;
  let files: string;
  let provider: OpenIdProvider;
  let gateway: RunningGateway;

  before(async () => {
    files = await mkdtemp(join(tmpdir(), "gatehouse-files-"));
    await writeFile(join(files, "news.txt"), "news");
    await writeFile(join(files, "secret.txt"), "secret");
    const port = await freePort();
    upstream = spawn(
      "python3",
      ["-m", "http.server", String(port), "--bind", "127.0.0.1", "--directory", files],
      {
        stdio: "ignore",
      },
    );
    await eventually("the upstream", async () => (await fetch(`http://127.0.0.1:${port}/news.txt`)).ok);
    provider = await startOpenIdProvider();
    gateway = await startGateway({
      backend: `http://127.0.0.1:${port}`,
      issuer: { url: provider.issuer, audience: provider.audience },
      policies: { "default.yaml": POLICIES },
      config: {
        gateway: {
          listen_port: 0,
          backend: `http://127.0.0.1:${port}`,
          security: { request_size_limit: "1KB" },
        },
      },
    });
  });

  after(async () => {
    await gateway.stop();
    await provider.close();
    upstream.kill();
    await rm(files, { recursive: true });
  });

  const get = (path: string, token?: string) =>
    fetch(
      `${gateway.url}${path}`,
      token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
    );

  it("allows what a rule permits to everybody", async () => {
    const answer = await get("/news.txt");
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), "news");
  });

  it("allows what a rule permits to the one who asks", async () => {
    const answer = await get("/reports/none", await provider.token("reader"));
    assert.equal(answer.status, 404); // the upstream's own answer: the request went through
    assert.match(await answer.text(), /File not found/);
  });

  it("answers 401 where it must know who asks, and says how", async () => {
    const answer = await get("/secret.txt");
    assert.equal(answer.status, 401);
    assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer/);
    const body = (await answer.json()) as { success: boolean; error: { code: string } };
    assert.deepEqual([body.success, body.error.code], [false, "IDENTITY_REQUIRED"]);
  });

  it("answers 403 where the condition is false, and where there is no rule", async () => {
    const token = await provider.token("reader");
    const denied = await get("/secret.txt", token);
    assert.equal(denied.status, 403);
    assert.equal(
      ((await denied.json()) as { error: { details: { reason: string } } }).error.details.reason,
      "CONDITION_FALSE",
    );
    assert.equal((await get("/other.txt", token)).status, 403);
  });

  it("answers 400 where the path can be read in two ways", async () => {
    const answer = await sendRaw(gateway.port, rawGet("/reports/..%252fsecret.txt"));
    assert.equal(answer.status, 400);
    assert.match(answer.body, /AMBIGUOUS_PATH/);
  });

  it("answers 413 where the request is too large", async () => {
    const answer = await fetch(`${gateway.url}/reports/q1`, {
      method: "POST",
      body: "x".repeat(2000),
      headers: { authorization: `Bearer ${await provider.token("reader")}` },
    });
    assert.equal(answer.status, 413);
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, "REQUEST_TOO_LARGE");
  });

  it("has written one record for every decision, and no token in any", async () => {
    const token = await provider.token("reader");
    await get("/secret.txt?access_token=hidden-value", token);
    // Envoy tells of what it refuses itself a little later
    const records = await eventually("the records", async () => {
      const lines = await gateway.audit();
      const there =
        lines.some((line) => line["raw_path"] === "/secret.txt?access_token=***") &&
        lines.some((line) => line["reason"] === "REQUEST_TOO_LARGE");
      return there ? lines : undefined;
    });
    const text = JSON.stringify(records);
    assert.ok(!text.includes(token) && !text.includes("hidden-value"));
    assert.deepEqual(
      new Set(records.map(({ reason }) => reason)),
      new Set([
        "CONDITION_TRUE",
        "IDENTITY_REQUIRED",
        "CONDITION_FALSE",
        "NO_MATCHING_RULE",
        "AMBIGUOUS_PATH",
        "REQUEST_TOO_LARGE",
      ]),
    );
    await eventually("decisions = recorded + dropped", async () => {
      const [decided, recorded, dropped] = await Promise.all([
        gateway.metric("gatehouse_decisions_total"),
        gateway.metric("gatehouse_audit_recorded_total"),
        gateway.metric("gatehouse_audit_dropped_total"),
      ]);
      return decided === records.length && decided === recorded + dropped;
    });
  });

  it("prints exactly one line on stdout when it is ready, and ends with 0 on SIGTERM", async () => {
    const other = await startGateway({
      backend: provider.issuer,
      issuer: { url: provider.issuer, audience: provider.audience },
      policies: { "default.yaml": POLICIES },
    });
    const ended = new Promise<number | null>((resolve) => other.process.once("exit", resolve));
    other.process.kill("SIGTERM");
    assert.equal(await ended, 0);
    await other.stop();
  });
});

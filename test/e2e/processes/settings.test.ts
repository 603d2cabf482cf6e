import assert from "node:assert/strict";
import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, status as GrpcStatus, type ServiceError } from "@grpc/grpc-js";
import { allWorkersAnswer } from "../../support/all-workers.ts";
import { selfSigned } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `
policies:
  - resource: "GET /open"
    condition: "true"
  - resource: "GET /mine/{id}"
    condition: user.id == path.id
  - resource: "GET /local"
    condition: request.client_ip.startsWith("10.")
`;

describe("end to end: settings of the gateway", () => {
  let upstream: RecordingUpstream;
  let second: RecordingUpstream;
  let issuer: TestIssuer;
  const gateways: RunningGateway[] = [];

  before(async () => {
    [upstream, second, issuer] = await Promise.all([
      startRecordingUpstream(),
      startRecordingUpstream(),
      startIssuer(),
    ]);
  });
  after(() => Promise.all([upstream.close(), second.close(), issuer.close()]));
  afterEach(() => Promise.all(gateways.splice(0).map((gateway) => gateway.stop())));

  const start = async (
    gateway: Record<string, unknown>,
    more: Record<string, Record<string, unknown>> = {},
  ) => {
    const running = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        gateway,
        ...more,
      },
    });
    gateways.push(running);
    return running;
  };

  it("TLS from 1.3 on, HSTS on every answer, and a limit on requests", async () => {
    const folder = await mkdtemp(join(tmpdir(), "gatehouse-tls-"));
    const { certificate, privateKey } = await selfSigned("localhost");
    const [tls_certificate, tls_private_key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    await Promise.all([writeFile(tls_certificate, certificate), writeFile(tls_private_key, privateKey)]);
    const gateway = await start({
      security: {
        tls_min_version: "1.3",
        tls_certificate,
        tls_private_key,
        hsts_header: true,
        rate_limiting: { requests_per_second: 1, burst_size: 5 },
      },
    });
    assert.match(gateway.url, /^https:/);
    const ask = (path: string, maxVersion: "TLSv1.2" | "TLSv1.3" = "TLSv1.3") =>
      new Promise<{ status: number; hsts: unknown; retryAfter: unknown; body: string }>((resolve, reject) => {
        const options = {
          port: gateway.port,
          host: "127.0.0.1",
          servername: "localhost",
          ca: certificate,
          path,
          maxVersion,
        };
        const call = httpsRequest({ ...options, agent: false }, (answer) => {
          let body = "";
          answer.on("data", (chunk: Buffer) => (body += chunk.toString()));
          answer.on("end", () => {
            const { "strict-transport-security": hsts, "retry-after": retryAfter } = answer.headers;
            resolve({ status: answer.statusCode ?? 0, hsts, retryAfter, body });
          });
        });
        call.on("error", reject);
        call.end();
      });
    await assert.rejects(ask("/open", "TLSv1.2"), /protocol version/);
    for (const [path, status] of [
      ["/open", 200],
      ["/mine/x", 401],
      ["/none", 403],
    ] as const) {
      const answer = await ask(path);
      assert.equal(answer.status, status);
      assert.match(String(answer.hsts), /max-age=\d+/);
    }
    const limited = await eventually("an answer 429", async () => {
      const answer = await ask("/open");
      return answer.status === 429 ? answer : undefined;
    });
    assert.match(String(limited.hsts), /max-age=\d+/);
    assert.match(limited.body, /"RATE_LIMITED"/);
    await rm(folder, { recursive: true });
  });

  it("a front proxy that is trusted passes on the caller, the address and the backend", async () => {
    const gateway = await start({ trusted_proxies: ["127.0.0.0/8"], backends: [second.url] });
    const token = await issuer.token({ sub: "u-5" });
    const send = (target: string, ...headers: string[]) => sendRaw(gateway.port, rawGet(target, headers));

    assert.equal((await send("/mine/u-5", `X-User-Token: Bearer ${token}`)).status, 200);
    assert.equal(upstream.seen.at(-1)!.headers["x-user-id"], "u-5");
    assert.equal(upstream.seen.at(-1)!.headers["x-user-token"], undefined);

    assert.equal((await send("/local", "X-Real-IP: 10.1.2.3")).status, 200);
    assert.equal((await send("/local", "X-Real-IP: 192.0.2.1")).status, 403);
    assert.equal((await send("/local", "X-Real-IP: 10.1.2.3", "X-Real-IP: 192.0.2.1")).status, 400);

    const before = upstream.seen.length;
    assert.equal((await send("/open", `X-Backend-URL: ${second.url}`)).status, 200);
    assert.deepEqual([upstream.seen.length - before, second.seen.length], [0, 1]);
    assert.equal(second.seen[0]!.headers["x-backend-url"], undefined);
    assert.equal((await send("/mine/x", `X-Backend-URL: ${second.url}`)).status, 401);
    for (const other of ["http://127.0.0.1:1", `${second.url}/`, second.url.toUpperCase(), ""]) {
      const { status, body } = await send("/open", `X-Backend-URL: ${other}`);
      assert.equal(status, 400, other);
      assert.match(body, /UNKNOWN_BACKEND/);
    }
    // the names by which the gateway's own routes are chosen are nobody's else
    const chosen = `X-Gatehouse-Backend: ${second.url}`;
    for (const forged of [[chosen], [chosen, "X-Gatehouse-Plan: 1"], ["X-Gatehouse-Plan: 1"]]) {
      const reached = upstream.seen.length;
      assert.equal((await send("/open", ...forged)).status, 200);
      const { headers } = upstream.seen[reached]!;
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith("x-gatehouse-")),
        [],
      );
    }
    assert.equal(second.seen.length, 1);
    const records = await eventually("the records", async () => {
      const lines = await gateway.audit();
      return lines.length >= 10 ? lines : undefined;
    });
    assert.ok(records.some((line) => line["client_ip"] === "10.1.2.3" && line.decision === "ALLOW"));
  });

  it("paths that differ only in case, and checks that are switched off, are reported", async () => {
    const gateway = await start({ accept_ambiguous: ["letter_case", "path_parameter"] });
    assert.equal((await fetch(`${gateway.url}/OPEN`)).status, 403);
    assert.equal((await fetch(`${gateway.url}/open;v=1`)).status, 403);
    const record = await eventually("the record", async () =>
      (await gateway.audit()).find((line) => line["accepted_ambiguities"] !== undefined),
    );
    assert.deepEqual(record["accepted_ambiguities"], ["path_parameter"]);
    assert.equal(
      await gateway.metric("gatehouse_accepted_ambiguities_total", { check: "path_parameter" }),
      1,
    );
  });

  it("answers browsers with a page, gRPC callers with a gRPC status, HTTP/2 as HTTP/1.1", async () => {
    const gateway = await start({});
    const page = await fetch(`${gateway.url}/mine/x`, { headers: { accept: "text/html,*/*;q=0.8" } });
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.match(await page.text(), /^<!doctype html>/i);

    const caller = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
    const error = await new Promise<ServiceError | null>((resolve) => {
      const bytes = (buffer: Buffer) => buffer;
      caller.makeUnaryRequest("/pkg.Service/Method", bytes, bytes, Buffer.alloc(0), resolve);
    });
    caller.close();
    assert.equal(error?.code, GrpcStatus.PERMISSION_DENIED);

    const session = connectHttp2(gateway.url);
    const status = await new Promise((resolve, reject) => {
      session.on("error", reject);
      const stream = session.request({ ":path": "/open" });
      stream.on("response", (headers) => {
        resolve(headers[":status"]);
      });
      stream.on("error", reject);
      stream.resume();
    });
    session.close();
    assert.equal(status, 200);
  });

  it("tells the client nothing but that it was denied, where that is wanted", async () => {
    const gateway = await start({ denial_details: "none" });
    const body = (await (await fetch(`${gateway.url}/none`)).json()) as {
      error: { code: string; details?: unknown };
    };
    assert.equal(body.error.code, "ACCESS_DENIED");
    assert.ok(!JSON.stringify(body).includes("NO_MATCHING_RULE"));
  });

  it("keeps working with a rotated key, and with the issuer gone", async () => {
    const own = await startIssuer();
    const gateway = await startGateway({
      backend: upstream.url,
      issuer: own,
      policies: { "default.yaml": POLICIES },
      config: { identity: { issuer: own.url, audience: own.audience, jwks_cooldown: "1s" } },
    });
    gateways.push(gateway);
    const ask = async (token: string) =>
      (await fetch(`${gateway.url}/mine/u-1`, { headers: { authorization: `Bearer ${token}` } })).status;
    assert.equal(await ask(await own.token()), 200);
    await own.rotate();
    const rotated = await own.token();
    await allWorkersAnswer("the new key", "200", async () => String(await ask(rotated)));
    const late = await own.token({ jti: "signed before the issuer went away" });
    await own.close();
    assert.equal(await ask(late), 200);
  });
});

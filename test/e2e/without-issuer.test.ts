import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { allWorkersAnswer } from "../support/all-workers.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/issuer.ts";
import { startRecordingUpstream, type RecordingUpstream } from "../support/recording-upstream.ts";

const POLICIES = `policies:
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /mine", condition: user.role == "admin" }
  - { resource: "GET /either", condition: request.query.pass == "yes" or user.role == "admin" }
  - { resource: "GET /never", condition: request.query.pass == "no" }
`;

/** Decision 0002, with every spelling of who is asking. */
describe("end to end: a gateway that has never reached its issuer", () => {
  let issuer: TestIssuer;
  let front: Server;
  let away = true;
  let upstream: RecordingUpstream;
  let gateway: RunningGateway;
  let url: string;
  let token: string;

  before(async () => {
    issuer = await startIssuer();
    // the issuer's address, which answers only when it is told to
    front = createServer((request, response) => {
      if (away) {
        response.socket?.destroy();
        return;
      }
      void fetch(`${issuer.url}${request.url ?? ""}`)
        .then((answer) => answer.text())
        .then((text) => response.end(text.replaceAll(issuer.url, address)));
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
    token = await issuer.token({ iss: address, role: "admin" });
    upstream = await startRecordingUpstream();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    gateway = await startGateway({
      backend: upstream.url,
      issuer: { url: address, audience: issuer.audience },
      policies: { "default.yaml": POLICIES },
      config: {
        gateway: { backend: upstream.url, listen_port: port, cluster: { nodes: 2 } },
        identity: {
          issuer: address,
          audience: issuer.audience,
          cookie: "session",
          jwks_cooldown: "1s",
          jwks_refresh_interval: "1s",
          jwks_max_stale: "5s",
        },
      },
      unready: true,
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
    front.closeAllConnections();
    front.close();
    await issuer.close();
  });

  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${url}${path}`, { headers }).catch(() => undefined);
    if (answer === undefined) return "no answer";
    const reason = /"reason":"(\w+)"/.exec(await answer.text())?.[1];
    return `${answer.status}${reason === undefined ? "" : ` ${reason}`}`;
  };
  const ready = async () => {
    const answer = await fetch(`${gateway.adminUrl}/readyz`);
    return {
      status: answer.status,
      body: (await answer.json()) as {
        ready: boolean;
        checks: Record<string, { ok: boolean; detail: string }>;
      },
    };
  };
  const callers = () => ({
    nobody: {},
    "a token": { authorization: `Bearer ${token}` },
    "a forged token": { authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` },
    "no token at all": { authorization: "Bearer nonsense" },
    "a cookie": { cookie: `session=${token}` },
    "a cookie of nonsense": { cookie: "session=nonsense" },
  });
  type Callers = ReturnType<typeof callers>;

  const TABLE: Readonly<Record<string, Readonly<Record<keyof Callers, string>>>> = {
    "/open": {
      nobody: "200",
      "a token": "200",
      "a forged token": "200",
      "no token at all": "401 TOKEN_MALFORMED",
      "a cookie": "200",
      "a cookie of nonsense": "200",
    },
    "/mine": {
      nobody: "401 IDENTITY_REQUIRED",
      "a token": "503 IDENTITY_NOT_READY",
      "a forged token": "503 IDENTITY_NOT_READY",
      "no token at all": "401 TOKEN_MALFORMED",
      "a cookie": "503 IDENTITY_NOT_READY",
      "a cookie of nonsense": "401 TOKEN_MALFORMED",
    },
    "/either?pass=yes": {
      nobody: "200",
      "a token": "503 IDENTITY_NOT_READY",
      "a forged token": "503 IDENTITY_NOT_READY",
      "no token at all": "401 TOKEN_MALFORMED",
      "a cookie": "503 IDENTITY_NOT_READY",
      "a cookie of nonsense": "401 TOKEN_MALFORMED",
    },
    "/never": {
      nobody: "403 CONDITION_UNKNOWN",
      "a token": "403 CONDITION_UNKNOWN",
      "a forged token": "403 CONDITION_UNKNOWN",
      "no token at all": "401 TOKEN_MALFORMED",
      "a cookie": "403 CONDITION_UNKNOWN",
      "a cookie of nonsense": "403 CONDITION_UNKNOWN",
    },
  };

  it("decides about open rules without the token, and answers 503 where one is needed", async () => {
    await eventually("an answer by a worker", async () => (await ask("/open")) === "200");
    const found: Record<string, Record<string, string>> = {};
    for (const path of Object.keys(TABLE)) {
      found[path] = {};
      for (const [who, headers] of Object.entries(callers())) found[path][who] = await ask(path, headers);
    }
    assert.deepEqual(found, TABLE);
  });

  it("lets nobody pass for somebody meanwhile", async () => {
    await ask("/open", { ...callers()["a token"], "x-user-id": "forged", "x-user-role": "admin" });
    const { headers } = upstream.seen.at(-1)!;
    assert.deepEqual([headers["x-user-id"], headers["x-user-role"]], [undefined, undefined]);
  });

  it("is not ready, says why, and records what it decides", async () => {
    const { status, body } = await ready();
    assert.equal(status, 503);
    assert.deepEqual(body, {
      ready: false,
      checks: {
        envoy: { ok: true, detail: "running" },
        workers: { ok: false, detail: "0 of 2 are ready" },
        policies: { ok: true, detail: "default@v0 is in force" },
        issuer_keys: { ok: false, detail: `${new URL(gatewayIssuer()).host} broke off the connection` },
      },
    });
    const records = (await gateway.audit()).filter(({ resource }) => resource === "/open");
    assert.ok(records.some(({ decision, reason }) => decision === "ALLOW" && reason === "CONDITION_TRUE"));
  });
  const gatewayIssuer = () => `http://127.0.0.1:${(front.address() as AddressInfo).port}`;

  it("decides about everything once the issuer is there", async () => {
    away = false;
    await eventually("readiness", async () => (await ready()).status === 200);
    await allWorkersAnswer("the token's owner", "200", () => ask("/mine", callers()["a token"]));
    assert.equal(await ask("/open", callers()["a forged token"]), "401 TOKEN_SIGNATURE_INVALID");
    assert.equal(await ask("/open"), "200");
    const { body } = await ready();
    assert.deepEqual(body.checks["issuer_keys"], { ok: true, detail: "1 key" });
    assert.deepEqual(body.checks["workers"], { ok: true, detail: "2 of 2 are ready" });
  });

  it("comes back to that when the keys have become too old", async () => {
    away = true;
    await eventually("it is not ready", async () => (await ready()).status === 503);
    await allWorkersAnswer("503 for tokens", "503 IDENTITY_NOT_READY", () =>
      ask("/mine", callers()["a token"]),
    );
    await allWorkersAnswer("open rules", "200", () => ask("/open"));
    assert.equal(await ask("/open", callers()["a token"]), "200");
    assert.match(
      (await ready()).body.checks["issuer_keys"]?.detail ?? "",
      /too old since .*broke off the connection/,
    );
    away = false;
    await allWorkersAnswer("the token's owner", "200", () => ask("/mine", callers()["a token"]));
  });
});

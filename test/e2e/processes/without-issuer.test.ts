import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { allWorkersAnswer } from "../../support/all-workers.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `policies:
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /mine", condition: user.role == "admin" }
  - { resource: "GET /either", condition: request.query.pass == "yes" or user.role == "admin" }
  - { resource: "GET /never", condition: request.query.pass == "no" }
`;

/** The issuer under an address of its own, where nobody answers while it is away. */
async function startFront(
  issuer: TestIssuer,
  isAway: () => boolean,
): Promise<{ front: Server; address: string }> {
  const front = createServer((request, response) => {
    if (isAway()) {
      response.socket?.destroy();
      return;
    }
    void fetch(`${issuer.url}${request.url ?? ""}`)
      .then((answer) => answer.text())
      .then((text) => response.end(text.replaceAll(issuer.url, address)));
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  return { front, address };
}

/** Decision 0002, with every spelling of who is asking. */
describe("end to end: a gateway that has never reached its issuer", () => {
  let issuer: TestIssuer;
  let front: Server;
  let address: string;
  let away = true;
  let upstream: RecordingUpstream;
  let gateway: RunningGateway;
  let url: string;
  let token: string;

  before(async () => {
    issuer = await startIssuer();
    ({ front, address } = await startFront(issuer, () => away));
    token = await issuer.token({ iss: address, role: "admin" });
    upstream = await startRecordingUpstream();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    gateway = await startGateway({
      backend: upstream.url,
      issuer: { url: address, audience: issuer.audience },
      policies: { "default.yaml": POLICIES },
      nodes: 2,
      config: {
        gateway: { listen_port: port },
        identity: {
          issuer: address,
          audience: issuer.audience,
          cookie: "session",
          jwks_cooldown: "1s",
          jwks_refresh_interval: "1s",
          jwks_max_stale: "7s",
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
    await eventually("policies in all workers", async () => {
      const { checks } = (await ready()).body;
      const { policies, issuer_keys: keys } = checks;
      return policies?.ok === true && keys !== undefined && !/^worker|^not fetched/.test(keys.detail);
    });
    await allWorkersAnswer("the open rule", "200", () => ask("/open"));
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
        issuer_keys: { ok: false, detail: `${new URL(address).host} closed the connection` },
      },
    });
    await eventually("the record", async () =>
      (await gateway.audit()).some(
        ({ resource, decision, reason }) =>
          resource === "/open" && decision === "ALLOW" && reason === "CONDITION_TRUE",
      ),
    );
  });

  it("decides about everything once the issuer is there", async () => {
    away = false;
    await eventually("readiness", async () => (await ready()).body.checks["workers"]?.ok);
    assert.equal((await ready()).status, 200);
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
      /expired at .*closed the connection/,
    );
    away = false;
    await allWorkersAnswer("the token's owner", "200", () => ask("/mine", callers()["a token"]));
  });
});

describe("end to end: workers that start again while the issuer is away", () => {
  it("leave requests to one that has the keys, and decide about open rules where none has", async () => {
    const issuer = await startIssuer();
    const upstream = await startRecordingUpstream();
    let away = false;
    const { front, address } = await startFront(issuer, () => away);
    const token = await issuer.token({ iss: address, role: "admin" });
    const gateway = await startGateway({
      backend: upstream.url,
      issuer: { url: address, audience: issuer.audience },
      policies: { "default.yaml": POLICIES },
      nodes: 2,
      config: {
        identity: { issuer: address, audience: issuer.audience, jwks_cooldown: "1s" },
      },
    });
    const ask = async (path: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${gateway.url}${path}`, { headers });
      const reason = /"reason":"(\w+)"/.exec(await answer.text())?.[1];
      return `${answer.status}${reason === undefined ? "" : ` ${reason}`}`;
    };
    const ready = async () => {
      const answer = await fetch(`${gateway.adminUrl}/readyz`);
      return `${answer.status} ${await answer.text()}`;
    };
    try {
      assert.equal(await ask("/mine"), "200");
      away = true;
      const [first, second] = (await gateway.children()).workers;
      process.kill(first ?? 0, "SIGKILL");
      await eventually("one without keys", async () =>
        /^200 .*1 of 2 are ready.*worker \d: 127\.0\.0\.1:\d+ closed/.test(await ready()),
      );
      const policies = await eventually("that one has policies", async () => {
        const text = await ready();
        return text.includes('"policies":{"ok":true,"detail":"default@v0 is in force"}') && text;
      });
      assert.match(policies, /^200 /);
      // it would answer 503 to some of these
      for (let round = 0; round < 5; round += 1) {
        await allWorkersAnswer("the token's owner", "200", () => ask("/mine"));
        await allWorkersAnswer("the open rule", "200", () => ask("/open"));
      }
      process.kill(second ?? 0, "SIGKILL");
      await allWorkersAnswer("tokens without keys", "503 IDENTITY_NOT_READY", () => ask("/mine"));
      await allWorkersAnswer("the open rule without keys", "200", () => ask("/open"));
      assert.match(await ready(), /^503 .*0 of 2 are ready/);
      away = false;
      await allWorkersAnswer("the token's owner again", "200", () => ask("/mine"));
    } finally {
      await gateway.stop();
      await upstream.close();
      front.closeAllConnections();
      front.close();
      await issuer.close();
    }
  });
});

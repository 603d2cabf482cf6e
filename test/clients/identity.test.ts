import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket as HeaderSocket, WebSocketServer } from "ws";
import { eventually } from "../support/eventually.ts";
import { FakeControlPlane } from "../support/fake-control-plane.ts";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";

const POLICIES = `
version: v1
policies:
  - { resource: GET /open, condition: true }
  - { resource: GET /me, condition: exists(user.id) }
  - { resource: POST /me, condition: exists(user.id) }
  - resource: GET /invoices
    condition: user.type == "api_key" and user.permissions.includes("invoices:read") and customer.id == "cus_1"
websocket_policies:
  - connection: { path: /ws, condition: user.role == "admin" }
`;
const K8S = "base64url.bearer.authorization.k8s.io.";
const ARN = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/my-app/0123456789abcdef";
const KID = "12345678-1234-1234-1234-123456789012";
const KEY = `gh_live_${"a".repeat(38)}`;

type Headers = Readonly<Record<string, string>>;

describe("clients: identity as providers and proxies have it", () => {
  const closing: (() => unknown)[] = [];
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let plane: FakeControlPlane;
  /** What the application saw of the last request or handshake. */
  let seen: Readonly<Record<string, string | string[] | undefined>> = {};
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });

  before(async () => {
    issuer = await startIssuer();
    const application = createServer((request, response) => {
      seen = request.headers;
      response.end(request.url === `/${KID}` ? pair.publicKey.export({ type: "spki", format: "pem" }) : "{}");
    });
    const sockets = new WebSocketServer({
      server: application,
      handleProtocols: (offered) => [...offered].at(-1) ?? false,
    });
    sockets.on("connection", (socket, request) => {
      seen = request.headers;
      socket.on("message", (data: Buffer) => {
        socket.send(`echo ${data.toString()}`);
      });
    });
    await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
    const backend = `http://127.0.0.1:${(application.address() as AddressInfo).port}`;
    plane = await FakeControlPlane.start();
    plane.fault = ({ path }) => {
      const [, hash] = /^callers\/(\w+)$/.exec(path) ?? [];
      if (hash === undefined) return undefined;
      const caller = {
        hash,
        id: "key_1",
        name: "job",
        customer_id: "cus_1",
        permissions: ["invoices:read"],
        expires_at: null,
      };
      const isKnown = hash === createHash("sha256").update(KEY).digest("hex");
      return isKnown
        ? { status: 200, body: JSON.stringify({ success: true, data: caller }) }
        : { status: 404, code: "API_KEY_NOT_FOUND" };
    };
    gateway = await startGateway({
      backend,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        policies: { policy_set: "default" },
        control_plane: { url: plane.url, api_key: plane.apiKey },
        identity: {
          issuer: issuer.url,
          audience: issuer.audience,
          cookie: "sid",
          token_header: "cf-access-jwt-assertion",
          websocket_protocol: K8S,
          alb: { signers: [ARN], keys_url: backend },
          api_keys: "accept",
          foreign_bearer: "pass",
        },
      },
    });
    closing.push(
      () => plane.close(),
      () => issuer.close(),
      () => {
        sockets.close();
        application.closeAllConnections();
        application.close();
      },
      () => gateway.stop(),
    );
  });
  after(async () => {
    for (const close of closing.reverse()) await close();
  });

  const ask = async (path: string, headers: Headers, method = "GET") => {
    seen = {};
    const response = await fetch(`${gateway.url}${path}`, { method, headers });
    const text = await response.text();
    const { error } = (text === "" || response.status === 200 ? {} : JSON.parse(text)) as {
      error?: { code: string };
    };
    return `${response.status}${error === undefined ? "" : ` ${error.code}`}`;
  };

  it("takes the token of Cloudflare Access, and gives it to nobody", async () => {
    const headers = { "Cf-Access-Jwt-Assertion": await issuer.token({ sub: "cf-user" }) };
    assert.equal(await ask("/me", headers), "200");
    assert.equal(seen["x-user-id"], "cf-user");
    assert.equal(seen["cf-access-jwt-assertion"], undefined);
    assert.equal(
      await ask("/me", { ...headers, origin: "https://evil.example" }, "POST"),
      "403 ORIGIN_NOT_TRUSTED",
    );
    assert.equal(await ask("/me", { ...headers, origin: gateway.url }, "POST"), "200");
    assert.equal(
      await ask("/me", { ...headers, authorization: `Bearer ${await issuer.token()}` }),
      "401 TOKEN_INVALID",
    );
  });

  it("takes what an AWS load balancer says, if it is ours", async () => {
    const exp = Math.floor(Date.now() / 1000) + 120;
    const token = (signer: string) => {
      const part = (value: object) => {
        const plain = Buffer.from(JSON.stringify(value)).toString("base64url");
        return plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
      };
      const head = { typ: "JWT", kid: KID, alg: "ES256", iss: issuer.url, client: "c", signer, exp };
      const signed = `${part(head)}.${part({ sub: "alb-user", exp, iss: issuer.url })}`;
      const key = { key: pair.privateKey, dsaEncoding: "ieee-p1363" } as const;
      return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}==`;
    };
    assert.equal(await ask("/me", { "x-amzn-oidc-data": token(ARN) }), "200");
    assert.equal(seen["x-user-id"], "alb-user");
    assert.equal(seen["x-amzn-oidc-data"], undefined);
    const other = token(ARN.replace("123456789012", "999999999999"));
    assert.equal(await ask("/me", { "x-amzn-oidc-data": other }), "401 TOKEN_INVALID");
    assert.equal(await ask("/open", { "x-amzn-oidc-data": other }), "200");
    assert.equal(seen["x-amzn-oidc-data"], undefined);
  });

  it("leaves a bearer token of the application's own to it, on open paths", async () => {
    const headers = { authorization: "Bearer xoxb-opaque" };
    assert.equal(await ask("/open", headers), "200");
    assert.equal(seen["authorization"], "Bearer xoxb-opaque");
    assert.equal(seen["x-user-id"], undefined);
    assert.equal(await ask("/me", headers), "401 TOKEN_INVALID");
    const expired = { authorization: `Bearer ${await issuer.token({ iat: 1, exp: 2 })}` };
    assert.equal(await ask("/open", expired), "401 TOKEN_EXPIRED");
    const token = expired.authorization.slice("Bearer ".length);
    const protocol = `${K8S}${Buffer.from(token).toString("base64url")}, v1`;
    const twice = { "cf-access-jwt-assertion": token, "sec-websocket-protocol": protocol };
    assert.equal(await ask("/open", twice), "401 TOKEN_EXPIRED");
    // nor does it pass beside what an access proxy sends, or pretends to
    for (const name of ["cf-access-jwt-assertion", "x-amzn-oidc-data"])
      for (const token of ["x", await issuer.token()]) {
        assert.equal(await ask("/open", { ...expired, [name]: token }), "401 TOKEN_INVALID");
        assert.deepEqual(seen, {});
      }
  });

  it("takes the token of a browser's WebSocket from its subprotocols, and the answer suits the browser", async () => {
    const connect = async (protocols: readonly string[]) => {
      // as browsers do: it fails if none of the offered subprotocols is chosen, or another one
      const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/ws`, [...protocols]);
      const opened = await new Promise<boolean>((resolve) => {
        socket.addEventListener("open", () => {
          resolve(true);
        });
        socket.addEventListener("error", () => {
          resolve(false);
        });
      });
      return { socket, opened };
    };
    const encode = async (claims: object) =>
      `${K8S}${Buffer.from(await issuer.token({ ...claims })).toString("base64url")}`;
    const token = await encode({ role: "admin" });
    const { socket, opened } = await connect([token, "v1.app", "v2.app"]);
    assert.ok(opened);
    assert.equal(socket.protocol, "v2.app");
    assert.equal(seen["sec-websocket-protocol"], "v1.app, v2.app");
    const echoed = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        resolve(data);
      });
    });
    socket.send("hello");
    assert.equal(await echoed, "echo hello");
    socket.close();
    // another site's page, with its own token and the cookie of the browser's user
    const headers = {
      cookie: `a=b; sid=${await issuer.token({ sub: "victim" })}`,
      "sec-fetch-site": "cross-site",
    };
    const foreign = new HeaderSocket(`${gateway.url.replace("http", "ws")}/ws`, [token, "v1.app"], {
      headers,
    });
    await once(foreign, "open");
    foreign.close();
    assert.deepEqual([seen["cookie"], seen["x-user-id"] === "victim"], ["a=b", false]);
    assert.equal((await connect([await encode({ role: "viewer" }), "v1.app"])).opened, false);
    assert.equal((await connect([token])).opened, false);
    assert.equal((await connect(["v1.app"])).opened, false);
  });

  it("takes an API key of a caller, which the application does not get, until it is revoked", async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    assert.equal(await ask("/invoices", headers), "200");
    assert.equal(seen["x-user-id"], "key_1");
    assert.equal(seen["x-customer-id"], "cus_1");
    assert.equal(seen["authorization"], undefined);
    const other = { authorization: `Bearer ${KEY.replace(/a$/, "b")}` };
    assert.equal(await ask("/invoices", other), "401 API_KEY_INVALID");
    assert.equal(await ask("/open", other), "401 API_KEY_INVALID");
    plane.endSession("key_1");
    await eventually(
      "the revocation",
      async () => (await ask("/invoices", headers)) === "401 API_KEY_INVALID",
      10_000,
    );
    const audit = JSON.stringify(await gateway.audit());
    assert.ok(audit.includes("key_1"));
    for (const text of [audit, gateway.stderr()]) assert.ok(!text.includes(KEY));
  });
});

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { WebSocketServer } from "ws";
import { startGateway, type RunningGateway } from "../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";
import { startBrowser, startPage, tlsOfTests } from "./support/browser.ts";

/** What a script sees of an answer; only `error` if the browser shows it nothing. */
interface Seen {
  readonly error?: string;
  readonly status?: number;
  readonly code?: string;
  readonly challenge?: string | null;
  readonly requestId?: string | null;
  readonly retryAfter?: string | null;
  readonly text?: string;
}

/** Runs in the page. */
const ASK = `async (url, init) => {
  try {
    const answer = await fetch(url, init);
    const text = await answer.text();
    let code;
    try { code = JSON.parse(text).error?.code; } catch {}
    const header = (name) => answer.headers.get(name);
    return { status: answer.status, code, text, challenge: header("www-authenticate"),
      requestId: header("x-request-id"), retryAfter: header("retry-after") };
  } catch (error) {
    return { error: error.name };
  }
}`;

const UPLOAD_BYTES = 5 * 1024 * 1024;
const BURST = 80;

/** Chromium, over TLS and HTTP/2, on pages that have another origin than the API. */
describe("clients: a browser with pages of another origin", function () {
  this.timeout(120_000);
  let application: Server;
  let sockets: WebSocketServer;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let site: Awaited<ReturnType<typeof startPage>>;
  let browser: Browser;
  let listed: Page;
  let stranger: Page;
  let api: string;
  let token: string;
  const seen: string[] = [];

  /** Sends its own CORS headers, and leaves preflights to the gateway. */
  const answer = (origin: string) => (request: IncomingMessage, response: ServerResponse) => {
    seen.push(`${request.method ?? ""} ${request.url ?? ""}`);
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-allow-credentials", "true");
    if (request.url === "/events") {
      response.setHeader("content-type", "text/event-stream");
      response.end("data: one\n\ndata: two\n\n");
      return;
    }
    let length = 0;
    request.on("data", (chunk: Buffer) => (length += chunk.length));
    request.on("end", () => {
      response.end(JSON.stringify({ length, cookie: request.headers.cookie ?? "" }));
    });
  };

  before(async () => {
    const tls = await tlsOfTests();
    [site, issuer, browser] = await Promise.all([startPage(tls.pair), startIssuer(), startBrowser()]);
    const origin = `https://localhost:${site.port}`;
    application = createServer(answer(origin));
    sockets = new WebSocketServer({ server: application, path: "/chat" });
    sockets.on("connection", (socket) => {
      socket.on("message", (data: Buffer) => {
        socket.send(data.toString());
      });
    });
    await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
    gateway = await startGateway({
      backend: `http://127.0.0.1:${(application.address() as AddressInfo).port}`,
      issuer,
      policies: {
        "default.yaml": `
cors: { origins: ["${origin}"], credentials: true }
policies:
  - { resource: GET /open, condition: true }
  - { resource: "* /mine", condition: exists(user.id) }
  - { resource: "* /admin", condition: user.role == "admin" }
  - { resource: POST /upload, condition: exists(user.id) }
  - { resource: GET /events, condition: true }
websocket_policies:
  - connection: { path: /chat, condition: true }
`,
      },
      config: {
        gateway: {
          security: {
            ...tls.security,
            request_size_limit: "6MB",
            rate_limiting: { requests_per_second: 1, burst_size: BURST },
          },
        },
      },
    });
    api = gateway.url.replace("127.0.0.1", "localhost");
    token = await issuer.token({ sub: "u-1", role: "viewer" });
    const open = async (url: string) => {
      const page = await browser.newPage({ ignoreHTTPSErrors: true });
      await page.goto(url);
      return page;
    };
    listed = await open(origin);
    stranger = await open(`https://127.0.0.1:${site.port}`);
  });
  beforeEach(() => {
    seen.length = 0;
  });
  after(async () => {
    await browser.close();
    await gateway.stop();
    sockets.close();
    application.closeAllConnections();
    await Promise.all([issuer.close(), site.close(), new Promise((resolve) => application.close(resolve))]);
  });

  const ask = (page: Page, path: string, init: object = {}): Promise<Seen> =>
    page.evaluate(`(${ASK})(${JSON.stringify(api + path)}, ${JSON.stringify(init)})`);
  const bearer = () => ({ authorization: `Bearer ${token}` });
  const REFUSED = { error: "TypeError" };

  it("speaks HTTP/2 with the gateway", async () => {
    assert.equal((await ask(listed, "/open")).status, 200);
    // the application would have to send Timing-Allow-Origin for a page of another origin
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    await page.goto(`${api}/open`);
    const protocol = await page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol");
    assert.equal(protocol, "h2");
    await page.close();
  });

  it("shows a 401 with its challenge and request id", async () => {
    for (const init of [{}, { credentials: "include" }]) {
      const { status, code, challenge, requestId } = await ask(listed, "/mine", init);
      assert.deepEqual([status, code], [401, "IDENTITY_REQUIRED"]);
      assert.match(challenge ?? "", /^Bearer/);
      assert.match(requestId ?? "", /^[0-9a-f-]{36}$/);
    }
    assert.deepEqual(await ask(stranger, "/mine"), REFUSED);
    assert.deepEqual(seen, []);
  });

  it("asks the gateway before it sends a token, which the application never sees asked", async () => {
    const headers = bearer();
    assert.equal((await ask(listed, "/mine", { method: "PUT", headers })).status, 200);
    assert.deepEqual(seen, ["PUT /mine"]);
    for (const method of ["GET", "DELETE"]) {
      const { status, code } = await ask(listed, "/admin", { method, headers });
      assert.deepEqual([status, code], [403, "ACCESS_DENIED"]);
    }
    const bad = await ask(listed, "/mine", { headers: { authorization: "Bearer nonsense" } });
    assert.deepEqual([bad.status, bad.code], [401, "TOKEN_INVALID"]);
    assert.deepEqual(seen, ["PUT /mine"]);
  });

  it("sends nothing that the set does not list", async () => {
    const others = [
      [stranger, { headers: bearer() }],
      [stranger, { method: "DELETE" }],
      [listed, { headers: { ...bearer(), "x-other": "1" } }],
      [listed, { method: "PROPFIND", headers: bearer() }],
    ] as const;
    for (const [page, init] of others) assert.deepEqual(await ask(page, "/mine", init), REFUSED);
    assert.deepEqual(seen, []);
  });

  it("sends cookies to the application, and shows what it answers", async () => {
    await listed.evaluate("document.cookie = 'basket=7; path=/'");
    const { status, text } = await ask(listed, "/open", { credentials: "include" });
    assert.deepEqual([status, JSON.parse(text ?? "")], [200, { length: 0, cookie: "basket=7" }]);
  });

  it("uploads megabytes as FormData, and shows that too many were refused", async () => {
    const upload = (bytes: number): Promise<Seen> =>
      listed.evaluate(`(() => {
        const body = new FormData();
        body.append("name", "holiday");
        body.append("file", new Blob([new Uint8Array(${bytes})]), "holiday.bin");
        return (${ASK})(${JSON.stringify(`${api}/upload`)}, { method: "POST", body, headers: ${JSON.stringify(bearer())} });
      })()`);
    const { status, text } = await upload(UPLOAD_BYTES);
    assert.equal(status, 200);
    assert.ok((JSON.parse(text ?? "") as { length: number }).length > UPLOAD_BYTES);
    const refused = await upload(7 * 1024 * 1024);
    assert.deepEqual([refused.status, refused.code], [413, "REQUEST_TOO_LARGE"]);
    assert.deepEqual(seen, ["POST /upload"]);
  });

  it("reads events of an EventSource that a rule permits, and an error of another", async () => {
    const events = (path: string) =>
      listed.evaluate(`new Promise((resolve) => {
        const got = [];
        const source = new EventSource(${JSON.stringify(api)} + ${JSON.stringify(path)});
        source.onmessage = ({ data }) => { got.push(data); if (got.length === 2) { source.close(); resolve(got); } };
        source.onerror = () => { const { readyState } = source; source.close(); resolve(readyState); };
      })`);
    assert.deepEqual(await events("/events"), ["one", "two"]);
    // 2: closed for good, because the answer was no event stream
    assert.equal(await events("/admin"), 2);
  });

  it("opens the WebSocket that a rule permits, and no other", async () => {
    const socket = (path: string) =>
      listed.evaluate(`new Promise((resolve) => {
        const socket = new WebSocket(${JSON.stringify(api.replace("http", "ws"))} + ${JSON.stringify(path)});
        socket.onopen = () => socket.send("hello");
        socket.onmessage = ({ data }) => { resolve(data); socket.close(); };
        socket.onclose = ({ code }) => resolve(code);
      })`);
    assert.equal(await socket("/chat"), "hello");
    assert.equal(await socket("/admin"), 1006);
  });

  it("shows a 429 and when to ask again", async () => {
    const answers: readonly Seen[] = await listed.evaluate(
      `Promise.all(Array.from({ length: ${BURST + 50} }, () => (${ASK})(${JSON.stringify(`${api}/open`)})))`,
    );
    const limited = answers.filter(({ status }) => status === 429);
    assert.ok(limited.length > 0);
    assert.deepEqual(
      answers.filter(({ error }) => error !== undefined),
      [],
    );
    for (const { code, retryAfter } of limited) assert.deepEqual([code, retryAfter], ["RATE_LIMITED", "1"]);
  });
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { factsOf, parseHtml } from "../../support/html.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `
policies:
  - { resource: "* /public/**", condition: "true" }
  - { resource: "* /me/**", condition: exists(user.id) }
  - { resource: "* /never/**", condition: request.method == "NONE" }
  - { resource: "POST /read", condition: request.body.a == 1 }
`;

/** Envoy's own responses also differ by the origin (decision 0056). */
const VARY = /^accept(, origin)?$/;

/** What browsers send when somebody opens a page, and what programs do. */
const BROWSERS = {
  Chrome:
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  Firefox: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "a small one": "text/plain;q=0.5 , TEXT/HTML;Q=1.00, */*;q=0.01",
  "an older one": "text/html",
};
const PROGRAMS = [
  "*/*",
  "application/json",
  "application/json, text/html",
  "text/html;q=0.5, application/json",
  "text/html;q=0, */*",
  "x-text/html",
  "text/html-sandboxed",
  "",
  "image/avif,*/*;q=0.8",
];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}
type Send = (
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
) => Promise<Answer>;

const WAYS: Readonly<Record<string, Send>> = {
  "HTTP/1.1": async (port, method, path, headers, body = "") => {
    const lines = Object.entries(headers).map((header) => header.join(": "));
    const answer = await sendRaw(port, rawGet(path, lines, method) + body);
    return { ...answer, body: Buffer.from(answer.body, "latin1").toString() };
  },
  "HTTP/2": async (port, method, path, headers, sent) => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on("error", () => undefined);
    try {
      const stream = session.request(
        { ":method": method, ":path": path, ":authority": "app.test", ...headers },
        { endStream: sent === undefined },
      );
      stream.on("error", () => undefined);
      if (sent !== undefined) stream.end(sent);
      const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
      let body = "";
      for await (const chunk of stream) body += String(chunk);
      return { status: answer[":status"] ?? 0, headers: answer, body };
    } finally {
      session.close();
    }
  },
};

/** A page by the rules, whoever made it. */
function checkPage({ headers, body }: Answer) {
  assert.equal(headers["content-type"], "text/html; charset=utf-8");
  const elements = parseHtml(body);
  const texts = (name: string) => elements.filter((element) => element.name === name).map(({ text }) => text);
  const style = createHash("sha256").update(texts("style").join("")).digest("base64");
  assert.equal(
    headers["content-security-policy"],
    `default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.match(String(headers["vary"]), VARY);
  const names = new Set(elements.map(({ name }) => name));
  for (const name of ["script", "img", "link", "form", "iframe", "object", "base"])
    assert.ok(!names.has(name), name);
  assert.equal(elements[0]?.attributes["lang"], "en");
  assert.equal(texts("main").length, 1);
  assert.deepEqual(texts("h1"), texts("title"));
  const facts = factsOf(elements);
  assert.match(facts["Time"] ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const link = elements.find(({ name }) => name === "a")?.attributes["href"];
  return { title: texts("h1")[0], text: texts("p")[0] ?? "", facts, link };
}

describe("end to end: pages in place of what was asked for", function () {
  this.timeout(180_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let deserted: RunningGateway;

  const start = (more: Record<string, unknown>, identity: Record<string, unknown> = {}) =>
    startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        gateway: more,
        identity: { issuer: issuer.url, audience: issuer.audience, cookie: "session", ...identity },
      },
    });
  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await start(
      { security: { request_size_limit: 1000 } },
      { sign_in_url: "https://login.test/start?client=a&next={return_to}" },
    );
    deserted = await start({
      backend: `http://127.0.0.1:${await freePort()}`,
      denial_details: "none",
      security: { hsts_header: true, rate_limiting: { requests_per_second: 1, burst_size: 8 } },
    });
  });
  after(async () => {
    await Promise.all([gateway.stop(), deserted.stop()]);
    await Promise.all([issuer.close(), upstream.close()]);
  });

  /** Asked of the gateway: what it is, the status, the title, the code, the reason. */
  const refused: readonly (readonly [
    what: string,
    asked: {
      readonly method?: string;
      readonly path: string;
      readonly headers?: Readonly<Record<string, string>>;
    },
    said: readonly [status: number, title: string, code: string, reason: string | undefined],
  ])[] = [
    [
      "nobody who has to be somebody",
      { path: "/me/a" },
      [401, "Please sign in", "IDENTITY_REQUIRED", "IDENTITY_REQUIRED"],
    ],
    [
      "a token that is none",
      { path: "/me/a", headers: { cookie: "session=x" } },
      [401, "Please sign in again", "TOKEN_INVALID", "TOKEN_MALFORMED"],
    ],
    [
      "what is not allowed",
      { path: "/never/a" },
      [403, "You cannot open this page", "ACCESS_DENIED", "CONDITION_FALSE"],
    ],
    [
      "what no rule is for",
      { path: "/%3Cscript%3Ealert(1)%3C/script%3E" },
      [403, "You cannot open this page", "ACCESS_DENIED", "NO_MATCHING_RULE"],
    ],
    [
      "hostile names",
      { path: "/nowhere/%3Cimg%20src=x%20onerror=alert(1)%3E&amp'\"" },
      [403, "You cannot open this page", "ACCESS_DENIED", "NO_MATCHING_RULE"],
    ],
    [
      "an ambiguous path",
      { path: "/public/a;b=c" },
      [400, "This request cannot be processed", "AMBIGUOUS_PATH", "AMBIGUOUS_PATH"],
    ],
    [
      "a body without what a rule reads",
      { method: "POST", path: "/read", headers: { "content-type": "application/json" } },
      [403, "You cannot open this page", "ACCESS_DENIED", "CONDITION_UNKNOWN"],
    ],
    [
      "a body that Envoy refuses",
      { method: "POST", path: "/public/a", headers: { "content-length": "2000" } },
      [413, "This is too large", "REQUEST_TOO_LARGE", undefined],
    ],
  ];

  for (const [way, send] of Object.entries(WAYS)) {
    describe(way, () => {
      for (const [what, { method = "GET", path, headers = {} }, [status, title, code, reason]] of refused) {
        it(`has one for ${what}, and JSON for programs`, async () => {
          const body = headers["content-length"] === undefined ? undefined : "x".repeat(2000);
          for (const accept of Object.values(BROWSERS)) {
            const answer = await send(gateway.port, method, path, { accept, ...headers }, body);
            assert.equal(answer.status, status);
            const page = checkPage(answer);
            assert.equal(page.title, title);
            assert.deepEqual(
              [page.facts["Status"], page.facts["Code"], page.facts["Reason"]],
              [String(status), code, reason],
            );
            // Envoy gives an id to what it has read, and names its own in the page where it has not
            assert.match(page.facts["Request ID"] ?? "", /^[\da-f-]{36}$/);
            const id = answer.headers["x-request-id"];
            if (id !== undefined) assert.equal(page.facts["Request ID"], id);
            assert.equal(page.link !== undefined, status === 401);
          }
          for (const accept of PROGRAMS) {
            const answer = await send(gateway.port, method, path, { accept, ...headers }, body);
            assert.equal(answer.status, status);
            assert.equal(answer.headers["content-type"], "application/json", accept);
            assert.match(String(answer.headers["vary"]), VARY);
            const { success, error } = JSON.parse(answer.body) as {
              success: boolean;
              error: { code: string };
            };
            assert.deepEqual([success, error.code], [false, code]);
          }
        });
      }

      it("leads from a 401 to sign in and back, and never to another site", async () => {
        const linkAt = async (path: string, method = "GET") =>
          new URL(
            checkPage(await send(gateway.port, method, path, { accept: BROWSERS.Firefox })).link ?? "none:",
          );
        const link = await linkAt("/me/a%20b?tab=1&q=%22x%22");
        assert.equal(`${link.origin}${link.pathname}`, "https://login.test/start");
        assert.deepEqual(
          [...link.searchParams],
          [
            ["client", "a"],
            ["next", "/me/a%20b?tab=1&q=%22x%22"],
          ],
        );
        assert.equal((await linkAt("/me/a", "POST")).searchParams.get("next"), "/");
        for (const path of [
          "/me/?next=https://evil.test",
          "/me/@evil.test",
          "/me/a?//evil.test",
          "/me/https:",
        ]) {
          const next = (await linkAt(path)).searchParams.get("next") ?? "";
          assert.equal(new URL(next, "https://app.test").origin, "https://app.test", next);
        }
      });

      it("has no body for HEAD", async () => {
        const answer = await send(gateway.port, "HEAD", "/never/a", { accept: BROWSERS.Chrome });
        assert.deepEqual([answer.status, answer.body], [403, ""]);
        assert.equal(answer.headers["vary"], "accept");
      });
    });
  }

  it("has one where the application is away, and where requests are too many", async () => {
    const ask = (accept: string) => WAYS["HTTP/1.1"]!(deserted.port, "GET", "/public/a", { accept });
    const away = await ask(BROWSERS.Chrome);
    const page = checkPage(away);
    assert.deepEqual([away.status, page.facts["Status"]], [503, "503"]);
    assert.equal(page.title, "This page is not available right now");
    assert.equal(page.facts["Code"], "UPSTREAM_UNAVAILABLE");
    assert.match(String(away.headers["strict-transport-security"]), /max-age=\d+/);
    assert.equal((await ask("application/json")).headers["content-type"], "application/json");
    const limited = await eventually("an answer 429", async () => {
      const answer = await ask(BROWSERS.Firefox);
      return answer.status === 429 ? answer : undefined;
    });
    const { title, facts, link } = checkPage(limited);
    assert.deepEqual([title, facts["Code"], link], ["Too many requests", "RATE_LIMITED", undefined]);
    assert.equal(limited.headers["retry-after"], "1");
  });

  it("keeps the reason where clients may not know it, and links nowhere without an address to sign in", async () => {
    const { facts, link } = await eventually("an answer that is not 429", async () => {
      const answer = await WAYS["HTTP/1.1"]!(deserted.port, "GET", "/me/a", { accept: BROWSERS.Chrome });
      return answer.status === 401 ? checkPage(answer) : undefined;
    });
    assert.deepEqual(Object.keys(facts), ["Status", "Code", "Meaning", "Request ID", "Time"]);
    assert.equal(link, undefined);
  });
});

import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type AuditLine, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { http2, raw } from "../../support/refused-requests.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";
import { OVER_HTTP10, type Case, type Said } from "./support/http10-cases.ts";

const POLICIES = `
policy_set: own
version: v7
policies:
  - resource: "* /open/**"
    condition: "true"
  - resource: "POST /body"
    condition: request.body.a == 1
`;

const FIRST = "/open/before-all";
const UNREAD = ["", ""] as const;
/** What a client would have answers and records say. */
const CHOSEN = "X-Request-Id: 00000000-0000-4000-8000-000000000000";
const head = (line: string, ...lines: readonly string[]) =>
  [`${line} HTTP/1.1`, "Host: app.test", "Connection: close", CHOSEN, ...lines, "", ""].join("\r\n");

const TOO_LARGE = "rbac_access_denied_matched_policy[request_too_large]";
const LARGE = "x".repeat(70_000);
const MANY = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`x-${index}`, "y"]));
const LISTED = Object.entries(MANY).map((header) => header.join(": "));

const REFUSED: readonly Case[] = [
  ["a fragment", raw(head("GET /e?secret=1#d")), ["PATH_REFUSED", "path_normalization_failed", "GET", "/e"]],
  [
    "a fragment, HTTP/2",
    http2({ ":path": "/e#2" }),
    ["PATH_REFUSED", "path_normalization_failed", "GET", "/e"],
  ],
  ["OPTIONS *", raw(head("OPTIONS *")), ["PATH_REFUSED", "absolute_path_rejected", "OPTIONS", "*"]],
  [
    "large headers",
    raw(head("GET /l", `x: ${LARGE}`)),
    ["HEADERS_TOO_LARGE", "http1.headers_too_large", ...UNREAD],
  ],
  [
    "large headers, HTTP/2",
    http2({ ":path": "/l", x: LARGE }),
    ["HEADERS_TOO_LARGE", "http2.header_list_size_too_large", ...UNREAD],
  ],
  ["many headers", raw(head("GET /m", ...LISTED)), ["TOO_MANY_HEADERS", "http1.too_many_headers", ...UNREAD]],
  [
    "many headers, HTTP/2",
    http2({ ":path": "/m", ...MANY }),
    ["TOO_MANY_HEADERS", "http2.too_many_headers", ...UNREAD],
  ],
  [
    "a body too large",
    raw(head("POST /b", "Content-Length: 2000")),
    ["REQUEST_TOO_LARGE", TOO_LARGE, "POST", "/b"],
  ],
  [
    "a body too large, HTTP/2",
    http2({ ":path": "/b2", ":method": "PUT", "content-length": "2000" }, { body: "x".repeat(2000) }),
    ["REQUEST_TOO_LARGE", TOO_LARGE, "PUT", "/b2"],
  ],
  [
    "HTTP/1.0 without a host",
    raw(`GET /h10 HTTP/1.0\r\n${CHOSEN}\r\n\r\n`),
    ["MALFORMED_REQUEST", "missing_host_header", "GET", "/h10"],
  ],
  [
    "HTTP/1.0 with two framings",
    raw("POST /x HTTP/1.0\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ["MALFORMED_REQUEST", "http1.content_length_and_chunked_not_allowed", ...UNREAD],
  ],
  ["HTTP/0.9", raw("GET /h09\r\n\r\n"), ["MALFORMED_REQUEST", "missing_host_header", "GET", "/h09"]],
  ["no HTTP", raw("\0\0\0nonsense\r\n\r\n"), ["MALFORMED_REQUEST", "http1.codec_error", ...UNREAD]],
  [
    "a name with a blank",
    raw(head("GET /x", "a b: 1")),
    ["MALFORMED_REQUEST", "http1.codec_error", ...UNREAD],
  ],
  [
    "two framings",
    raw(head("POST /x", "Content-Length: 3", "Transfer-Encoding: chunked")),
    ["MALFORMED_REQUEST", "http1.content_length_and_chunked_not_allowed", ...UNREAD],
  ],
  [
    "an unknown framing",
    raw(head("POST /x", "Transfer-Encoding: gzip, chunked")),
    ["MALFORMED_REQUEST", "http1.invalid_transfer_encoding", ...UNREAD],
  ],
  [
    "no host",
    raw(`GET /h HTTP/1.1\r\n${CHOSEN}\r\n\r\n`),
    ["MALFORMED_REQUEST", "missing_host_header", "GET", "/h"],
  ],
  [
    "a host that is none",
    raw("GET /x HTTP/1.1\r\nHost: a b\r\n\r\n"),
    ["MALFORMED_REQUEST", "http.invalid_authority", ...UNREAD],
  ],
  [
    "a query of which no type was said",
    raw(head("QUERY /q", "Content-Length: 0")),
    ["MALFORMED_REQUEST", "query_missing_content_type", "QUERY", "/q"],
  ],
  [
    "https where TLS is not spoken",
    raw(head("GET https://app.test/x")),
    ["MALFORMED_REQUEST", "http1.https_url_on_plaintext_connection", ...UNREAD],
  ],
  ["another scheme", raw(head("GET ftp://x/a")), ["MALFORMED_REQUEST", "http1.invalid_scheme", ...UNREAD]],
  ["an unknown method", raw(head("FOO /x")), ["MALFORMED_REQUEST", "http1.codec_error", ...UNREAD]],
  [
    "a path without a slash, HTTP/2",
    http2({ ":path": "abc" }),
    ["MALFORMED_REQUEST", "http2.violation.of.messaging.rule", ...UNREAD],
  ],
  [
    "an empty path, HTTP/2",
    http2({ ":path": "" }),
    ["MALFORMED_REQUEST", "http2.invalid.header.field", ...UNREAD],
  ],
  [
    "CONNECT",
    raw("CONNECT a.test:22 HTTP/1.1\r\nHost: a.test:22\r\n\r\n"),
    ["UPGRADE_NOT_SUPPORTED", "upgrade_failed", "CONNECT", ""],
  ],
  [
    "another upgrade",
    raw("GET /up HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: foo\r\n\r\n"),
    ["UPGRADE_NOT_SUPPORTED", "upgrade_failed", "GET", "/up"],
  ],
  [
    "headers that do not end",
    raw("GET /t HTTP/1.1\r\nHost: "),
    ["REQUEST_TIMEOUT", "request_overall_timeout", ...UNREAD],
  ],
  [
    "half a request",
    raw("GET /t HTTP/1.1\r\nHost: ", true),
    ["CLIENT_GONE", "downstream_remote_disconnect", ...UNREAD],
  ],
  [
    "a body that a rule needs and that does not end",
    http2(
      { ":path": "/body", ":method": "POST", "content-type": "application/json" },
      { body: "{", unfinished: true },
    ),
    ["REQUEST_TIMEOUT", "request_overall_timeout", "POST", "/body"],
  ],
];

/** What the service says of a path that can be read in two ways: the record has it as it was sent. */
const ambiguous = (path: string, detail: string): Said => ["AMBIGUOUS_PATH", detail, "GET", path];
const UNDERSCORE = "underscore_header: the header name `x_y` has an underscore";

/** Decided by the service, whatever Envoy makes of them afterwards. */
const DECIDED: readonly Case[] = [
  [
    "an encoded slash",
    raw(head("GET /e%2fa?secret=1")),
    ambiguous("/e%2fa", "encoded_slash: path segment 1, `e%2fa`, contains an encoded slash"),
  ],
  [
    "an encoded backslash, HTTP/2",
    http2({ ":path": "/e%5Cb" }),
    ambiguous("/e%5Cb", "slash_like: path segment 1, `e%5Cb`, contains a character that may become a slash"),
  ],
  [
    "a NUL in the path",
    raw(head("GET /e%00c")),
    ambiguous("/e%00c", "control_character: path segment 1, `e%00c`, contains an encoded control character"),
  ],
  [
    "a dot segment",
    raw(head("GET /e/../d")),
    ambiguous("/e/../d", "dot_segment: path segment 2, `..`, is a dot segment"),
  ],
  [
    "two slashes, HTTP/2",
    http2({ ":path": "//e//" }),
    ambiguous("//e//", "empty_segment: path segment 1, ``, is empty"),
  ],
  ["an underscore", raw(head("GET /u", "x_y: 1")), ["AMBIGUOUS_HEADERS", UNDERSCORE, "GET", "/u"]],
  [
    "an underscore, HTTP/2",
    http2({ ":path": "/u2", x_y: "1" }),
    ["AMBIGUOUS_HEADERS", UNDERSCORE, "GET", "/u2"],
  ],
  [
    "an absolute target",
    raw(head("GET http://other.test/open/abs?secret=1")),
    ["CONDITION_TRUE", undefined, "GET", "/open/abs"],
  ],
  ["an allow", raw(head("GET /open/a")), ["CONDITION_TRUE", undefined, "GET", "/open/a"]],
  ["an allow, HTTP/2", http2({ ":path": "/open/b" }), ["CONDITION_TRUE", undefined, "GET", "/open/b"]],
  ["a denial", raw(head("GET /else/a")), ["NO_MATCHING_RULE", undefined, "GET", "/else/a"]],
  ["a denial, HTTP/2", http2({ ":path": "/else/b" }), ["NO_MATCHING_RULE", undefined, "GET", "/else/b"]],
  [
    "an allow with a body too large, of which no length was said",
    raw(head("POST /open/c", "Transfer-Encoding: chunked") + `7d0\r\n${"x".repeat(2000)}\r\n0\r\n\r\n`),
    ["CONDITION_TRUE", undefined, "POST", "/open/c"],
  ],
  [
    "an allow with a body that does not end",
    raw(head("POST /open/d", "Content-Length: 9")),
    ["CONDITION_TRUE", undefined, "POST", "/open/d"],
  ],
];

const BY_SERVICE = /^(NO_MATCHING_RULE|UPGRADE_REQUIRED|AMBIGUOUS_.*)$/;

const CASES = [...REFUSED, ...DECIDED, ...OVER_HTTP10];

describe("end to end: every request has one record", function () {
  this.timeout(180_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let records: AuditLine[];
  let answers: unknown[];
  /** Sent before the others: the first decision of a worker takes longer, and would count towards `request_timeout`. */
  let first = 0;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        gateway: {
          security: { request_size_limit: "1KB" },
          performance: { request_timeout: "3s" },
        },
      },
    });
    await eventually("the first decision", async () => {
      first += 1;
      const answer = await fetch(`${gateway.url}${FIRST}`);
      await answer.arrayBuffer();
      return answer.ok;
    });
    answers = await Promise.all(CASES.map(([, send]) => send(gateway.port)));
    const decisions = async () =>
      (await gateway.audit()).filter(({ event, resource }) => event === undefined && resource !== FIRST);
    await eventually("all records", async () => (await decisions()).length >= CASES.length);
    records = await decisions();
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const saidBy = ({ reason, detail, action, resource }: AuditLine): Said => [
    reason,
    // both timers run out at once here
    detail === "request_header_timeout" ? "request_overall_timeout" : (detail as string | undefined),
    String(action),
    resource,
  ];
  const isSame = (one: Said, other: Said) => one.every((part, index) => part === other[index]);

  for (const [name, , said] of CASES) {
    it(name, () => {
      const expected = CASES.filter(([, , other]) => isSame(said, other)).length;
      const found = records.filter((record) => isSame(saidBy(record), said));
      assert.equal(found.length, expected, JSON.stringify(records.map(saidBy)));
    });
  }

  it("no request has another one", () => {
    assert.equal(records.length, CASES.length);
  });

  it("says whose it was and what was in force, and no value of a query or header", () => {
    const refused = records.filter(({ decision, reason }) => decision === "DENY" && !BY_SERVICE.test(reason));
    assert.equal(refused.length, REFUSED.length);
    for (const { policy_set, client_ip, user_id, rule, policy_digest, decision_id } of refused) {
      assert.deepEqual([policy_set, client_ip, user_id, rule], ["own@v7", "127.0.0.1", "", null]);
      assert.match(String(policy_digest), /^[0-9a-f]{64}$/);
      assert.match(String(decision_id), /^dec_/);
    }
    assert.ok(refused.some(({ raw_path }) => raw_path === "/e?secret=***"));
  });

  it("has the id of the answer's header and body, which is never the client's own", () => {
    const ids = new Set(records.map(({ request_id }) => request_id));
    let compared = 0;
    for (const [index, answer] of answers.entries()) {
      if (typeof answer !== "string" || !answer.startsWith("HTTP/1.1 4")) continue;
      const [inHeader] = /(?<=^x-request-id: ).*/im.exec(answer) ?? [];
      const [inBody] = /(?<="request_id":")[^"]*/.exec(answer) ?? [];
      assert.match(inHeader ?? "", /^(?!0{8})[0-9a-f-]{36}\r?$/, CASES[index]?.[0]);
      assert.equal(inBody, inHeader, CASES[index]?.[0]);
      assert.ok(ids.has(inBody), CASES[index]?.[0]);
      compared += 1;
    }
    assert.ok(compared > 12, String(compared));
  });

  it("says what the client sent, as it was sent", () => {
    const paths = new Set(records.map(({ raw_path }) => raw_path));
    const sent = [
      "/e%2fa?secret=***",
      "/e%5Cb",
      "/e%00c",
      "/e/../d",
      "//e//",
      "/open/abs?secret=***",
      "/e?secret=***",
    ];
    assert.deepEqual(
      sent.filter((path) => !paths.has(path)),
      [],
      JSON.stringify([...paths]),
    );
    assert.ok(
      records.some(({ raw_path, host }) => raw_path === "/open/abs?secret=***" && host === "other.test"),
    );
  });

  it("is recorded, dropped or queued", async () => {
    const [decided, recorded, dropped, queued] = await Promise.all(
      ["decisions_total", "audit_recorded_total", "audit_dropped_total", "audit_queue_records"].map((name) =>
        gateway.metric(`gatehouse_${name}`),
      ),
    );
    assert.equal(decided, first + CASES.length);
    assert.deepEqual([recorded, dropped, queued], [first + CASES.length, 0, 0]);
  });
});

describe("end to end: requests over the rate limit", function () {
  this.timeout(180_000);

  it("have a record each", async () => {
    const [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    const gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: { gateway: { security: { rate_limiting: { requests_per_second: 1, burst_size: 1 } } } },
    });
    try {
      const sent = Array.from({ length: 6 }, (_, index) =>
        index % 2 === 0 ? http2({ ":path": "/open/a" }) : raw(head("GET /open/a")),
      );
      await Promise.all(sent.map((send) => send(gateway.port)));
      await eventually("all records", async () => (await gateway.audit()).length >= sent.length);
      const records = await gateway.audit();
      assert.equal(records.length, sent.length);
      const limited = records.filter(({ reason }) => reason === "RATE_LIMITED");
      assert.ok(limited.length > 0);
      for (const { action, resource } of limited) assert.deepEqual([action, resource], ["GET", "/open/a"]);
      assert.equal(new Set(records.map(({ request_id }) => request_id)).size, sent.length);
    } finally {
      await gateway.stop();
      await Promise.all([issuer.close(), upstream.close()]);
    }
  });
});

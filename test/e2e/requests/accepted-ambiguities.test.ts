import assert from "node:assert/strict";
import { AMBIGUITY_NAMES } from "../../../src/config/index.ts";
import { REFUSAL_CHECKS } from "../../../src/request/index.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type AuditLine, type RunningGateway } from "../../support/gateway.ts";
import { sendHttp2 } from "../../support/http2-request.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { sendRaw } from "../../support/raw-http.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const POLICIES = `
policies:
  - resource: "* /open/**"
    condition: "true"
  - name: guarded
    resource: "* /open/{id}/guarded/**"
    condition: user.role == "admin"
  - resource: "GET /query/{id}"
    condition: request.query.status == "a"
  - resource: "GET /header/{id}"
    condition: request.headers["x-role"] == "a"
  - resource: "POST /body/{id}"
    condition: request.body.a == 1 or request.query.force == "yes"
  - resource: "GET /case/{id}/{any}"
    condition: "true"
  - resource: "GET /case/{id}/lower"
    condition: user.role == "admin"
  - resource: "GET /case/{id}/export"
    condition: request.query.by == "admin"
`;

interface Sent {
  /** Behind `/open/<id>/`, unless it begins with a slash: `{id}` stands for the id. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly host?: string;
  readonly body?: string;
}

type Name = (typeof AMBIGUITY_NAMES)[number];

const JSON_BODY = [["content-type", "application/json"]] as const;
const body = (text: string, ...headers: readonly (readonly [string, string])[]): Sent => ({
  target: "/body/{id}?force=yes",
  headers: headers.length > 0 ? headers : JSON_BODY,
  body: text,
});

/** A request for each switch that is refused without it, and permitted by the rules in every reading with it. */
const SWITCHES: Readonly<Record<Name, Sent>> = {
  too_many_parts: { target: Array.from({ length: 300 }, (_, index) => `s${index}`).join("/") },
  control_character: { target: "a%01b" },
  malformed_percent_encoding: { target: "a%zz" },
  invalid_utf8: { target: "a%e9" },
  encoded_slash: { target: "a%2fb" },
  slash_like: { target: "a%5Cc" },
  double_encoding: { target: "a%2541" },
  dot_segment: { target: "a/%2e%2e/./../{id}/b" },
  path_parameter: { target: "a;v=1/b" },
  file_stream: { target: "a::$DATA" },
  encoded_delimiter: { target: "a%3fb%23c" },
  empty_segment: { target: "a//b///" },
  encoded_unreserved: { target: "%61%2Db" },
  query_separator: { target: "a?x=1;y=2" },
  parameter_collision: { target: "a?id=1&ID=2" },
  malformed_header: { target: "a", headers: [["x-name", "caf\xe9"]] },
  underscore_header: { target: "a", headers: [["x_name", "1"]] },
  conflicting_host: { target: "a", host: "app..test" },
  repeated_authorization: { target: "a", headers: [["authorization", "Basic eDp5, Digest z"]] },
  method_override: { target: "a", headers: [["x-http-method-override", "DELETE"]] },
  similar_parameter: { target: "/query/{id}?status=a&_status=b" },
  similar_header: {
    target: "/header/{id}",
    headers: [
      ["x-role", "a"],
      ["xrole", "b"],
    ],
  },
  ambiguous_content_type: body('{"a":2}', ["content-type", "application/json; charset=utf-16"]),
  compressed_body: body('{"a":2}', ...JSON_BODY, ["content-encoding", "br"]),
  too_many_json_values: body(`[${"0,".repeat(10_001)}0]`),
  malformed_json: body('{"a":2'),
  duplicate_json_member: body('{"a":2,"a":1}'),
  similar_json_members: body('{"b":1,"B":2,"a":1}'),
  inexact_number: body('{"a":1,"b":1.00000000000000000001}'),
  similar_member: body('{"a":1,"_a":2}'),
  format_suffix: { target: "/case/{id}/export.json" },
  letter_case: { target: "/case/{id}/LOWER" },
};

/** What is no matter of the request alone is not reported as accepted. */
const OF_RULES: readonly Name[] = ["letter_case", "format_suffix"];

const PROTOCOLS = ["HTTP1", "HTTP2"] as const;
type Protocol = (typeof PROTOCOLS)[number];

async function send(
  gateway: RunningGateway,
  protocol: Protocol,
  { target, headers = [], host = "app.test", body: text }: Sent,
): Promise<{ readonly status: number; readonly body: string }> {
  const method = text === undefined ? "GET" : "POST";
  if (protocol === "HTTP2") {
    const pseudo = { ":method": method, ":path": target, ":authority": host };
    const options = text === undefined ? {} : { body: text };
    return sendHttp2(gateway.url, { ...pseudo, ...Object.fromEntries(headers) }, options);
  }
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: close",
    ...headers.map((header) => header.join(": ")),
    ...(text === undefined ? [] : [`Content-Length: ${text.length}`]),
  ];
  return sendRaw(gateway.port, [...lines, "", text ?? ""].join("\r\n"));
}

/** The request of a switch under an id of its own, by which its record is found. */
function requestOf(id: string, { target, ...rest }: Sent): Sent {
  const whole = target.startsWith("/") ? target : `/open/{id}/${target}`;
  return { ...rest, target: whole.replaceAll("{id}", id) };
}

describe("end to end: each switch of `gateway.accept_ambiguous` works, and opens nothing by itself", function () {
  this.timeout(240_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let strict: RunningGateway;
  let lenient: RunningGateway;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    const start = (accept_ambiguous: readonly string[]) =>
      startGateway({
        backend: upstream.url,
        issuer,
        policies: { "default.yaml": POLICIES },
        config: { gateway: { accept_ambiguous } },
      });
    strict = await start([]);
    lenient = await start(AMBIGUITY_NAMES);
  });
  after(async () => {
    await Promise.all([strict.stop(), lenient.stop(), issuer.close()]);
    await upstream.close();
  });

  const recordOf = (gateway: RunningGateway, id: string): Promise<AuditLine> =>
    eventually("the record", async () =>
      (await gateway.audit()).find(({ raw_path }) => String(raw_path).includes(`/${id}`)),
    );

  for (const name of AMBIGUITY_NAMES) {
    for (const protocol of PROTOCOLS) {
      it(`${name}, ${protocol}`, async () => {
        const id = `${name}-${protocol}`;
        const sent = requestOf(id, SWITCHES[name]);
        const before = upstream.seen.length;
        const refused = await send(strict, protocol, sent);
        assert.equal(refused.status, 400, refused.body);
        assert.equal(upstream.seen.length, before);
        const refusal = await recordOf(strict, id);
        assert.match(refusal.reason, /^AMBIGUOUS_/);
        if (name === "letter_case") assert.equal(refusal.reason, "AMBIGUOUS_CASE");
        else assert.match(String(refusal["detail"]), new RegExp(`^${name}: `));

        const passed = await send(lenient, protocol, sent);
        assert.equal(passed.status, 200, passed.body);
        assert.equal(upstream.seen.at(-1)?.url, sent.target, "the application gets what the client sent");
        const { decision, accepted_ambiguities: accepted } = await recordOf(lenient, id);
        assert.equal(decision, "ALLOW");
        assert.deepEqual(accepted, OF_RULES.includes(name) ? undefined : [name]);
      });
    }
  }

  describe("with all of them, nothing guarded is reached by another name", () => {
    const HIDDEN: readonly (readonly [target: string, header?: readonly [string, string]])[] = [
      ["x/../guarded/a"],
      ["x/%2e%2e/guarded/a"],
      ["x/..%2fguarded/a"],
      ["x/..%5Cguarded/a"],
      ["x/..\\guarded\\a"],
      ["guarded%2fa"],
      ["guarded%5ca"],
      ["/open/{id}//guarded/a"],
      ["/open//{id}/guarded/a"],
      ["//open/{id}/guarded/a"],
      ["//open/open/{id}/guarded/a"],
      ["guarded;v=1/a"],
      [";/guarded/a"],
      ["x/..;/guarded/a"],
      ["guarded%3bv=1/a"],
      ["guarded%3f/a"],
      ["guarded%23/a"],
      ["guarded%00/a"],
      ["gua%09rded/a"],
      ["guarded%0a"],
      ["%2567uarded/a"],
      ["x/%252e%252e/guarded/a"],
      ["x/%252e%252e%252fguarded/a"],
      ["x/%25252e%25252e/guarded/a"],
      ["x/%c0%ae%c0%ae/guarded/a"],
      ["x/..%c0%afguarded/a"],
      ["x/%ef%bc%8e%ef%bc%8e/guarded/a"],
      ["x/..%ef%bc%8fguarded/a"],
      ["%u0067uarded/a"],
      ["guar%ffded/a"],
      ["x/y/..//../guarded/a"],
      ["x//../guarded/a"],
      ["./guarded/./a"],
      ["x/%20..%20/guarded/a"],
      ["a/b/c/%2e%2e/%2e%2e/..;x/%2567uarded%2fa"],
      ["/elsewhere/../open/{id}/a"],
      ["/open/{id}/../../elsewhere/a"],
      ["/header/{id}/a", ["x-http-method-override", "GET"]],
      ["/query/{id}?x=a;status=a"],
      ["/query/{id}?;status=a"],
      ["/query/{id}?status=%u0061"],
      ["/query/{id}?status=a%ff"],
      ["/query/{id}?status=a%00"],
      ["/query/{id}?status=a;b"],
    ];
    HIDDEN.forEach(([target, header], index) => {
      for (const protocol of PROTOCOLS) {
        it(`${target}, ${protocol}`, async () => {
          const id = `hidden-${index}-${protocol}`;
          const sent = requestOf(id, { target, ...(header && { headers: [header] }) });
          const before = upstream.seen.length;
          const { status, body: text } = await send(lenient, protocol, sent);
          assert.ok([400, 401, 403].includes(status), `${status} ${text}`);
          assert.equal(upstream.seen.length, before);
          const { decision } = await recordOf(lenient, id);
          assert.equal(decision, "DENY");
        });
      }
    });

    it("a method that an application may take instead needs a rule of its own", async () => {
      const sent: Sent = { target: "/case/m-1/x", headers: [["x-http-method-override", "DELETE"]] };
      assert.equal((await send(lenient, "HTTP1", { target: "/case/m-0/x" })).status, 200);
      assert.equal((await send(lenient, "HTTP1", sent)).status, 403);
      const { reason, action, detail } = await recordOf(lenient, "m-1");
      assert.deepEqual([reason, action], ["NO_MATCHING_RULE", "GET"]);
      assert.match(String(detail), /accepted method_override, and could be DELETE \/case\/m-1\/x/);
    });

    it("the record says which reading was denied", async () => {
      await send(lenient, "HTTP1", { target: "/open/said/x/..%2fguarded/a" });
      const { reason, resource, rule_name, raw_path, detail } = await recordOf(lenient, "said");
      assert.equal(reason, "IDENTITY_REQUIRED");
      assert.equal(raw_path, "/open/said/x/..%2fguarded/a");
      assert.equal(resource, "/open/said/guarded/a");
      assert.equal(rule_name, "guarded");
      assert.match(
        String(detail),
        /accepted encoded_slash, dot_segment, and could be GET \/open\/said\/guarded\/a/,
      );
    });

    it("names that CGI servers take for framing stay refused", async () => {
      for (const name of ["content_length", "transfer_encoding"]) {
        const { status } = await send(lenient, "HTTP1", { target: "/open/cgi/a", headers: [[name, "5"]] });
        assert.equal(status, 400, name);
      }
    });
  });

  describe("what no switch accepts", () => {
    it("is what remains of the checks", () => {
      const never = REFUSAL_CHECKS.filter((check) => !(AMBIGUITY_NAMES as readonly string[]).includes(check));
      assert.deepEqual(never, [
        "malformed_method",
        "malformed_target",
        "fragment",
        "unencoded_character",
        "conflicting_content_length",
        "hop_by_hop_header",
        "path_override",
        "body_cut_short",
      ]);
    });

    const host = "Host: app.test";
    const REFUSED: Readonly<Record<string, readonly string[]>> = {
      "a fragment": ["GET /open/a#b HTTP/1.1", host],
      "another form of the target": ["GET open/a HTTP/1.1", host],
      "* for GET": ["GET * HTTP/1.1", host],
      "* for OPTIONS": ["OPTIONS * HTTP/1.1", host],
      "a method in small letters": ["get /open/a HTTP/1.1", host],
      TRACE: ["TRACE /open/a HTTP/1.1", host],
      CONNECT: ["CONNECT app.test:443 HTTP/1.1", host],
      "a raw blank": ["GET /open/a b HTTP/1.1", host],
      "a raw byte": ["GET /open/\xe9 HTTP/1.1", host],
      "two lengths": ["GET /open/a HTTP/1.1", host, "Content-Length: 0", "Content-Length: 0"],
      "two framings": ["GET /open/a HTTP/1.1", host, "Content-Length: 0", "Transfer-Encoding: chunked"],
    };
    for (const [what, lines] of Object.entries(REFUSED)) {
      it(what, async () => {
        const before = upstream.seen.length;
        const { status } = await sendRaw(lenient.port, [...lines, "Connection: close", "", ""].join("\r\n"));
        assert.ok(status >= 400 && status < 500, String(status));
        assert.equal(upstream.seen.length, before);
      });
    }

    it("a method in small letters, and a raw byte, over HTTP/2", async () => {
      const before = upstream.seen.length;
      for (const headers of [{ ":method": "get" }, { ":path": "/open/\xe9" }]) {
        const { status } = await sendHttp2(lenient.url, { ":path": "/open/a", ...headers });
        assert.equal(status, 400);
      }
      assert.equal(upstream.seen.length, before);
    });

    it("headers that name another path, or headers of one hop, do not reach the application", async () => {
      const names = ["X-Original-URL", "X_Original_URL", "X-Rewrite-URL", "X-Envoy-Original-Path"];
      const headers = [...names.map((name) => `${name}: /open/1/guarded`), "Connection: close, x-role"];
      const lines = ["GET /open/a HTTP/1.1", host, ...headers];
      assert.equal((await sendRaw(lenient.port, [...lines, "", ""].join("\r\n"))).status, 200);
      const seen = upstream.seen.at(-1)?.headers ?? {};
      for (const name of names) assert.equal(seen[name.toLowerCase()], undefined, name);
      assert.doesNotMatch(String(seen["connection"]), /x-role/);
    });
  });
});

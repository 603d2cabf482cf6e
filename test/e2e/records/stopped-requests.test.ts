import assert from "node:assert/strict";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";
import { activeRequests } from "../../../src/gateway/envoy-admin.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { startGateway, type AuditLine, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";

const POLICIES = `
policies:
  - { resource: "* /open/**", condition: "true" }
  - { resource: "* /audited/**", condition: "true", audit: required }
  - { resource: "* /masked/**", condition: "true" }
response_masks:
  - api_pattern: /masked/**
    fields:
      - { name: ssn, condition: "true", mask_type: full }
`;

/** Until it is over. `decided` comes true when the decision has been made and Envoy has it. */
type Send = (path: string, port: number, decided: () => Promise<void>) => Promise<void>;

const head = (path: string, ...lines: readonly string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: app.test", ...lines, "", ""].join("\r\n");
const LEAVE = Symbol("leave");
const CHUNKED = "Transfer-Encoding: chunked";

/** Whatever else happens to it. */
function closing(stream: Duplex): Promise<unknown> {
  return new Promise((resolve) => stream.on("close", resolve));
}

/** HTTP/1.1: these bytes, then others, or none, and the client leaves. */
function http1(first: (path: string) => string, then?: string | typeof LEAVE): Send {
  return async (path, port, decided) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.on("data", () => socket.end());
    const closed = closing(socket);
    socket.write(first(path));
    if (then !== undefined) await decided();
    if (then === LEAVE) socket.destroy();
    else if (then !== undefined) socket.write(then);
    await closed;
  };
}

function http2(body: string, leave?: "within the body" | "after it"): Send {
  return async (path, port, decided) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.on("error", () => undefined);
    const stream = session.request({ ":method": "POST", ":path": path });
    stream.on("error", () => undefined);
    const closed = closing(stream);
    stream.resume();
    if (leave === "within the body") stream.write(body);
    else stream.end(body);
    if (leave !== undefined) {
      await decided();
      // close() would end the body first
      stream.destroy(new Error("leaves"));
    }
    await closed;
    session.destroy();
  };
}

const LARGE = "x".repeat(5_000);
const begun = (path: string) => `${head(path, CHUNKED)}4\r\nabcd\r\n`;

const STOPPED: readonly (readonly [name: string, send: Send, reason: string, status: number])[] = [
  [
    "too large, chunked",
    http1((path) => `${head(path, CHUNKED)}1388\r\n${LARGE}\r\n0\r\n\r\n`),
    "REQUEST_TOO_LARGE",
    413,
  ],
  ["too large, HTTP/2", http2(LARGE), "REQUEST_TOO_LARGE", 413],
  ["a broken chunk", http1(begun, "ZZ\r\n"), "MALFORMED_REQUEST", 400],
  ["a client that leaves", http1(begun, LEAVE), "CLIENT_GONE", 0],
  ["a client that leaves, HTTP/2", http2("abcd", "within the body"), "CLIENT_GONE", 0],
  ["no end", http1(begun, ""), "REQUEST_TIMEOUT", 408],
];

const RULES = ["audited", "open", "masked"];

describe("end to end: requests that are allowed and come to nothing in Envoy", function () {
  this.timeout(180_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let envoyAdmin: { readonly host: string; readonly port: number };

  before(async () => {
    envoyAdmin = { host: "127.0.0.1", port: await freePort() };
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    upstream.answer = (request, response) => {
      request.resume();
      if (request.url?.endsWith("/hangs") === true) return;
      response.writeHead(Number(/\d{3}$/.exec(request.url ?? "")?.[0] ?? 200), {
        "content-type": "application/json",
      });
      response.end("{}");
    };
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": POLICIES },
      config: {
        gateway: {
          // Envoy shall not take a worker for dead that a test has stopped
          cluster: { nodes: 1, health_check_interval: "5m" },
          envoy_admin: `${envoyAdmin.host}:${envoyAdmin.port}`,
          security: { request_size_limit: "1KB" },
          routes: [{ path: "/open/large/**", request_size_limit: "400KB" }],
          performance: { request_timeout: "10s", upload_memory_limit: "1MiB" },
        },
      },
    });
    const sent = RULES.flatMap((rule) =>
      STOPPED.map(async ([, send], index) => {
        const path = `/${rule}/${index}`;
        await send(path, gateway.port, decidedOn(path));
      }),
    );
    await Promise.all(sent);
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const recordsOf = async (path: string) =>
    (await gateway.audit()).filter(({ resource }) => resource === path);
  /** What is not `audit: required` is written down a moment after it was decided. */
  const recordOf = (path: string) => eventually("the record", async () => (await recordsOf(path))[0]);
  const ask = async (path: string) => {
    const { status } = await fetch(`${gateway.url}${path}`);
    return status;
  };
  /** Its record is there, and a request that came later has been answered: so Envoy has the decision by now. */
  const decidedOn = (path: string) => async () => {
    await recordOf(path);
    for (let turn = 0; turn < 5; turn += 1) assert.equal(await ask("/open/later"), 200);
  };
  const outcomesOf = async ({ request_id: id, decision_id: decision }: AuditLine) =>
    (await gateway.audit()).filter(
      (line) =>
        line["event"] !== undefined && (line["request_id"] === id || line["decision_id"] === decision),
    );

  for (const rule of RULES) {
    describe(`by a rule of /${rule}`, () => {
      for (const [index, [name, , reason, status]] of STOPPED.entries()) {
        it(name, async () => {
          const path = `/${rule}/${index}`;
          const record = await recordOf(path);
          assert.equal(record.decision, "ALLOW");
          const [outcome, ...more] = await eventually("the line beside it", async () => {
            const found = await outcomesOf(record);
            return found.length > 0 && found;
          });
          assert.deepEqual(more, []);
          assert.equal((await recordsOf(path)).length, 1);
          const { event, result, reason: why, response_code: code, request_id: request } = outcome!;
          assert.deepEqual(
            [event, result, why, code, request],
            ["response", "not_forwarded", reason, status, record["request_id"]],
          );
          assert.ok(!upstream.seen.some(({ url }) => url === path));
        });
      }
    });
  }

  it("are those that there is no memory for, because of others that do not end", async () => {
    // each thread holds one of them, and not a second one
    const body = "x".repeat(380_000);
    const others = Array.from({ length: 16 }, () => {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(`${head("/open/large/unfinished", CHUNKED)}${body.length.toString(16)}\r\n${body}\r\n`);
      return socket;
    });
    let tries = 0;
    const path = await eventually("a refusal", async () => {
      const tried = `/open/large/${String((tries += 1))}`;
      const stream = new Blob([body]).stream();
      const options = { method: "POST", body: stream, duplex: "half" } as RequestInit;
      const { status } = await fetch(`${gateway.url}${tried}`, options);
      return status === 503 && tried;
    });
    for (const socket of others) socket.destroy();
    const record = await recordOf(path);
    const [outcome] = await eventually("the line beside it", async () => {
      const found = await outcomesOf(record);
      return found.length > 0 && found;
    });
    assert.deepEqual(
      [record.decision, outcome?.["reason"], outcome?.["response_code"]],
      ["ALLOW", "OVERLOADED", 503],
    );
    assert.ok(!upstream.seen.some(({ url }) => url === path));
  });

  it("are no others: what was forwarded, or denied, has no such line", async () => {
    const paths = ["/open/200", "/open/404", "/open/503", "/denied"];
    const statuses = await Promise.all(paths.map(ask));
    assert.deepEqual(statuses, [200, 404, 503, 403]);
    // sent by the same thread of Envoy at the latest with the next of them
    await STOPPED[1]![1]("/open/last", gateway.port, () => Promise.resolve());
    await eventually("the last line", async () => {
      const [record] = await recordsOf("/open/last");
      return record !== undefined && (await outcomesOf(record)).length > 0;
    });
    for (const path of paths) {
      const records = await recordsOf(path);
      assert.equal(records.length, 1, path);
      assert.deepEqual(await outcomesOf(records[0]!), [], path);
    }
  });

  const reached = (path: string) => async () => {
    await eventually("it has reached the application", () => upstream.seen.some(({ url }) => url === path));
  };
  const ended = (path: string) => `${head(path, "Content-Length: 2")}{}`;
  for (const [over, send] of Object.entries({ http1: http1(ended, LEAVE), http2: http2("{}", "after it") }))
    it(`have such a line where their plan was not carried out before the client left (${over})`, async () => {
      const path = `/masked/${over}/hangs`;
      await send(path, gateway.port, reached(path));
      const record = await recordOf(path);
      assert.equal(record.decision, "ALLOW");
      const [outcome, ...more] = await eventually("the line beside it", async () => {
        const found = await outcomesOf(record);
        return found.length > 0 && found;
      });
      assert.deepEqual(more, []);
      assert.deepEqual([outcome?.["event"], outcome?.["result"]], ["response", "unfinished"]);
    });

  it("while many are decided, of which half leave: each has one record, and ALLOW says that it was let through", async () => {
    const [worker] = (await gateway.children()).workers;
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    session.on("error", () => undefined);
    const before = upstream.seen.length;
    process.kill(worker!, "SIGSTOP");
    const streams = Array.from({ length: 40 }, (_, index) =>
      session.request({ ":path": `/open/crowd/${index}` }),
    );
    for (const stream of streams) {
      stream.on("error", () => undefined);
      stream.resume();
    }
    const closed = streams.map(closing);
    try {
      const held = await envoyHolds((count) => count >= 40);
      for (const stream of streams.slice(0, 20)) stream.close(constants.NGHTTP2_CANCEL);
      await envoyHolds((count) => count <= held - 20);
    } finally {
      process.kill(worker!, "SIGCONT");
    }
    await Promise.all(closed);
    session.destroy();
    const seen = upstream.seen.slice(before).map(({ url }) => url);
    assert.equal(seen.length, 20);
    const crowd = await eventually("the record or the line of each that left", async () => {
      const lines = await gateway.audit();
      const left = lines.filter(({ reason }) => reason === "CLIENT_GONE").map((line) => line["request_id"]);
      const records = lines.filter((line) => "resource" in line && line.resource.startsWith("/open/crowd/"));
      const passed = records.filter((record) => !left.includes(record["request_id"]));
      return records.length >= 40 && passed.length <= seen.length && { records, passed };
    });
    assert.equal(crowd.records.length, 40);
    assert.equal(new Set(crowd.records.map((record) => record["request_id"])).size, 40);
    assert.deepEqual(crowd.passed.map(({ resource }) => resource).sort(), seen.sort());
    assert.ok(crowd.passed.every(({ decision }) => decision === "ALLOW"));
  });

  /** Waits for so many requests in Envoy; others may still be ending. */
  const envoyHolds = (isSo: (count: number) => boolean) =>
    eventually("the requests in Envoy", async () => {
      const count = await activeRequests(envoyAdmin);
      return isSo(count) && count;
    });

  it("while they are decided: the record, or the line beside it, says what the client got", async () => {
    await http1((path) => `${head(path, CHUNKED)}ZZ\r\n`)("/audited/at-once", gateway.port, () =>
      Promise.resolve(),
    );
    const said = async () => {
      const records = await recordsOf("/audited/at-once");
      const [outcome] = records[0] === undefined ? [] : await outcomesOf(records[0]);
      assert.ok(records.length <= 1);
      const refused = records.find(({ decision }) => decision === "DENY") ?? outcome;
      return refused?.reason;
    };
    assert.equal(await eventually("what the client got", said), "MALFORMED_REQUEST");
    assert.ok(!upstream.seen.some(({ url }) => url === "/audited/at-once"));
  });
});

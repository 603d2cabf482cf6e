import assert from "node:assert/strict";
import { request } from "node:http";
import { connect, constants } from "node:http2";
import { gzipSync } from "node:zlib";
import { send, sendRaw, get } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { ALLOW, headerValues, type Check } from "../support/authz-stub.ts";
import { field, planned, responsePlan } from "../support/plans.ts";

const SECRET = "123-45-6789";
const PLAN = responsePlan(
  field("ssn"),
  field("card", { action: { kind: "partial" } }),
  field("note", { action: { kind: "remove" } }),
);

/** What the service says about the request beside the plan. */
const requestOf = (check: Check) => ({
  method: check.attributes.request.http.method,
  request_id: headerValues(check, "x-request-id")[0] ?? "",
});

describe("gateway: responses", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      overrides: {
        "gateway.security.response_size_limit": "4MB",
        "gateway.security.request_size_limit": "4MB",
      },
    });
  });
  beforeEach(() => {
    gateway.authz.decide = (check) => planned(PLAN, requestOf(check));
  });
  after(() => gateway.stop());

  /** Lets the application answer with these headers and parts of a body. */
  function answer(
    body: string | Buffer | readonly (string | Buffer)[],
    headers: Record<string, string> = {},
    status = 200,
  ): void {
    const parts: readonly (string | Buffer)[] =
      typeof body === "string" || Buffer.isBuffer(body) ? [body] : body;
    gateway.upstream.answer = (_request, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      for (const part of parts) response.write(part);
      response.end();
    };
  }

  const ask = (path = "/", method = "GET") => send(gateway.port, path, { method });

  function assertRefused({ status, headers, body }: Awaited<ReturnType<typeof ask>>): void {
    assert.equal(status, 502);
    assert.equal(headers["content-type"], "application/json");
    const envelope = JSON.parse(body) as {
      success: boolean;
      error: { code: string };
      meta: { request_id: string };
    };
    assert.equal(envelope.success, false);
    assert.equal(envelope.error.code, "RESPONSE_NOT_DELIVERED");
    assert.equal(envelope.meta.request_id, headers["x-request-id"]);
    assert.ok(!body.includes(SECRET));
    for (const name of ["etag", "content-encoding", "content-range", "set-cookie"])
      assert.equal(headers[name], undefined, name);
  }

  describe("that can be read", () => {
    it("are changed where a rule says so, and nowhere else", async () => {
      answer(
        `{ "id" : 12345678901234567890.10, "ssn":"${SECRET}",\n "card": "4111111111111111", "note":"x" , "z":[1.0e5]}`,
      );
      const { status, body } = await ask();
      assert.equal(status, 200);
      assert.equal(body, '{ "id" : 12345678901234567890.10, "ssn":"***",\n "card": "***1111" , "z":[1.0e5]}');
    });

    it("say nothing about the original in their headers", async () => {
      answer(`{"ssn":"${SECRET}"}`, {
        etag: '"abc"',
        digest: "sha-256=x",
        "content-md5": "y",
        "accept-ranges": "bytes",
        "content-length": "21",
        "cache-control": "public, max-age=60",
      });
      const { headers, body } = await ask();
      assert.equal(headers["content-length"], String(body.length));
      for (const name of ["etag", "digest", "content-md5", "accept-ranges"])
        assert.equal(headers[name], undefined, name);
      assert.equal(headers["cache-control"], "private, no-cache");
    });

    it("are changed whatever their status is", async () => {
      for (const status of [201, 400, 404, 422, 500, 503]) {
        answer(`{"error":{"ssn":"${SECRET}"}}`, {}, status);
        const { status: received, body } = await ask();
        assert.deepEqual([received, body], [status, '{"error":{"ssn":"***"}}']);
      }
    });

    it("may have any JSON type, and parameters", async () => {
      for (const type of ["application/json;charset=UTF-8", "application/problem+json", "Text/JSON"]) {
        answer(`{"ssn":"${SECRET}"}`, { "content-type": type });
        assert.equal((await ask()).body, '{"ssn":"***"}', type);
      }
    });

    it("may be larger than any buffer on the way, and come in many parts", async () => {
      const record = `{"name":"${"n".repeat(500)}","ssn":"${SECRET}"},`;
      const count = Math.floor(3_000_000 / record.length);
      const body = `[${record.repeat(count)}null]`;
      for (const size of [1000, 70_000, body.length]) {
        const parts = Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
          body.slice(index * size, (index + 1) * size),
        );
        answer(parts);
        const received = (await ask()).body;
        assert.equal(received.length, body.length - count * (SECRET.length - 3));
        assert.equal(received, body.replaceAll(SECRET, "***"));
      }
    });

    it("reach HTTP/2 clients changed as well", async () => {
      answer(`{"ssn":"${SECRET}"}`, { "content-length": "21" });
      const session = connect(`http://127.0.0.1:${gateway.port}`);
      const stream = session.request({ [constants.HTTP2_HEADER_PATH]: "/" });
      let text = "";
      for await (const chunk of stream.setEncoding("utf8")) text += chunk as string;
      session.close();
      assert.equal(text, '{"ssn":"***"}');
    });

    it("without a body pass, and tell no length of what was hidden", async () => {
      answer(`{"ssn":"${SECRET}"}`, { "content-length": "21", etag: '"x"' });
      const head = await ask("/", "HEAD");
      assert.deepEqual(
        [head.status, head.headers["content-length"], head.headers["etag"]],
        [200, undefined, undefined],
      );
      for (const status of [204, 304]) {
        gateway.upstream.answer = (_request, response) => response.writeHead(status).end();
        assert.equal((await ask()).status, status);
      }
      for (const headers of [{ "content-length": "0" }, {}]) {
        gateway.upstream.answer = (_request, response) =>
          response.writeHead(302, { location: "/x", ...headers }).end();
        const { status, headers: received } = await ask();
        assert.deepEqual([status, received["location"]], [302, "/x"]);
      }
    });

    it("are evaluated by conditions on themselves; what is unknown masks", async () => {
      gateway.authz.decide = () =>
        planned(
          responsePlan(
            field("ssn", {
              when: {
                op: "!=",
                left: { op: "attribute", path: ["item", "owner"] },
                right: { op: "literal", value: "me" },
              },
            }),
            field("trace", {
              when: {
                op: "<",
                left: { op: "attribute", path: ["response", "status"] },
                right: { op: "literal", value: 500 },
              },
            }),
          ),
        );
      answer(`[{"owner":"me","ssn":"1"},{"owner":"you","ssn":"2"},{"ssn":"3"}]`);
      assert.equal(
        (await ask()).body,
        '[{"owner":"me","ssn":"1"},{"owner":"you","ssn":"***"},{"ssn":"***"}]',
      );
      answer(`{"trace":"t"}`, {}, 500);
      assert.equal((await ask()).body, '{"trace":"t"}');
      answer(`{"trace":"t"}`, {}, 400);
      assert.equal((await ask()).body, '{"trace":"***"}');
    });
  });

  describe("in a stream", () => {
    it("of lines are changed line by line, as they come", async () => {
      let finish = (): void => undefined;
      gateway.upstream.answer = (_request, response) => {
        response.writeHead(200, { "content-type": "application/x-ndjson" });
        response.write(`{"ssn":"${SECRET}","n":1}\n{"ss`);
        finish = () => {
          response.end(`n":"${SECRET}","n":2}\nnot json ${SECRET}\n{"n":3}`);
        };
      };
      const received: string[] = [];
      await new Promise<void>((resolve, reject) => {
        const call = request(
          { host: "127.0.0.1", port: gateway.port, path: "/", agent: false },
          (response) => {
            response.setEncoding("utf8").on("data", (chunk: string) => {
              received.push(chunk);
              if (received.length === 1) finish();
            });
            response.on("end", resolve);
          },
        );
        call.on("error", reject).end();
      });
      assert.equal(
        received[0],
        '{"ssn":"***","n":1}\n',
        "the first line came before the second was complete",
      );
      assert.equal(received.join(""), '{"ssn":"***","n":1}\n{"ssn":"***","n":2}\n{"n":3}');
    });

    it("of events are changed event by event", async () => {
      answer(
        [
          `: hi\nid: 1\ndata: {"ssn":"${SECRET}"}\n\nda`,
          `ta: {"ssn":\ndata: "${SECRET}"}\n\n`,
          "data: [DONE]\n\n",
        ],
        {
          "content-type": "text/event-stream",
        },
      );
      const { body } = await ask();
      assert.ok(!body.includes(SECRET), body);
      assert.match(body, /^\nid: 1\ndata: \{"ssn":"\*\*\*"\}\n\n/);
      assert.equal(body.match(/\*\*\*/g)?.length, 2);
      assert.ok(!body.includes("[DONE]"), "what cannot be evaluated is not delivered");
    });
  });

  describe("that cannot be read are not delivered", () => {
    const bodies: readonly [
      name: string,
      body: string | Buffer,
      headers: Record<string, string>,
      status?: number,
    ][] = [
      ["compressed all the same", gzipSync(`{"ssn":"${SECRET}"}`), { "content-encoding": "gzip" }],
      ["of unknown coding", `{"ssn":"${SECRET}"}`, { "content-encoding": "x-own" }],
      ["not JSON", `<b>${SECRET}</b>`, { "content-type": "text/html" }],
      ["plain text", SECRET, { "content-type": "text/plain", "content-length": "11" }],
      [
        "of another charset",
        Buffer.from(`{"ssn":"${SECRET}"}`, "utf16le"),
        { "content-type": "application/json; charset=utf-16" },
      ],
      ["of two types", `{"ssn":"${SECRET}"}`, { "content-type": "application/json, text/html" }],
      ["broken", `{"ssn":"${SECRET}"`, {}],
      ["followed by more", `{"a":1} {"ssn":"${SECRET}"}`, {}],
      ["with a byte order mark", `\uFEFF{"ssn":"${SECRET}"}`, {}],
      ["partial", `{"ssn":"${SECRET}"}`, { "content-range": "bytes 0-20/40" }, 206],
      ["too deep", `${"[".repeat(10_000)}"${SECRET}"${"]".repeat(10_000)}`, {}],
      ["too large", `["${"x".repeat(4_100_000)}","${SECRET}"]`, {}],
      ["too large, and saying so", `["${"x".repeat(4_100_000)}"]`, { "content-length": "4100004" }],
      ["larger than anything that is held back", `["${"x".repeat(9_000_000)}","${SECRET}"]`, {}],
    ];
    for (const [name, body, headers, status] of bodies) {
      it(name, async () => {
        answer(body, { etag: '"x"', "set-cookie": `a=${SECRET}`, ...headers }, status);
        assertRefused(await ask());
      });
    }

    it("cut short by the application", async () => {
      gateway.upstream.answer = (_request, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.write(`{"ssn":"${SECRET}",`);
        setTimeout(() => response.destroy(), 20);
      };
      const received = await sendRaw(gateway.port, get("/"));
      assert.ok(!received.includes(SECRET), received);
      assert.doesNotMatch(received, /^HTTP\/1.1 200/);
    });

    it("because the plan is none", async () => {
      answer(`{"ssn":"${SECRET}"}`);
      for (const plan of [
        "nonsense",
        "null",
        "{}",
        '{"ir":99}',
        "",
        '{"ir":1,"response":{"limit":1,"fields":7}}',
      ]) {
        gateway.authz.decide = (check) => planned(plan, requestOf(check));
        assertRefused(await ask());
      }
    });
  });

  it("that no rule touches are neither read nor held back", async () => {
    gateway.authz.decide = () => ALLOW;
    let finish = (): void => undefined;
    gateway.upstream.answer = (_request, response) => {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-encoding": "gzip",
        etag: '"x"',
      });
      response.write("first");
      finish = () => {
        response.end("x".repeat(6_000_000));
      };
    };
    const sizes: number[] = [];
    await new Promise<void>((resolve, reject) => {
      const call = request({ host: "127.0.0.1", port: gateway.port, path: "/", agent: false }, (response) => {
        assert.equal(response.headers["etag"], '"x"');
        response.on("data", (chunk: Buffer) => {
          sizes.push(chunk.length);
          if (sizes.length === 1) finish();
        });
        response.on("end", resolve);
      });
      call.on("error", reject).end();
    });
    assert.equal(sizes[0], 5, "the first part came at once");
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      6_000_005,
    );
  });
});

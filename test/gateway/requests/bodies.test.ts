import assert from "node:assert/strict";
import {
  ALLOW,
  ASK_AGAIN,
  denial,
  headerValues,
  type Check,
  type CheckAnswer,
} from "../support/authz-stub.ts";
import { connect } from "node:net";
import { send, sendHttp2, sendRaw, until } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const bodyOf = (check: Check | undefined) => check?.attributes.request.http.rawBody.toString("latin1");
const extensionOf = (check: Check | undefined) => check?.attributes.contextExtensions["gatehouse_body"];

/** Asks for the body first, and then answers. */
function withBody(answer: CheckAnswer) {
  return (check: Check) => (extensionOf(check) === "handed_over" ? answer : ASK_AGAIN);
}

describe("bodies that decisions need", () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ overrides: { "gateway.security.request_size_limit": "2MB" } });
  });
  after(() => gateway.stop());
  beforeEach(() => {
    gateway.upstream.seen.length = 0;
    gateway.authz.checks.length = 0;
    gateway.authz.decide = () => ALLOW;
  });

  const body = Buffer.from('{"a":"\xff\0"}', "latin1");

  for (const chunked of [false, true]) {
    const how = chunked ? "without a length" : "with a length";
    it(`stay with Envoy where the first answer is a decision, ${how}`, async () => {
      assert.equal((await send(gateway.port, "/x", { method: "POST", body, chunked })).status, 200);
      assert.deepEqual(gateway.authz.checks.map(extensionOf), ["on_request"]);
      assert.deepEqual(gateway.authz.checks.map(bodyOf), [""]);
      assert.equal(gateway.upstream.seen[0]?.bytes, body.length);
    });

    it(`come with a second check where it is none, ${how}`, async () => {
      gateway.authz.decide = withBody(ALLOW);
      assert.equal((await send(gateway.port, "/x", { method: "POST", body, chunked })).status, 200);
      assert.deepEqual(gateway.authz.checks.map(extensionOf), ["on_request", "handed_over"]);
      assert.deepEqual(gateway.authz.checks.map(bodyOf), ["", body.toString("latin1")]);
      assert.equal(gateway.upstream.seen[0]?.bytes, body.length);
    });

    it(`are not forwarded when the second check denies, ${how}`, async () => {
      gateway.authz.decide = withBody(denial(403, "no"));
      const answer = await send(gateway.port, "/x", { method: "POST", body, chunked });
      assert.equal(answer.status, 403);
      assert.equal(answer.body, "no");
      assert.equal(gateway.upstream.seen.length, 0);
    });
  }

  it("are none where the second check has no bytes", async () => {
    gateway.authz.decide = withBody(ALLOW);
    for (const method of ["GET", "HEAD", "DELETE", "POST"]) {
      gateway.authz.checks.length = 0;
      assert.equal((await send(gateway.port, "/x", { method })).status, 200);
      assert.deepEqual(gateway.authz.checks.map(extensionOf), ["on_request", "handed_over"], method);
      assert.deepEqual(gateway.authz.checks.map(bodyOf), ["", ""], method);
    }
  });

  // neither a length nor Transfer-Encoding tells the service that these requests have a body
  for (const method of ["GET", "HEAD", "OPTIONS", "DELETE", "POST"]) {
    it(`come with the second check of ${method} over HTTP/2, whatever the headers say`, async () => {
      gateway.authz.decide = withBody(ALLOW);
      const answer = await sendHttp2(gateway.port, "/x", { method, body: "secret" });
      assert.equal(answer.status, 200);
      assert.deepEqual(gateway.authz.checks.map(bodyOf), ["", "secret"]);
      gateway.authz.checks.length = 0;
      await sendHttp2(gateway.port, "/x", { method, body: "secret", trailers: { "x-end": "1" } });
      assert.deepEqual(gateway.authz.checks.map(bodyOf), ["", "secret"], "with trailers");
    });

    if (method === "POST") continue;
    it(`come with the second check of ${method} in chunks`, async () => {
      gateway.authz.decide = withBody(ALLOW);
      const request = [`${method} /x HTTP/1.1`, "Host: app.test", "Connection: close"];
      const chunks = ["Transfer-Encoding: chunked", "", "6", "secret", "0", "", ""];
      await sendRaw(gateway.port, [...request, ...chunks].join("\r\n"));
      assert.deepEqual(gateway.authz.checks.map(bodyOf), ["", "secret"]);
    });
  }

  it("of a request that asks for an upgrade are not handed over", async () => {
    gateway.authz.decide = withBody(denial(403, "no"));
    for (const upgrade of ["websocket", "h2c", "other"]) {
      const head = [
        "POST /x HTTP/1.1",
        "Host: app.test",
        "Connection: Upgrade, close",
        `Upgrade: ${upgrade}`,
      ];
      await sendRaw(gateway.port, [...head, "Content-Length: 6", "", "secret"].join("\r\n"));
      assert.equal(gateway.upstream.seen.length, 0, upgrade);
    }
  });

  for (const size of [300_000, 600_000, 1_048_575, 1_048_576, 1_048_577, 1_600_000, 5_000_000]) {
    const whole = size <= 1_048_576;
    it(`of ${size} bytes are ${whole ? "handed over" : "answered 413, or marked as cut short"}`, async () => {
      const large = "x".repeat(size);
      const senders = {
        "with a length": () => send(gateway.port, "/x", { method: "POST", body: large }),
        "in chunks": () => send(gateway.port, "/x", { method: "POST", body: large, chunked: true }),
        "over HTTP/2": () => sendHttp2(gateway.port, "/x", { method: "POST", body: large }),
      };
      for (const [how, post] of Object.entries(senders)) {
        gateway.authz.checks.length = 0;
        gateway.authz.decide = withBody(whole ? ALLOW : denial(413, "too large"));
        assert.equal((await post()).status, whole ? 200 : 413, how);
        const [, second] = gateway.authz.checks;
        if (whole) assert.equal(bodyOf(second)?.length, size, how);
        if (second !== undefined) {
          assert.deepEqual(headerValues(second, "x-envoy-auth-partial-body"), [String(!whole)], how);
        }
      }
      assert.deepEqual(
        gateway.upstream.seen.map(({ bytes }) => bytes),
        whole ? [size, size, size] : [],
      );
    });
  }

  it("that arrive while the first check is under way come whole", async () => {
    gateway.authz.decide = withBody(ALLOW);
    const socket = connect(gateway.port, "127.0.0.1");
    const answered = new Promise<string>((resolve) => {
      let text = "";
      socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
      socket.on("close", () => {
        resolve(text);
      });
    });
    socket.write("POST /x HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nContent-Length: 9\r\n\r\none");
    await until(() => gateway.authz.checks.length === 1, "the first check came");
    socket.write("two");
    socket.write("six");
    assert.match(await answered, /^HTTP\/1\.1 200/);
    assert.deepEqual(gateway.authz.checks.map(bodyOf), ["", "onetwosix"]);
  });

  it("are not forwarded when the service fails at the second check", async () => {
    gateway.authz.decide = withBody({ status: { code: 13 } });
    const answer = await send(gateway.port, "/x", { method: "POST", body });
    assert.notEqual(answer.status, 200);
    assert.equal(gateway.upstream.seen.length, 0);
  });

  it("are asked for again where the first answer's metadata say anything but that it is final", async () => {
    for (const value of [
      { boolValue: false },
      { stringValue: "true" },
      { numberValue: 1 },
      { nullValue: 0 },
    ]) {
      gateway.authz.checks.length = 0;
      const odd = { status: { code: 0 }, okResponse: {}, dynamicMetadata: { fields: { final: value } } };
      gateway.authz.decide = (check) => (extensionOf(check) === "handed_over" ? denial(403, "no") : odd);
      assert.equal((await send(gateway.port, "/x")).status, 403, JSON.stringify(value));
    }
  });
});

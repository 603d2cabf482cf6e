import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { ControlPlaneClient, ControlPlaneError } from "../../src/sync/index.ts";
import { FakeControlPlane, ordinary, type Fault } from "../support/fake-control-plane.ts";

const plainState = JSON.stringify({
  success: true,
  data: { cursor: "c", complete: true, customers: [], sessions_ended: [], users: [], policy_sets: [] },
});
const zipped = (content: string | Buffer): Fault => ({
  body: gzipSync(content),
  headers: { "content-encoding": "gzip" },
});
/** With a byte in a text that stands for nothing. */
const notUtf8 = (text: string) => Buffer.from(text.replace('"c"', '"\xff"'), "latin1");

describe("following: client", () => {
  let plane: FakeControlPlane;
  let client: ControlPlaneClient;

  beforeEach(async () => {
    plane = await FakeControlPlane.start();
    client = new ControlPlaneClient(plane.options);
  });
  afterEach(async () => {
    client.close();
    await plane.close();
  });

  const failureOf = async (call: Promise<unknown>): Promise<ControlPlaneError> => {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ControlPlaneError, inspect(error));
    return error;
  };
  const codeOf = async (call: Promise<unknown>) => (await failureOf(call)).code;

  describe("where it calls", () => {
    for (const [url, why] of [
      ["http://control.example", "not on loopback"],
      ["ftp://127.0.0.1", "no http"],
      ["https://user:pass@control.example", "with credentials"],
      ["https://control.example/?a=b", "with a query"],
      ["not a url", "no URL"],
    ] as const) {
      it(`refuses an address ${why}`, () => {
        assert.throws(() => new ControlPlaneClient({ url, apiKey: "k" }), TypeError);
      });
    }

    it("takes https, loopback, and a path in front of the API", async () => {
      new ControlPlaneClient({ url: "https://control.example", apiKey: "k" }).close();
      const server = createServer((request, response) => response.end(request.url));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const paths: (string | undefined)[] = [];
      server.on("request", ({ url }) => paths.push(url));
      const { port } = server.address() as AddressInfo;
      for (const url of [`http://127.0.0.1:${port}/a/b`, `http://127.0.0.1:${port}/a/b/`]) {
        const prefixed = new ControlPlaneClient({ url, apiKey: "k" });
        await failureOf(prefixed.user("usr_1"));
        prefixed.close();
      }
      assert.deepEqual(paths, ["/a/b/v1/gateway/users/usr_1", "/a/b/v1/gateway/users/usr_1"]);
      await new Promise((resolve) => server.close(resolve));
    });

    for (const apiKey of ["", "a b", "a\r\nx-evil: 1", "ключ"]) {
      it(`refuses the key ${JSON.stringify(apiKey)}, and does not repeat it`, () => {
        assert.throws(
          () => new ControlPlaneClient({ url: "https://control.example", apiKey }),
          (error: Error) => error instanceof TypeError && (apiKey === "" || !inspect(error).includes(apiKey)),
        );
      });
    }
  });

  it("sends the key, and never tells it", async () => {
    await client.state(undefined, 0);
    assert.equal(plane.asked[0]?.authorization, `Bearer ${plane.apiKey}`);
    const faults: Fault[] = [{ status: 500 }, { body: "?" }, "reset", "cut"];
    for (const fault of faults) {
      plane.fault = () => fault;
      const error = await failureOf(client.state(undefined, 0));
      assert.ok(!inspect(error, { depth: 20, showHidden: true }).includes(plane.apiKey));
    }
    assert.ok(!inspect(client, { depth: 20, showHidden: true }).includes(plane.apiKey));
  });

  describe("what goes wrong has a code", () => {
    const faults: [string, Fault, string][] = [
      ["an error of the API", { status: 503, code: "SERVICE_UNAVAILABLE" }, "SERVICE_UNAVAILABLE"],
      ["a refused key", { status: 401, code: "UNAUTHORIZED" }, "UNAUTHORIZED"],
      ["an error of somebody else", { status: 502, body: "<html>bad gateway</html>" }, "MALFORMED_ANSWER"],
      ["no JSON", { body: "hello" }, "MALFORMED_ANSWER"],
      ["no envelope", { body: "{}" }, "MALFORMED_ANSWER"],
      [
        "an envelope that contradicts the status",
        { body: '{"success":false,"error":{}}' },
        "MALFORMED_ANSWER",
      ],
      ["an envelope without data", { body: '{"success":true}' }, "MALFORMED_ANSWER"],
      ["data of another shape", { body: '{"success":true,"data":{"cursor":1}}' }, "MALFORMED_ANSWER"],
      ["invalid UTF-8", { body: notUtf8(plainState) }, "MALFORMED_ANSWER"],
      [
        "no gzip where it says so",
        { body: plainState, headers: { "content-encoding": "gzip" } },
        "MALFORMED_ANSWER",
      ],
      [
        "a coding that was not asked for",
        { body: plainState, headers: { "content-encoding": "br" } },
        "MALFORMED_ANSWER",
      ],
      ["an answer cut short", "cut", "UNREACHABLE"],
      ["a connection that breaks", "reset", "UNREACHABLE"],
    ];
    for (const [what, fault, code] of faults) {
      it(what, async () => {
        plane.fault = () => fault;
        assert.equal(await codeOf(client.state(undefined, 0)), code);
      });
    }

    it("and the same answer without the fault has none, compressed or not", async () => {
      const page = plainState.replace('"complete":true', '"complete":true,"more":false');
      for (const fault of [{ body: plainState }, zipped(plainState), zipped(page)]) {
        plane.fault = () => fault;
        assert.equal((await client.state(undefined, 0)).cursor, "c");
      }
    });

    it("an answer that is small only as long as it is compressed", async () => {
      const fault = zipped(Buffer.alloc(64 * 1024 * 1024, " "));
      plane.fault = () => fault;
      const { code, message } = await failureOf(client.records(['{"a":1}\n'], 60_000));
      assert.equal(code, "MALFORMED_ANSWER");
      assert.match(message, /larger than/);
    });

    it("nobody there", async () => {
      await plane.close();
      assert.equal(await codeOf(client.state(undefined, 0)), "UNREACHABLE");
      plane = await FakeControlPlane.start();
    });

    it("an answer that does not come", async () => {
      plane.fault = () => "hang";
      assert.equal(await codeOf(client.records(['{"a":1}\n'], 50)), "TIMEOUT");
    });

    it("a call that is given up, and a client that is closed", async () => {
      plane.fault = () => "hang";
      const giveUp = new AbortController();
      const first = codeOf(client.state(undefined, 0, giveUp.signal));
      const second = codeOf(client.state(undefined, 0));
      giveUp.abort();
      assert.equal(await first, "CLOSED");
      client.close();
      assert.equal(await second, "CLOSED");
      assert.equal(await codeOf(client.user("usr_1")), "CLOSED");
    });

    it("a redirect, which is not followed", async () => {
      plane.fault = ({ path }) =>
        path === "state" ? { status: 307, headers: { location: "/v1/gateway/users/usr_1" } } : undefined;
      assert.equal((await failureOf(client.state(undefined, 0))).status, 307);
      assert.deepEqual(plane.askedFor("users/usr_1"), []);
    });

    it("with what it says about when to come back, within reason", async () => {
      const after = async (value: string) => {
        plane.fault = () => ({ status: 429, code: "RATE_LIMIT_EXCEEDED", headers: { "retry-after": value } });
        return (await failureOf(client.state(undefined, 0))).retryAfterMs;
      };
      assert.deepEqual(
        [await after("7"), await after("86400"), await after("-1"), await after("soon")],
        [7_000, 60_000, undefined, undefined],
      );
    });
  });

  it("calls once more over a kept connection that broke, and no more often", async () => {
    let resets = 1;
    plane.fault = () => (resets-- > 0 ? "reset" : undefined);
    assert.equal((await client.state(undefined, 0)).cursor, "c0");
    resets = 10;
    assert.equal(await codeOf(client.state(undefined, 0)), "UNREACHABLE");
    assert.equal(resets, 8);
  });

  it("takes only the whole state where it asked for it", async () => {
    plane.fault = () => ({ body: JSON.stringify({ success: true, data: plane.changesSince(0) }) });
    assert.equal(await codeOf(client.state(undefined, 0)), "MALFORMED_ANSWER");
    assert.equal((await client.state("c0", 0)).complete, false);
  });

  it("takes the state in pages, and in one answer from a control plane that has no pages", async () => {
    const half = { ...plane.state(), more: true };
    const served = (data: object): Fault => ({ body: JSON.stringify({ success: true, data }) });
    plane.fault = () => served(half);
    assert.equal((await client.state(undefined, 0)).more, true);
    const refused = { status: 400, code: "INVALID_PARAMETER" };
    const withoutPages = (answer?: Fault) => {
      plane.fault = ({ query }) => (query.has("pages") ? refused : answer);
      plane.asked.length = 0;
    };
    const parameters = () => plane.asked.map(({ query }) => [query.has("pages"), query.get("after")]);
    withoutPages();
    const { cursor } = await client.state(undefined, 0);
    await client.state(cursor, 0);
    assert.deepEqual(parameters(), [
      [true, null],
      [false, null],
      [false, cursor],
    ]);
    withoutPages(served(half));
    assert.equal(await codeOf(client.state(undefined, 0)), "MALFORMED_ANSWER");
    plane.fault = () => refused;
    assert.equal(await codeOf(client.state(undefined, 0)), "INVALID_PARAMETER");
  });

  it("waits over there for the next change", async () => {
    const { cursor } = await client.state(undefined, 0);
    const next = client.state(cursor, 20);
    plane.setCustomer({ ...ordinary("cus_1"), status: "suspended" });
    assert.deepEqual(
      (await next).customers.map(({ id, status }) => [id, status]),
      [["cus_1", "suspended"]],
    );
  });

  it("reads a policy set, or that there is none", async () => {
    const files = [{ name: "main.yaml", text: "policies: []\n" }];
    plane.activate("a b/../c", { version: "v1", digest: "00", files });
    assert.deepEqual(await client.policySet("a b/../c"), {
      name: "a b/../c",
      version: "v1",
      digest: "00",
      files,
    });
    assert.equal(await client.policySet("other"), undefined);
    plane.fault = () => ({ status: 404, code: "NOT_FOUND" });
    assert.equal(
      await codeOf(client.policySet("other")),
      "NOT_FOUND",
      "a path that is not there says nothing",
    );
  });

  it("does not take one thing for another", async () => {
    plane.fault = ({ path }) => ({
      body: JSON.stringify({
        success: true,
        data: path.startsWith("users")
          ? { id: "usr_2", role: "admin" }
          : { name: "b", version: "v1", digest: "00", files: [] },
      }),
    });
    assert.equal(await codeOf(client.user("usr_1")), "MALFORMED_ANSWER");
    assert.equal(await codeOf(client.policySet("a")), "MALFORMED_ANSWER");
  });

  it("reads a user, or that there is none", async () => {
    plane.setUser("usr_1", { role: "admin", __proto__x: 1, tags: ["a", null], nested: { a: 1.5 } });
    assert.deepEqual(await client.user("usr_1"), {
      id: "usr_1",
      customer_id: "cus_1",
      status: "active",
      role: "admin",
      __proto__x: 1,
      tags: ["a", null],
      nested: { a: 1.5 },
    });
    assert.equal(await client.user("usr_2"), undefined);
  });

  it("does not make part of a path what is no id", async () => {
    for (const id of [
      "",
      ".",
      "..",
      "a/b",
      "../state",
      "a?b",
      "a#b",
      "%2e%2e",
      "\ud800",
      "a b",
      "x".repeat(129),
    ])
      assert.equal(await client.user(id), undefined);
    assert.deepEqual(plane.asked, []);
  });

  it("hands over records as they are, and accounts for each", async () => {
    const lines = [
      '{"decision_id":"dec_1","a":1.50}\n',
      '{"decision_id":"dec_2"}\n',
      '{"decision_id":"dec_1"}\n',
    ];
    plane.isBad = ({ decision_id }) => (decision_id === "dec_2" ? "rejected" : false);
    assert.deepEqual(await client.records(lines, 60_000), {
      accepted: 1,
      duplicates: 1,
      rejected: [{ index: 1, message: "this is no record" }],
    });
    assert.deepEqual(plane.records, [{ decision_id: "dec_1", a: 1.5 }]);
    plane.fault = () => ({
      body: JSON.stringify({ success: true, data: { accepted: 1, duplicates: 0, rejected: [] } }),
    });
    assert.equal(await codeOf(client.records(lines, 60_000)), "MALFORMED_ANSWER");
  });
});

import assert from "node:assert/strict";
import { connect } from "node:net";
import fc from "fast-check";
import type { HttpAnswer } from "../../src/authorizers/answer.ts";
import type { Authorizers } from "../../src/authorizers/server.ts";
import {
  FRAME,
  readFrame,
  SpopReader,
  varint,
  writeList,
  type SpopFrame,
} from "../../src/authorizers/spop-codec.ts";
import { startSpop, type SpopOptions } from "../../src/authorizers/spop-server.ts";
import { eventually } from "../support/eventually.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const ALLOWED: HttpAnswer = { status: 200, headers: [["x-user-id", "u-1"]], body: "" };

const framed = (type: number, payload: Buffer, { flags = 1, stream = 0, frame = 0 } = {}): Buffer => {
  const body = Buffer.concat([Buffer.from([type, 0, 0, 0, flags]), varint(stream), varint(frame), payload]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, body]);
};
const text = (value: string) => Buffer.concat([varint(value.length), Buffer.from(value)]);
const HELLO_VALUES = { "supported-versions": "2.0", "max-frame-size": 16_380, capabilities: "pipelining" };
const hello = (values: Readonly<Record<string, string | number>> = HELLO_VALUES) =>
  framed(FRAME.haproxyHello, writeList(values));
const notify = (stream: number, name = "gatehouse-request", more = Buffer.alloc(0)) =>
  framed(FRAME.notify, Buffer.concat([text(name), Buffer.from([1]), writeList({ a: "b" }), more]), {
    stream,
    frame: 1,
  });

describe("authorizers: SPOP", () => {
  const open: Authorizers[] = [];
  let [asked, refused]: [number, string[]] = [0, []];
  const start = async (change: Partial<SpopOptions> = {}) => {
    [asked, refused] = [0, []];
    const server = await startSpop({
      listen: { host: "127.0.0.1", port: 0 },
      callers: ["127.0.0.1"],
      ask: () => {
        asked += 1;
        return ALLOWED;
      },
      decisionTimeout: 50,
      log,
      refused: (cause) => void refused.push(cause),
      ...change,
    });
    open.push(server);
    return server;
  };
  afterEach(() => Promise.all(open.splice(0).map((server) => server.close(0))));

  const connected = ({ port }: Authorizers) => {
    const socket = connect(port, "127.0.0.1");
    let received = Buffer.alloc(0);
    let closed = false;
    socket.on("data", (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
    socket.on("close", () => (closed = true));
    socket.on("error", () => undefined);
    const frames = (): SpopFrame[] => {
      const found = [];
      for (let at = 0; at + 4 <= received.length;) {
        const end = at + 4 + received.readUInt32BE(at);
        if (end > received.length) break;
        found.push(readFrame(received.subarray(at + 4, end)));
        at = end;
      }
      return found;
    };
    const got = (count: number) =>
      eventually(`${count} frames`, () => (frames().length >= count ? frames() : undefined));
    return { socket, frames, got, closed: () => eventually("the end", () => closed) };
  };
  /** The variables that an ACK sets. */
  const variablesOf = ({ payload }: SpopFrame): Record<string, unknown> => {
    const reader = new SpopReader(payload);
    const found: Record<string, unknown> = {};
    while (!reader.atEnd) {
      assert.deepEqual([...reader.bytes(3)], [1, 3, 2]);
      const name = reader.name();
      const value = reader.typed();
      found[name] = Buffer.isBuffer(value) ? value.toString() : value;
    }
    return found;
  };

  it("reads every integer that it writes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(), fc.maxSafeNat()), (value) => {
        const reader = new SpopReader(varint(value));
        assert.equal(reader.varint(), value);
        assert.ok(reader.atEnd);
      }),
    );
    // examples of the protocol's documentation: bounds of one, two, three bytes
    assert.deepEqual(
      [239, 240, 2287, 2288].map((value) => varint(value).length),
      [1, 2, 2, 3],
    );
  });

  it("answers each question under its own number, however its bytes arrive", async () => {
    const { socket, got } = connected(await start());
    const bytes = Buffer.concat([hello(), notify(7), notify(300)]);
    for (const byte of bytes) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [first, ...acks] = await got(3);
    assert.equal(first?.type, FRAME.agentHello);
    const values = new SpopReader(first.payload).list();
    assert.deepEqual(values.get("version"), Buffer.from("2.0"));
    assert.equal(values.get("max-frame-size"), 16_380);
    assert.deepEqual(
      acks.map(({ type, stream, frame }) => [type, stream, frame]),
      [
        [FRAME.ack, 7, 1],
        [FRAME.ack, 300, 1],
      ],
    );
    assert.deepEqual(acks.map(variablesOf), [
      { verdict: "allow", status: 200, h_x_user_id: "u-1" },
      { verdict: "allow", status: 200, h_x_user_id: "u-1" },
    ]);
    socket.destroy();
  });

  it("answers a health check, and says goodbye", async () => {
    const { socket, got, closed } = connected(await start());
    const check = Buffer.concat([text("healthcheck"), Buffer.from([0x11])]);
    socket.write(framed(FRAME.haproxyHello, Buffer.concat([writeList(HELLO_VALUES), check])));
    assert.equal((await got(1))[0]?.type, FRAME.agentHello);
    await closed();
    const other = connected(await start());
    other.socket.write(Buffer.concat([hello(), framed(FRAME.haproxyDisconnect, Buffer.alloc(0))]));
    assert.equal((await other.got(2))[1]?.type, FRAME.agentDisconnect);
    await other.closed();
  });

  it("closes a connection that it cannot read, without a decision", async () => {
    const cut = framed(FRAME.notify, Buffer.from([200, 1]));
    const huge = Buffer.alloc(4);
    huge.writeUInt32BE(70_000);
    for (const [bytes, code] of [
      [hello({ ...HELLO_VALUES, "supported-versions": "1.0" }), 8],
      [hello({ "max-frame-size": 16_380 }), 5],
      [hello({ "supported-versions": "2.0" }), 6],
      [hello({ ...HELLO_VALUES, "max-frame-size": 10 }), 9],
      [notify(1), 4],
      [Buffer.concat([hello(), hello()]), 4],
      [Buffer.concat([hello(), cut]), 4],
      [Buffer.concat([hello(), notify(1, "another")]), 4],
      [Buffer.concat([hello(), notify(1, "gatehouse-request", text("second"))]), 4],
      [Buffer.concat([hello(), framed(FRAME.notify, Buffer.alloc(0), { flags: 0 })]), 10],
      [Buffer.concat([hello(), framed(0, Buffer.alloc(0))]), 4],
      [huge, 3],
    ] as const) {
      const { socket, got, frames, closed } = connected(await start());
      socket.write(bytes);
      await got(1);
      await closed();
      const last = frames().at(-1);
      assert.equal(last?.type, FRAME.agentDisconnect);
      assert.equal(new SpopReader(last.payload).list().get("status-code"), code);
      assert.deepEqual([asked, refused], [0, ["malformed"]]);
    }
  });

  it("closes a connection whose HELLO, or a frame that has begun, does not come in time", async () => {
    const server = await start({ frameTimeout: 1_000 });
    const idle = connected(server);
    idle.socket.write(hello());
    await idle.got(1);
    const huge = Buffer.alloc(4);
    huge.writeUInt32BE(60_000);
    const late = async (begin: Buffer, expected: number) => {
      const { socket, frames, closed } = connected(server);
      socket.write(begin);
      // more bytes do not put it off
      const drip = setInterval(() => begin.length > 0 && socket.write(Buffer.alloc(1)), 5);
      await closed();
      clearInterval(drip);
      assert.equal(frames().length, expected);
      const last = frames().at(-1);
      assert.deepEqual(last && [...new SpopReader(last.payload).list()][0], ["status-code", 2]);
    };
    await Promise.all([
      late(Buffer.alloc(0), 1),
      late(huge, 1),
      late(Buffer.concat([hello(), huge]), 2),
      late(Buffer.concat([hello(), notify(1), huge]), 3),
    ]);
    assert.deepEqual(refused, Array(4).fill("malformed"));
    // one that waits between frames is not late
    idle.socket.write(notify(1));
    assert.equal((await idle.got(2))[1]?.type, FRAME.ack);
    idle.socket.destroy();
  });

  it("closes a connection whose peer reads no answers, or does not close after a goodbye", async () => {
    const answer = { status: 403, headers: [], body: "x".repeat(10_000) };
    const server = await start({
      frameTimeout: 500,
      ask: () => {
        asked += 1;
        return answer;
      },
    });
    const deaf = connected(server);
    deaf.socket.pause();
    deaf.socket.write(hello());
    const questions = Buffer.concat(Array.from({ length: 100 }, (_, index) => notify(index)));
    let sent = 0;
    await eventually("the end", () => {
      if (!deaf.socket.destroyed) sent += 100;
      deaf.socket.write(questions);
      return deaf.socket.destroyed;
    });
    assert.ok(asked < sent, `${asked} of ${sent} answered`);

    const stubborn = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    let ended = false;
    stubborn.on("error", () => undefined).resume();
    stubborn.write(Buffer.concat([hello(), framed(FRAME.haproxyDisconnect, Buffer.alloc(0))]));
    await eventually("the end", () => {
      ended ||= stubborn.destroyed;
      if (!ended) stubborn.write(notify(1));
      return ended;
    });
  });

  it("takes no frame from a stranger, and does not start without callers", async () => {
    const { socket, closed, frames } = connected(await start({ callers: ["127.0.0.2"] }));
    socket.write(Buffer.concat([hello(), notify(1)]));
    await closed();
    assert.deepEqual([frames(), asked, refused], [[], 0, ["stranger"]]);
    await assert.rejects(start({ callers: [] }), /http_callers/);
  });

  it("takes no frame from a caller of other doors", async () => {
    const { socket, closed, frames } = connected(await start({ doorCallers: ["127.0.0.2"] }));
    socket.write(Buffer.concat([hello(), notify(1)]));
    await closed();
    assert.deepEqual([frames(), asked, refused], [[], 0, ["stranger"]]);
    // it narrows, and opens nothing
    const other = connected(await start({ callers: ["127.0.0.2"], doorCallers: ["127.0.0.1"] }));
    await other.closed();
    assert.deepEqual(refused, ["stranger"]);
  });

  it("denies with 503 what it cannot decide now", async () => {
    const never = () => new Promise<never>(() => undefined);
    const stopped = await start();
    stopped.serve(false);
    for (const [server, cause] of [
      [stopped, "not_serving"],
      [await start({ ask: never }), "late"],
      [await start({ atOnce: -1 }), "overloaded"],
    ] as const) {
      const { socket, got } = connected(server);
      refused = [];
      socket.write(Buffer.concat([hello(), notify(1)]));
      const [, ack] = await got(2);
      assert.deepEqual(ack && variablesOf(ack), { verdict: "deny", status: 503 });
      assert.deepEqual(refused, [cause]);
      socket.destroy();
    }
  });

  it("leaves out a body that no frame takes, and not the verdict", async () => {
    const denied = { status: 403, headers: [], body: "x".repeat(20_000) };
    const { socket, got } = connected(await start({ ask: () => denied }));
    socket.write(Buffer.concat([hello(), notify(1)]));
    const [, ack] = await got(2);
    assert.deepEqual(ack && variablesOf(ack), { verdict: "deny", status: 403 });
    socket.destroy();
  });

  it("at shutdown, answers what it has been asked, and denies what follows", async () => {
    let decide = (): unknown => undefined;
    const ask = () =>
      new Promise<HttpAnswer>((resolve) => {
        asked += 1;
        decide = () => {
          resolve(ALLOWED);
        };
      });
    const server = await start({ ask, decisionTimeout: 30_000 });
    const { socket, got, closed } = connected(server);
    socket.write(Buffer.concat([hello(), notify(1)]));
    await eventually("the question", () => asked === 1);
    const ended = server.close(30_000);
    socket.write(notify(2));
    const [, later] = await got(2);
    assert.deepEqual([later?.stream, later && variablesOf(later)], [2, { verdict: "deny", status: 503 }]);
    decide();
    await ended;
    await closed();
    const [, , earlier, goodbye] = await got(4);
    assert.deepEqual([earlier?.stream, earlier && variablesOf(earlier)["verdict"]], [1, "allow"]);
    assert.equal(goodbye?.type, FRAME.agentDisconnect);
    assert.equal(asked, 1);
  });

  it("at shutdown, waits for no peer that reads nothing", async () => {
    const long = { status: 403, headers: [], body: "x".repeat(10_000) };
    const server = await start({
      ask: () => {
        asked += 1;
        return long;
      },
    });
    const { socket, got } = connected(server);
    socket.write(hello());
    await got(1);
    socket.pause();
    // more answers than the system's buffers take
    const before = asked;
    const sending = setInterval(() => {
      if (asked - before < 2_000) for (let id = 1; id <= 100; id += 1) socket.write(notify(id));
    }, 5);
    let sofar = -1;
    await eventually("the answers wait", () => {
      const waits = asked > before && asked === sofar;
      sofar = asked;
      return waits;
    });
    clearInterval(sending);
    await server.close(0);
    socket.destroy();
  });
});

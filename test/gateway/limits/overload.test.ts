import assert from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { askAdmin } from "../../../src/gateway/envoy-admin.ts";
import { heapLimit } from "../../../src/gateway/overload.ts";
import { send, until } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const MIB = 1024 * 1024;
const LIMIT = 96 * MIB;
/** What one client would have the gateway hold. */
const FLOOD = 800 * MIB;
/** Of a body that never ends, which the gateway holds back until it does. */
const PART = Buffer.alloc(MIB, "x");

/** Something that holds a body back in the gateway, and how to let go of it. */
interface Holder {
  /** The part is sent, or the gateway has ended it. */
  readonly settled: Promise<void>;
  end(): void;
}

describe("gateway overload", () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startGateway({
      overrides: {
        "gateway.performance.proxy_memory_limit": `${LIMIT}`,
        // a limit of its own, which would leave nothing to do for the one of the heap
        "gateway.performance.upload_memory_limit": "100GB",
        // what stands still ends before the test does
        "gateway.performance.request_timeout": "20s",
      },
    });
  });
  afterEach(() => gateway.stop());

  /** Bytes that Envoy holds; the page cache of its allocator is none of them. */
  const held = async () => {
    const { body } = await askAdmin(gateway.envoy.admin, "GET", "/memory", 20_000);
    return Number((JSON.parse(body) as { allocated: string }).allocated);
  };

  const overHttp2 = (): Holder[] =>
    Array.from({ length: FLOOD / (100 * MIB) }, () => {
      const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
      session.on("error", () => undefined);
      const parts = Array.from({ length: 100 }, () => {
        const stream = session.request({ ":method": "POST", ":path": "/held" });
        return settled(stream);
      });
      return {
        settled: Promise.all(parts).then(() => undefined),
        end: () => {
          session.destroy();
        },
      };
    });

  const overHttp1 = (): Holder[] =>
    Array.from({ length: FLOOD / MIB }, () => {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.write("POST /held HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.write(`${(PART.length + 1).toString(16)}\r\n`);
      return { settled: settled(socket), end: () => void socket.destroy() };
    });

  for (const [protocol, flood] of [
    ["HTTP/2", overHttp2],
    ["HTTP/1.1", overHttp1],
  ] as const) {
    it(`bounds what bodies over ${protocol} make Envoy hold, and serves again when they have gone`, async () => {
      const holders = flood();
      await Promise.all(holders.map((holder) => holder.settled));
      // what had arrived between two looks is let go of
      await until(async () => (await held()) <= LIMIT, "no more is held than the limit");
      for (const holder of holders) holder.end();
      await until(
        async () => (await send(gateway.port, "/other").catch(() => undefined))?.status === 200,
        "it serves again",
      );
    }).timeout(120_000);
  }

  it("takes a quarter of what memory there is, within bounds", () => {
    const cases: readonly (readonly [constrained: number, machine: number, limit: number])[] = [
      [0, 8192, 2048],
      [2048, 8192, 512],
      [2 ** 40, 8192, 2048], // as the kernel writes that there is no limit
      [512, 8192, 256],
      [0, 65_536, 4096],
    ];
    for (const [constrained, machine, limit] of cases)
      assert.equal(heapLimit(constrained * MIB, machine * MIB), limit * MIB);
  });
});

function settled(stream: NodeJS.ReadWriteStream): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      resolve();
    };
    stream.on("error", () => undefined);
    stream.on("close", settle);
    // an answer ends it, too: the rest of the part may then never be asked for, and nothing is closed while the answer is unread
    stream.on("data", settle).on("end", settle);
    stream.write(PART, settle);
  });
}

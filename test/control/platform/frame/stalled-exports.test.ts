import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { readRoute } from "../../../../src/control/platform/frame/route.ts";
import type { ControlContext } from "../../../../src/control/platform/context.ts";
import { FULL_KEY, startControl, type RunningControl } from "../../../support/control.ts";
import { eventually } from "../../../support/eventually.ts";

const STALL_MS = 800;
/** How long a slow receiver takes nothing. */
const PAUSE_MS = STALL_MS / 16;
/** Larger than a write, and its characters have two bytes. */
const TEXT = "ä".repeat(100_001);

describe("an export whose receiver takes nothing", () => {
  let api: RunningControl;
  let logged: string[];
  let running: number;
  let readers: Socket[];
  /** Resolves when exports that begin now may end; `undefined`: they are endless. */
  let gate: Promise<null> | undefined;

  async function* parts() {
    running += 1;
    const mayEnd = gate;
    try {
      yield `["${TEXT}"`;
      while (mayEnd === undefined) {
        yield `,"${TEXT}"`;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await mayEnd;
      yield "]";
    } finally {
      running -= 1;
    }
  }
  function routes(context: ControlContext) {
    const info = (_fields: object, message: string) => void logged.push(message);
    Object.assign(context, { log: { ...context.log, info } });
    return [
      readRoute({
        ...{ method: "get", path: "/document", operation: "readDocument", summary: "All", tag: "things" },
        ...{ group: "management", permission: "read", tenancy: "handler", answers: { 200: null } },
        read: () => Promise.resolve({ kind: "document", name: "all", parts: parts() }),
      }),
    ];
  }

  before(async () => {
    api = await startControl({ routes, exportLimits: { longestStallMs: STALL_MS } });
  });
  beforeEach(() => {
    [logged, running, readers, gate] = [[], 0, [], undefined];
  });
  afterEach(async () => {
    for (const reader of readers) reader.destroy();
    await eventually("all to end", () => running === 0);
  });
  after(() => api.close());

  /** Sends requests, and reads nothing yet. */
  const ask = () => {
    const key = Buffer.from(JSON.stringify(FULL_KEY)).toString("base64url");
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write(`GET /v1/document HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
    readers.push(socket);
    return socket;
  };
  const isStopped = (message: string) => message === "stopped an export: its receiver takes nothing";

  it("ends, and the others of its caller get their turn", async () => {
    ask();
    ask();
    await eventually("both to begin", () => running === 2);
    gate = Promise.resolve(null);
    const { status, body } = await api.request("GET", "/document");
    assert.deepEqual([status, body.data], [200, [TEXT]]);
    await eventually("both to end", () => running === 0);
    // each is logged when its connection is closed, too
    await eventually("both to be logged", () => logged.filter(isStopped).length === 2);
  });

  it("goes on while its receiver reads slowly", async () => {
    const socket = ask();
    let bytes = 0;
    socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
    for (let pauses = 0; pauses * PAUSE_MS < 3 * STALL_MS; pauses += 1) {
      const wanted = bytes + 1_000_000;
      socket.resume();
      while (bytes < wanted) await once(socket, "data");
      socket.pause();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    assert.deepEqual([running, logged], [1, []]);
  });

  it("goes on while we have nothing to send", async () => {
    const mayEnd = Promise.withResolvers<null>();
    gate = mayEnd.promise;
    const answer = api.request("GET", "/document");
    await eventually("it to begin", () => running === 1);
    await new Promise((resolve) => setTimeout(resolve, 3 * STALL_MS));
    mayEnd.resolve(null);
    assert.deepEqual((await answer).body.data, [TEXT]);
    assert.deepEqual(logged, []);
  });
});

import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LUA_DIRECTORY } from "../../../src/gateway/lua-bundle.ts";
import { fromClient, fromServer } from "../support/websocket-frames.ts";
import { startSocketGateway } from "../support/websocket.ts";

const DENIED = '{"type":"denied"}';
const TYPES = { chat: { rule: "m[0]", onDeny: "drop" } } as const;

/** A file of the runtime, a text in it, and what stands in its place. */
type Fault = readonly [name: string, file: string, text: string, instead: string];

const RAISE = 'error("on purpose")';
const ON_REQUEST = "enforce.request(handle)";
const LOOP = 'local size, output = chunk:length(), ""';

/** A client that cares for no answer: `ws` would send nothing to a server that does not accept. */
describe("gateway: WebSocket messages that the filter did not look at", () => {
  const faults: readonly Fault[] = [
    ["because it does nothing", "sockets.lua", ON_REQUEST, ""],
    ["because it fails at once", "sockets.lua", ON_REQUEST, RAISE],
    ["because its loop fails", "gatehouse/upgrade.lua", LOOP, `if count >= 0 then ${RAISE} end ${LOOP}`],
    [
      "because its loop fails later",
      "gatehouse/upgrade.lua",
      LOOP,
      `if count >= 1 then ${RAISE} end ${LOOP}`,
    ],
    ["because its loop ends", "gatehouse/upgrade.lua", LOOP, `if count >= 1 then break end ${LOOP}`],
  ];
  for (const [name, file, text, instead] of faults) {
    it(`do not reach the server ${name}`, async () => {
      const directory = await mkdtemp(join(tmpdir(), "gatehouse-fault-"));
      await cp(LUA_DIRECTORY, directory, { recursive: true });
      const source = await readFile(join(directory, file), "utf8");
      assert.equal(source.split(text).length, 2, "the fault is in, once");
      await writeFile(join(directory, file), source.replace(text, instead));
      const sockets = await startSocketGateway({}, directory);
      try {
        // a client that waits for the answer, and one that does not
        for (const early of [Buffer.alloc(0), fromClient(DENIED)]) {
          sockets.permit({ send: TYPES, receive: TYPES });
          const { client } = await sockets.knock({ early });
          const server = sockets.servers[0]!;
          for (let index = 0; index < 5; index += 1) await client.write(fromClient(DENIED));
          await server.write(fromServer(DENIED));
          client.socket.end();
          await sockets.gone(server);
          assert.ok(!server.said.includes(`text ${DENIED}`), server.said.join());
          assert.ok(!client.said.includes(`text ${DENIED}`), client.said.join());
          sockets.reset();
        }
      } finally {
        await sockets.stop();
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});

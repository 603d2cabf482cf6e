import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IDENTIFICATION, ownClusterOf, SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import { LUA_DIRECTORY } from "../../../src/gateway/lua-bundle.ts";
import { planOf, ruleOf } from "../../lua/graphql/plans.ts";
import { fromClient } from "../support/websocket-frames.ts";
import { startSocketGateway, switching } from "../support/websocket.ts";

const RAISE = 'error("on purpose")';
const broken = (module: string, name: string, body: string) =>
  [
    `gatehouse/${module}.lua`,
    /\nreturn ([a-z_]+)\s*$/,
    `\n$1.${name} = function(...) ${body} end\nreturn $1\n`,
  ] as const;
const filter = (body: string) =>
  ["identify.lua", "function envoy_on_request(handle)", `function envoy_on_request(handle) ${body}`] as const;

/** What is broken: a file of the runtime, the text in it, and what stands in its place; and the reason of the CLOSE. */
const FAULTS: Readonly<
  Record<string, readonly [file: string, what: string | RegExp, by: string, closing: string]>
> = {
  "the filter in front raises": [...filter(RAISE), "1013 SERVICE_UNAVAILABLE"],
  "the filter in front does nothing": [...filter("do return end"), "1013 SERVICE_UNAVAILABLE"],
  "the filter in front has no memory": [...filter('string.rep("x", 2 ^ 31 - 1)'), "1013 SERVICE_UNAVAILABLE"],
  "frames cannot be read in front": [
    "gatehouse/identify.lua",
    "reader:feed(",
    'error("on purpose", ',
    "1013 SERVICE_UNAVAILABLE",
  ],
  "the call raises": [
    "gatehouse/identify.lua",
    "local headers, body = handle:httpCall(",
    `${RAISE} local headers, body = handle:httpCall(`,
    "1013 SERVICE_UNAVAILABLE",
  ],
  "answers cannot be read": [...broken("graphql_init", "answer", RAISE), "1011 INTERNAL_ERROR"],
  "answers are nonsense": [...broken("graphql_init", "answer", "return 7"), "1011 INTERNAL_ERROR"],
  "plans cannot be put in force": [
    "gatehouse/socket.lua",
    "function Socket:identified(answer)",
    `function Socket:identified(answer) ${RAISE}`,
    "1011 INTERNAL_ERROR",
  ],
};

describe("gateway: a client that says who it is, and a fault of the Lua runtime", () => {
  const allow = planOf([ruleOf("query me")]);
  const websocket = { environment: "test", plain: false, limit: 1000, graphql: allow };
  const answer = JSON.stringify({
    result: IDENTIFICATION.identified,
    plan: JSON.stringify({ ir: 1, websocket }),
    expires_at: Math.floor(Date.now() / 1000) + 3600,
  });
  const INIT = '{"type":"connection_init","payload":{"authorization":"x"}}';
  const ME = '{"id":"1","type":"subscribe","payload":{"query":"{ me }"}}';

  for (const [name, [file, what, by, closing]] of Object.entries(FAULTS))
    it(`has nothing passed on when ${name}`, async () => {
      const directory = await mkdtemp(join(tmpdir(), "gatehouse-fault-"));
      await cp(LUA_DIRECTORY, directory, { recursive: true });
      const text = await readFile(join(directory, file), "utf8");
      const changed = text.replace(what, by);
      assert.notEqual(changed, text, "the fault is in");
      await writeFile(join(directory, file), changed);
      const sockets = await startSocketGateway(
        { "identity.connection_params": ["authorization"] },
        directory,
      );
      try {
        sockets.gateway.authz.identify = () => answer;
        sockets.handshake = (request) => switching(request, `Sec-WebSocket-Protocol: ${SUBPROTOCOL.current}`);
        const { client, server } = await sockets.open(
          { graphql: allow },
          { metadata: { identify: ownClusterOf(0) } },
        );
        await client.write(Buffer.concat([fromClient(INIT), fromClient(ME)]), fromClient(ME));
        assert.equal(await server.closing(), `close ${closing}`);
        client.socket.destroy();
        await sockets.gone(server);
        assert.deepEqual(server.said, [`close ${closing}`]);
      } finally {
        await sockets.stop();
        await rm(directory, { recursive: true, force: true });
      }
    });
});

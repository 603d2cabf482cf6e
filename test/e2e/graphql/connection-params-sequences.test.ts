import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import fc from "fast-check";
import { SUBPROTOCOL } from "../../../src/envoy-contract.ts";
import { fromClient } from "../../gateway/support/websocket-frames.ts";
import { Wire } from "../../gateway/support/websocket.ts";
import { OPCODE } from "../../lua/websocket/support.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { runs } from "../../support/runs.ts";
import {
  bytesOf,
  conversation,
  outcomeOf,
  type Conversation,
  type Outcome,
  type Tokens,
} from "./support/conversations.ts";
import { CASE, startListener, type Listener } from "./support/listener.ts";

const SDL = "type Query { me: String salary: Int }";
/** A connection to `/graphql` needs an identity, one to `/open` does not. */
const POLICIES = `
graphql: { schema: api.graphql, paths: [/graphql, /open] }
graphql_policies:
  - { query: me, condition: exists(user.id) }
  - { query: salary, condition: user.role == "admin" }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
  - connection: { path: /open, condition: true }
`;

/** Conversations that are held at once. */
const BATCH = 20;
/** Ends what is not closed. */
const LAST = "the last frame";

describe("end to end: tokens in connection_init, and clients that send anything in any order", function () {
  this.timeout(120_000);
  let listener: Listener;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let session: ClientHttp2Session;
  let tokens: Tokens;
  let count = 0;

  before(async () => {
    [listener, issuer] = await Promise.all([startListener(), startIssuer()]);
    const [viewer, admin, expired] = await Promise.all([
      issuer.token({ sub: "u-1", role: "viewer" }),
      issuer.token({ sub: "u-2", role: "admin" }),
      issuer.token({ sub: "u-1", role: "admin", exp: Math.floor(Date.now() / 1000) - 100 }),
    ]);
    tokens = { viewer, admin, expired };
    gateway = await startGateway({
      backend: listener.url,
      issuer,
      policies: { "default.yaml": POLICIES, "api.graphql": SDL },
      nodes: 2,
      config: {
        identity: { issuer: issuer.url, audience: issuer.audience, connection_params: ["authorization"] },
      },
    });
    session = connectHttp2(gateway.url);
    session.on("error", () => undefined);
    await once(session, "remoteSettings");
  });
  after(async () => {
    session.destroy();
    await gateway.stop();
    await Promise.all([listener.close(), issuer.close()]);
  });

  const headersOf = ({ handshake }: Conversation, name: string): Readonly<Record<string, string>> => ({
    [CASE]: name,
    "sec-websocket-version": "13",
    "sec-websocket-protocol": SUBPROTOCOL.current,
    ...(handshake === "viewer" && { authorization: `Bearer ${tokens.viewer}` }),
  });

  async function openOverHttp1(one: Conversation, name: string): Promise<Duplex> {
    const socket = connect(gateway.port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    const headers = {
      host: "app.test",
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headersOf(one, name),
    };
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}`);
    socket.write([`GET ${one.path} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
    // the server says nothing before the client does
    const [head] = (await once(socket, "data")) as [Buffer];
    assert.match(head.toString(), /^HTTP\/1\.1 101 [^]*\r\n\r\n$/);
    return socket;
  }

  /** RFC 8441. */
  async function openOverHttp2(one: Conversation, name: string): Promise<Duplex> {
    const stream = session.request(
      {
        ":method": "CONNECT",
        ":protocol": "websocket",
        ":scheme": "http",
        ":path": one.path,
        ":authority": "app.test",
        ...headersOf(one, name),
      },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    const [headers] = (await once(stream, "response")) as [{ ":status"?: number }];
    assert.equal(headers[":status"], 200);
    return stream;
  }

  async function hold(one: Conversation): Promise<{ found: Outcome; expected: Outcome }> {
    const name = String(count++);
    const expected = outcomeOf(one, tokens);
    const client = new Wire(await (one.over === "HTTP/2" ? openOverHttp2 : openOverHttp1)(one, name));
    const bytes = Buffer.concat([
      ...one.sent.map((part, index) => bytesOf(part, String(index), tokens)),
      ...(expected.closed === undefined ? [fromClient(LAST, { opcode: OPCODE.ping })] : []),
    ]);
    const at = [...new Set(one.packets.filter((place) => place < bytes.length))].sort((a, b) => a - b);
    for (const [index, from] of [0, ...at].entries()) {
      await client.write(bytes.subarray(from, at[index] ?? bytes.length));
      if (one.pauses) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const heard = () => listener.cases.get(name);
    await eventually("the end of a conversation", () => {
      const { closed, heard: texts = [] } = heard() ?? {};
      return closed !== undefined || texts.includes(`ping ${LAST}`);
    });
    const said = () => client.said.map((text) => text.slice(0, 200));
    const deniedOf = () =>
      said().flatMap((text) => /^text \{"id":"(\d+)",.*"type":"error"\}$/.exec(text)?.[1] ?? []);
    const codes = () => said().flatMap((text) => /^close (\d+)/.exec(text)?.[1] ?? []);
    // the client is told last
    await eventually("what the client is told", () =>
      expected.closed === undefined ? deniedOf().length >= expected.denied.length : codes().length > 0,
    ).catch(() => undefined);
    const application = (heard()?.heard ?? []).filter((text) => text !== `ping ${LAST}`);
    const closed = heard()?.closed;
    const toClient = codes()[0];
    client.socket.destroy();
    if (closed !== undefined) assert.equal(toClient, String(closed), JSON.stringify(said()));
    return { found: { application, denied: deniedOf(), closed }, expected };
  }

  it("has nothing passed on but what the client, as it has said who it is, may send", async () => {
    const batch = fc.array(conversation, { minLength: BATCH, maxLength: BATCH });
    await fc.assert(
      fc.asyncProperty(batch, async (all) => {
        for (const { found, expected } of await Promise.all(all.map(hold))) assert.deepEqual(found, expected);
      }),
      { numRuns: runs(5) },
    );
  });
});

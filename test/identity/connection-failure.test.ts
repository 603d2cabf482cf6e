import assert from "node:assert/strict";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { Agent } from "undici";
import { connectionFailure } from "../../src/identity/connection-failure.ts";
import { createAuthority } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";

/** Real failures, of both clients that are used: what they throw is nothing that types tell. */
describe("identity: a connection that does not come about", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  const listening = async (server: Server) => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const clients: Readonly<Record<string, (url: URL) => Promise<unknown>>> = {
    fetch: (url) => fetch(url),
    undici: async (url) => {
      const agent = new Agent();
      try {
        return await agent.request({ origin: url.origin, path: url.pathname, method: "GET" });
      } finally {
        await agent.destroy();
      }
    },
  };

  const cases: Readonly<Record<string, () => Promise<readonly [url: string, words: string | RegExp]>>> = {
    "a name that leads nowhere": () =>
      Promise.resolve([
        "https://user:pw@login.example.invalid/secret?key=1",
        "cannot resolve login.example.invalid",
      ]),
    "nobody there": async () => {
      const host = `127.0.0.1:${await freePort()}`;
      return [`http://${host}/secret`, `${host} refused the connection`];
    },
    "somebody who hangs up": async () => {
      const host = await listening(createTcpServer((socket) => socket.destroy()));
      return [`http://${host}/secret`, `${host} closed the connection`];
    },
    "a certificate of nobody's": async () => {
      const { certificate, privateKey } = await (await createAuthority("nobody's")).issue("127.0.0.1");
      const host = await listening(createTlsServer({ cert: certificate, key: privateKey }));
      return [
        `https://${host}/secret`,
        new RegExp(`^the certificate of ${host} is not trusted \\([A-Z_]+\\)$`),
      ];
    },
    "no TLS": async () => {
      const host = await listening(
        createTcpServer((socket) => socket.on("error", () => undefined).end("HTTP/1.1 400 Bad\r\n\r\n")),
      );
      return [`https://${host}/secret`, new RegExp(`^the TLS handshake with ${host} failed \\([A-Z_]+\\)$`)];
    },
  };
  for (const [client, get] of Object.entries(clients))
    for (const [what, setUp] of Object.entries(cases))
      it(`is said in words: ${what}, by ${client}`, async () => {
        const [text, words] = await setUp();
        const url = new URL(text);
        const plain = new URL(text.replace(/\/\/.*@/, "//").replace(/\?.*/, ""));
        const error: unknown = await get(plain).then(
          () => assert.fail("it came about"),
          (thrown: unknown) => thrown,
        );
        const said =
          connectionFailure(error, url) ?? `nothing for ${String((error as Error).cause ?? error)}`;
        if (typeof words === "string") assert.equal(said, words);
        else assert.match(said, words);
        assert.ok(!/secret|pw|key=/.test(said));
      });

  it("says nothing of other errors", () => {
    const url = new URL("https://login.example.com");
    for (const error of [
      new Error("status 404"),
      new TypeError("x", { cause: new Error("y") }),
      "text",
      undefined,
    ])
      assert.equal(connectionFailure(error, url), undefined);
    const round = new Error("round");
    round.cause = round;
    assert.equal(connectionFailure(round, url), undefined);
  });
});

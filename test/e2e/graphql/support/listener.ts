import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { SUBPROTOCOL } from "../../../../src/envoy-contract.ts";

/** The header of a handshake by which tests find what the application has heard on its connection. */
export const CASE = "x-case";

/** What an application has heard on one connection: `text ...`, `ping ...`, in order. */
export interface Heard {
  readonly heard: readonly string[];
  /** The code of the end. */
  readonly closed: number | undefined;
}

/** An application that accepts GraphQL connections, notes what it hears, and says nothing. */
export interface Listener {
  readonly url: string;
  /** By {@link CASE}. */
  readonly cases: ReadonlyMap<string, Heard>;
  close(): Promise<void>;
}

export async function startListener(): Promise<Listener> {
  const cases = new Map<string, { heard: string[]; closed: number | undefined }>();
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: () => SUBPROTOCOL.current });
  sockets.on("connection", (socket, request) => {
    const one: { heard: string[]; closed: number | undefined } = { heard: [], closed: undefined };
    cases.set(String(request.headers[CASE]), one);
    socket.on("error", () => undefined);
    socket.on("message", (data: Buffer, binary) =>
      one.heard.push(`${binary ? "binary" : "text"} ${data.toString()}`),
    );
    // the gateway's own have a secret of 32 digits
    socket.on("ping", (data) => {
      if (!/^[0-9a-f]{32}$/.test(data.toString())) one.heard.push(`ping ${data.toString()}`);
    });
    socket.on("pong", (data) => one.heard.push(`pong ${data.toString()}`));
    socket.on("close", (code) => (one.closed = code));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    cases,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

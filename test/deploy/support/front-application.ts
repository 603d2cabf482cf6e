import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

/** What an application saw of one request. */
export interface Seen {
  readonly name: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
  readonly sha256: string;
}

export interface FrontApplication {
  readonly url: string;
  readonly port: number;
  /** Paths of requests that ended before their response did. */
  readonly aborted: string[];
  /** Paths of requests that have begun. */
  readonly begun: string[];
  close(): Promise<void>;
}

/** Says what it saw; `/slow/**` never ends its response, and `/endless/**` begins one. WebSocket messages come back. */
export async function startFrontApplication(name: string): Promise<FrontApplication> {
  const aborted: string[] = [];
  const begun: string[] = [];
  const server = createServer((request, response) => {
    const { url = "", headers } = request;
    begun.push(url);
    response.on("close", () => {
      if (!response.writableFinished) aborted.push(url);
    });
    if (url.startsWith("/endless/")) response.writeHead(200).write("first");
    const hash = createHash("sha256");
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    request.on("error", () => undefined);
    request.on("end", () => {
      if (url.startsWith("/slow/") || url.startsWith("/endless/")) return;
      const seen: Seen = { name, url, headers, bytes, sha256: hash.digest("hex") };
      response.setHeader("content-type", "application/json").end(JSON.stringify(seen));
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket, { headers }) => {
    socket.on("message", (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      socket.send(JSON.stringify({ type, user: headers["x-user-id"], from: headers["x-real-ip"] }));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    aborted,
    begun,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

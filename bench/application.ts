/** A separate process: `/…/<bytes>` returns a JSON document of that size, and every WebSocket message is echoed. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import { documentOf } from "./documents.ts";

const documents = new Map<string, Buffer>();

function documentFor(path: string): Buffer {
  const bytes = path.slice(path.lastIndexOf("/") + 1);
  const made = documents.get(bytes) ?? Buffer.from(documentOf(Number(bytes)));
  documents.set(bytes, made);
  return made;
}

const server = createServer((request, response) => {
  const body = documentFor(request.url ?? "");
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
});
new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) => {
  socket.on("error", () => undefined);
  socket.on("message", (data, binary) => {
    socket.send(data, { binary });
  });
});
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
// it exits with the benchmark
process.on("disconnect", () => process.exit());

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocketServer } from "ws";

/**
 * Passes every WebSocket handshake to the server of its path; others are answered with 404.
 *
 * @param onRequest - called for every handshake
 * @returns a function that ends all connections.
 */
export function attachSockets(
  server: Server,
  paths: ReadonlyMap<string, WebSocketServer>,
  onRequest: (request: { method: string; path: string }) => void,
): () => void {
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    onRequest({ method: request.method ?? "", path });
    const sockets = paths.get(path);
    if (sockets === undefined) {
      socket.on("error", () => socket.destroy());
      socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      sockets.emit("connection", client, request);
    });
  });
  return () => {
    for (const sockets of paths.values()) for (const client of sockets.clients) client.terminate();
  };
}

import { createServer, type AddressInfo, type Socket } from "node:net";

/** An application that answers 200 to everything, and keeps the heads of requests as they came over the wire. */
export interface RawUpstream {
  readonly url: string;
  /** Request line and headers, without the empty line at their end; latin1. */
  readonly heads: readonly string[];
  readonly requestLines: readonly string[];
  close(): Promise<void>;
}

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

export async function startRawUpstream(): Promise<RawUpstream> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let received = "";
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      const end = received.indexOf("\r\n\r\n");
      if (end < 0 || socket.writableEnded) return;
      heads.push(received.slice(0, end));
      socket.end(ANSWER);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    heads,
    get requestLines() {
      return heads.map((head) => head.split("\r\n", 1).join(""));
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
}

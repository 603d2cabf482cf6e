import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

/** An HTTP proxy that only tunnels, and connects every address to one port of this machine. */
export interface ConnectProxy {
  readonly url: string;
  /** The destinations that it was asked for, each with the credentials. */
  readonly asked: { readonly authority: string; readonly credentials: string | undefined }[];
  /** Requests of other methods. */
  readonly others: string[];
  /** Refuses with this status from now on; 200: connects again. */
  answer: number;
  close(): Promise<void>;
}

export async function startConnectProxy(port: () => number): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    proxy.others.push(`${request.method} ${request.url}`);
    response.writeHead(400).end();
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.on("connect", ({ url = "", headers }, socket: Socket) => {
    proxy.asked.push({ authority: url, credentials: headers["proxy-authorization"] });
    if (proxy.answer !== 200) {
      socket.end(`HTTP/1.1 ${proxy.answer} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const onward = connect(port(), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on("error", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: ConnectProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    others: [],
    answer: 200,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

import { once } from "node:events";
import { createServer as createHttp2Server, type Http2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { freePort } from "../free-port.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n";
const BODY = '{"ssn":"123"}';

/** Applications by what they do to a request. */
export interface Applications {
  readonly ok: string;
  readonly down: string;
  readonly closing: string;
  readonly silent: string;
  readonly cut: string;
  readonly resetting: string;
  close(): void;
}

/** Starts one of each. */
export async function startApplications(): Promise<Applications> {
  const sockets = new Set<Socket>();
  const servers: (Server | Http2Server)[] = [];
  const start = async (answer: (socket: Socket) => void): Promise<string> => {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("data", () => {
        answer(socket);
      });
    });
    servers.push(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const http2 = createHttp2Server();
  http2.on("session", (session) => void sockets.add(session.socket));
  http2.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.close(2);
  });
  servers.push(http2);
  await once(http2.listen(0, "127.0.0.1"), "listening");
  return {
    ok: await start((socket) => socket.write(OK + BODY)),
    down: `http://127.0.0.1:${await freePort()}`,
    closing: await start((socket) => socket.destroy()),
    silent: await start(() => undefined),
    cut: await start((socket) => {
      socket.write(OK.replace("13", "1300") + BODY);
      setTimeout(() => socket.destroy(), 50);
    }),
    resetting: `h2c://127.0.0.1:${(http2.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}

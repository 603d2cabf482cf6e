import { createServer, type IncomingHttpHeaders, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";

/** What an application that speaks HTTP/2 saw of one request. */
export interface SeenStream {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Absent where none came. */
  readonly trailers: IncomingHttpHeaders | undefined;
}

/** An application that speaks HTTP/2 in the clear, answers 200 to everything and remembers all that reached it. */
export async function startHttp2Upstream() {
  const seen: SeenStream[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    let body = "";
    let trailers: IncomingHttpHeaders | undefined;
    stream.on("trailers", (received) => (trailers = { ...received }));
    stream.setEncoding("latin1").on("data", (chunk: string) => (body += chunk));
    stream.on("error", () => undefined);
    stream.on("end", () => {
      seen.push({ headers, body, trailers });
      stream.respond({ ":status": 200, "content-type": "application/json" });
      stream.end('{"upstream":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `h2c://127.0.0.1:${port}`,
    seen,
    close: () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

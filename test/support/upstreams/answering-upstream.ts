import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An application that answers as a test says, and remembers what reached it. */
export interface AnsweringUpstream {
  readonly url: string;
  /** For servers that take over upgrades. */
  readonly server: Server;
  readonly seen: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
  }[];
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startAnsweringUpstream(): Promise<AnsweringUpstream> {
  const seen: AnsweringUpstream["seen"] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers });
    upstream.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: AnsweringUpstream = {
    url: `http://127.0.0.1:${port}`,
    server,
    seen,
    answer: (_request, response) => response.end(),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
  return upstream;
}

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What an upstream saw of one request. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** An application that answers 200 to everything and remembers all that reached it. */
export interface RecordingUpstream {
  readonly url: string;
  readonly port: number;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** @param answer - JSON that every request is answered with */
export async function startRecordingUpstream(
  answer: object = { upstream: true },
): Promise<RecordingUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {
      response.destroy();
    });
    request.on("end", () => {
      seen.push({
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks).toString("latin1"),
      });
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.ts";

/** A delivery as it came in. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Parsed. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what was sent is what tests find out
  readonly json: any;
}

export interface WebhookReceiver {
  /** Without a slash at the end. */
  readonly url: string;
  readonly received: Received[];
  /** How to answer; 204 unless it is set. Not answering at all is an answer, too. */
  answer: (response: ServerResponse, received: Received) => void;
  /** Waits for so many deliveries, and gives them in the order in which they came. */
  has(count: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

/** Takes webhooks on loopback. */
export async function startReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const one = {
        path: request.url ?? "",
        headers: request.headers,
        body,
        json: JSON.parse(body) as unknown,
      };
      received.push(one);
      receiver.answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (response) => response.writeHead(204).end(),
    has: (count) => eventually(`${count} deliveries`, () => received.length >= count && [...received]),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: number;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A real application: remembers what reached it, and answers 200 unless a test says otherwise. */
export class Upstream {
  readonly seen: Seen[] = [];
  answer: Answer = (_, response) => response.end("hello");
  /** Called with every request as soon as its headers are there. */
  onHeaders: (request: IncomingMessage) => void = () => undefined;
  port = 0;
  readonly server: Server;

  constructor() {
    this.server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      let bytes = 0;
      this.onHeaders(request);
      request.on("data", (chunk: Buffer) => (bytes += chunk.length));
      request.on("error", () => undefined);
      request.on("end", () => {
        const { method = "", url = "", headers } = request;
        this.seen.push({ method, url, headers, bytes });
        this.answer(request, response);
      });
    });
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    if (!this.server.listening) return;
    await new Promise((resolve) => this.server.close(resolve));
  }
}

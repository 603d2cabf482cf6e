import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";

export type Send = (port: number) => Promise<unknown>;

/** Bytes as they are; until the gateway closes, or `ms` after, when the client does. The answer's text. */
export function raw(bytes: string, leave = false): Send {
  return (port) =>
    new Promise((resolve) => {
      let text = "";
      const socket = connect(port, "127.0.0.1", () => {
        if (leave) socket.end(Buffer.from(bytes, "latin1"), () => socket.destroy());
        else socket.write(Buffer.from(bytes, "latin1"));
      });
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
        // what keeps the connection open has answered all the same
        if (/^HTTP\/1.1 100/.test(chunk.toString("latin1"))) return;
        setTimeout(() => socket.destroy(), 100);
      });
      socket.on("error", () => undefined);
      socket.on("close", () => {
        resolve(text);
      });
    });
}

export interface Http2Options {
  readonly body?: string;
  /** The body never ends. */
  readonly unfinished?: boolean;
  readonly cancelAfterMs?: number;
}

/** One stream on a connection of its own. */
export function http2(headers: Readonly<Record<string, string>>, options: Http2Options = {}): Send {
  const { body, unfinished = false, cancelAfterMs } = options;
  return (port) =>
    new Promise((resolve) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`, { maxSendHeaderBlockLength: 1 << 20 });
      session.on("error", () => undefined);
      const stream = session.request(headers, { endStream: body === undefined && !unfinished });
      stream.on("error", () => undefined);
      stream.on("close", () => {
        session.destroy();
        resolve(undefined);
      });
      stream.resume();
      if (body !== undefined && unfinished) stream.write(body);
      else if (body !== undefined) stream.end(body);
      if (cancelAfterMs !== undefined)
        setTimeout(() => {
          stream.close(8);
        }, cancelAfterMs);
    });
}

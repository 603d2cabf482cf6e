import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { createRequire } from "node:module";
import type { Duplex, Writable } from "node:stream";
import { eventually } from "./eventually.ts";
import type { Conversation } from "./socket-client.ts";

/** Of ws, which exports them without types. */
interface Frames {
  readonly Receiver: new (options: { readonly isServer: boolean }) => Writable;
  readonly Sender: new (stream: Duplex) => {
    send(data: Buffer, options: object): void;
    pong(data: Buffer, mask: boolean): void;
    close(code: number | undefined, data: string, mask: boolean): void;
  };
}
const { Receiver, Sender } = createRequire(import.meta.url)("ws") as Frames;

/** WebSocket within a stream of an HTTP/2 connection of its own (RFC 8441), for the same conversations as over HTTP/1.1. */
export async function connectHttp2Socket(
  url: string,
  {
    headers,
    protocol,
  }: { readonly headers: Readonly<Record<string, string>>; readonly protocol?: string | undefined },
): Promise<Conversation> {
  const { origin, pathname, host } = new URL(url);
  const session = connect(origin);
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  const stream = session.request(
    {
      ...{ ":method": "CONNECT", ":protocol": "websocket", ":scheme": "http" },
      ...{ ":path": pathname, ":authority": host, "sec-websocket-version": "13" },
      ...(protocol !== undefined && { "sec-websocket-protocol": protocol }),
      ...headers,
    },
    { endStream: false },
  );
  stream.on("error", () => undefined);
  const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status"?: number }];
  const status = answer[":status"];
  const messages: string[] = [];
  const listeners: ((text: string) => void)[] = [];
  let closed: { code: number; reason: string } | undefined;
  const receiver = new Receiver({ isServer: false });
  const sender = new Sender(stream);
  receiver.on("message", (data: Buffer) => {
    const text = data.toString();
    messages.push(text);
    for (const listener of listeners) listener(text);
  });
  receiver.on("ping", (data: Buffer) => {
    if (!stream.destroyed) sender.pong(data, true);
  });
  receiver.on("error", () => undefined);
  receiver.on("conclude", (code: number, reason: Buffer) => {
    closed ??= { code, reason: reason.toString() };
    if (!stream.destroyed) sender.close(code === 1005 ? undefined : code, "", true);
    stream.end();
  });
  stream.on("close", () => {
    closed ??= { code: 1006, reason: "" };
    session.destroy();
  });
  stream.pipe(receiver);
  if (status !== 200) {
    session.destroy();
  }
  return {
    messages,
    refusal: () => (status === 200 ? undefined : status),
    closed: () => closed,
    send(text) {
      if (!stream.destroyed && !stream.writableEnded)
        sender.send(Buffer.from(text), { fin: true, binary: false, compress: false, mask: true, opcode: 1 });
    },
    listen: (listener) => listeners.push(listener),
    message: (what, test) => eventually(what, () => messages.find(test)),
    closing: () => eventually("the connection's end", () => closed),
    close() {
      session.destroy();
    },
  };
}

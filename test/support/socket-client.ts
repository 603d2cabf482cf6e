import { WebSocket, type ClientOptions } from "ws";
import { eventually } from "./eventually.ts";

/** A real WebSocket client that remembers what it was told, over whichever version of HTTP. */
export interface Conversation {
  readonly messages: string[];
  /** The status of an answer that is no upgrade. */
  readonly refusal: () => number | undefined;
  readonly closed: () => { readonly code: number; readonly reason: string } | undefined;
  /** Resolves with the first message, from now on or before, that `test` takes. */
  message(what: string, test: (text: string) => boolean): Promise<string>;
  closing(): Promise<{ readonly code: number; readonly reason: string }>;
  /** Does nothing once the connection has ended. */
  send(text: string): void;
  /** Calls `listener` with each message from now on. */
  listen(listener: (text: string) => void): void;
  close(): void;
}

/** Over HTTP/1.1. */
export interface SocketClient extends Conversation {
  readonly socket: WebSocket;
}

/** Connects; resolves when the connection is open, or was refused. */
export async function connectSocket(
  url: string,
  options: ClientOptions & { readonly protocols?: readonly string[] } = {},
): Promise<SocketClient> {
  const { protocols = [], ...rest } = options;
  const socket = new WebSocket(url, [...protocols], rest);
  const messages: string[] = [];
  let refusal: number | undefined;
  let closed: { code: number; reason: string } | undefined;
  socket.on("message", (data: Buffer) => messages.push(data.toString()));
  socket.on("error", () => undefined);
  socket.on("close", (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  socket.on("unexpected-response", (request, response) => {
    refusal = response.statusCode;
    response.resume();
    request.destroy();
  });
  await eventually(
    "an answer to the handshake",
    () => socket.readyState === WebSocket.OPEN || refusal !== undefined || closed !== undefined || undefined,
  );
  return {
    socket,
    messages,
    refusal: () => refusal,
    closed: () => closed,
    message: (what, test) => eventually(what, () => messages.find(test)),
    closing: () => eventually("the connection's end", () => closed),
    send(text) {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    listen(listener) {
      socket.on("message", (data: Buffer) => {
        listener(data.toString());
      });
    },
    close: () => {
      socket.terminate();
    },
  };
}

import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { connect } from "node:http2";
import { get, sendRaw } from "./client.ts";

/** All that a client is told, the head in one piece. */
export interface Told {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

async function overHttp1(port: number, method: string): Promise<Told> {
  const text = await sendRaw(port, get("/").replace("GET", method));
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const status = Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]);
  const chunked = /^transfer-encoding: chunked/im.test(head);
  const body = rest.join("\r\n\r\n");
  return { status, head: head.toLowerCase(), body: chunked ? unchunked(body) : body };
}

function unchunked(text: string): string {
  const size = parseInt(text, 16);
  const start = text.indexOf("\r\n") + 2;
  if (size > 0) return text.slice(start, start + size) + unchunked(text.slice(start + size + 2));
  // trailers stay visible
  return text.slice(start).replace(/\r\n$/, "");
}

async function overHttp2(port: number, method: string): Promise<Told> {
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": "/", ":method": method });
  const heads: IncomingHttpHeaders[] = [];
  for (const event of ["headers", "response", "trailers"])
    stream.on(event, (headers: IncomingHttpHeaders) => void heads.push(headers));
  let body = "";
  stream.setEncoding("latin1").on("data", (chunk: string) => (body += chunk));
  stream.on("error", () => undefined);
  await once(stream, "close");
  session.destroy();
  const lines = heads.flatMap((headers) =>
    Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`),
  );
  const status = Number(
    heads.find((headers) => ":status" in headers && headers[":status"] !== "103")?.[":status"],
  );
  return { status, head: lines.join("\r\n"), body };
}

/** Both ways to ask. */
export const CLIENTS = [
  ["HTTP/1.1", overHttp1],
  ["HTTP/2", overHttp2],
] as const;

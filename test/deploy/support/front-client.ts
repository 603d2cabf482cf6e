import { connect as connectHttp2 } from "node:http2";
import { request, type Agent } from "node:https";
import { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { RawAnswer } from "../../support/raw-http.ts";
import type { Seen } from "./front-application.ts";

/** The client's address; everything else of a test is at 127.0.0.1. */
export const CLIENT = "127.0.0.9";

export interface FrontAnswer {
  readonly status: number;
  readonly seen: Seen | undefined;
  /** The client's own port: the same for requests over one connection. */
  readonly from: number;
}

export interface FrontRequest {
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Send the body without its length. */
  readonly isChunked?: boolean;
  readonly agent?: Agent;
}

const PIECE = 256 * 1024;

function* piecesOf(body: Buffer): Iterable<Buffer> {
  for (let at = 0; at < body.length; at += PIECE) yield body.subarray(at, at + PIECE);
}

/** Over HTTP/1.1 and TLS. */
export function ask(port: number, path: string, options: FrontRequest = {}): Promise<FrontAnswer> {
  const { host = "app.example.com", headers = {}, body, isChunked = false, agent } = options;
  return new Promise((resolve, reject) => {
    const length = body === undefined || isChunked ? {} : { "content-length": String(body.length) };
    const call = request(
      {
        ...{
          host: "127.0.0.1",
          port,
          path,
          localAddress: CLIENT,
          servername: host,
          rejectUnauthorized: false,
        },
        ...{ agent: agent ?? false, method: body === undefined ? "GET" : "POST" },
        headers: { host, ...length, ...headers },
      },
      (response) => {
        const { localPort: from = 0 } = response.socket;
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () => {
          resolve(answerOf(response.statusCode ?? 0, text, from));
        });
      },
    );
    call.on("error", reject);
    if (body === undefined) call.end();
    else Readable.from(piecesOf(body)).pipe(call);
  });
}

/** Over HTTP/2, on a connection of its own. */
export async function askHttp2(
  port: number,
  path: string,
  { host = "app.example.com", headers = {}, body }: FrontRequest = {},
): Promise<FrontAnswer> {
  const session = connectHttp2(`https://${host}`, {
    createConnection: () =>
      connectTls({
        ...{ host: "127.0.0.1", port, localAddress: CLIENT, servername: host },
        ...{ ALPNProtocols: ["h2"], rejectUnauthorized: false },
      }),
  });
  try {
    return await new Promise((resolve, reject) => {
      session.on("error", reject);
      const method = body === undefined ? "GET" : "POST";
      const stream = session.request(
        { ":path": path, ":method": method, ...headers },
        { endStream: body === undefined },
      );
      let status = 0;
      let text = "";
      stream.on("response", (received) => (status = received[":status"] ?? 0));
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      stream.on("error", reject);
      stream.on("end", () => {
        resolve(answerOf(status, text, 0));
      });
      if (body !== undefined) Readable.from(piecesOf(body)).pipe(stream);
    });
  } finally {
    session.destroy();
  }
}

/** Exactly these lines over TLS; `Host` and `Connection: close` are added unless the lines have them. */
export function askRaw(port: number, line: string, headers: readonly string[]): Promise<FrontAnswer> {
  const has = (name: string) => headers.some((header) => header.toLowerCase().startsWith(`${name}:`));
  const lines = [
    `${line} HTTP/1.1`,
    ...(has("host") ? [] : ["Host: app.example.com"]),
    ...headers,
    ...(has("connection") ? [] : ["Connection: close"]),
  ];
  return new Promise((resolve, reject) => {
    const socket = connectTls(
      {
        ...{ host: "127.0.0.1", port, localAddress: CLIENT, servername: "app.example.com" },
        rejectUnauthorized: false,
      },
      () => socket.write(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")),
    );
    let text = "";
    const done = (answer: FrontAnswer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const answer = parse(text);
      if (answer !== undefined) done(answer);
    });
    socket.on("error", reject);
    socket.on("close", () => {
      const status: RawAnswer["status"] = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0);
      done({ status, seen: undefined, from: 0 });
    });
  });
}

/** Absent while the answer is not whole. */
function parse(text: string): FrontAnswer | undefined {
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0);
  const split = text.indexOf("\r\n\r\n");
  if (split < 0) return undefined;
  if (status === 101) return answerOf(status, "", 0);
  const length = /^content-length: *(\d+)/im.exec(text.slice(0, split))?.[1];
  const body = text.slice(split + 4);
  if (length !== undefined ? Buffer.byteLength(body) < Number(length) : !body.endsWith("0\r\n\r\n"))
    return undefined;
  return answerOf(status, /\{.*\}/s.exec(body)?.[0] ?? "", 0);
}

/** Caddy answers for hosts that it does not know with an empty 200. */
function answerOf(status: number, text: string, from: number): FrontAnswer {
  return { status, seen: status === 200 && text !== "" ? (JSON.parse(text) as Seen) : undefined, from };
}

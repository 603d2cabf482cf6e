import { request } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { connect as connectHttp2, type OutgoingHttpHeaders as Http2Headers } from "node:http2";
import { connect } from "node:net";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** Send the body without saying its length. */
  readonly chunked?: boolean;
}

/** One request on a connection of its own. */
export function send(port: number, path: string, options: SendOptions = {}): Promise<Answer> {
  const { method = "GET", headers = {}, body, chunked = false } = options;
  return new Promise((resolve, reject) => {
    const length = body === undefined || chunked ? {} : { "content-length": Buffer.byteLength(body) };
    const call = request(
      { host: "127.0.0.1", port, path, method, headers: { ...length, ...headers }, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () => {
          const { statusCode: status = 0, headers: received, rawHeaders } = response;
          resolve({ status, headers: received, rawHeaders, body: text });
        });
      },
    );
    call.on("error", reject);
    if (body !== undefined) call.write(body);
    call.end();
  });
}

/** Bytes as they are (latin1), and all that comes back until the server closes, or `enough` says so. */
export function sendRaw(
  port: number,
  bytes: string,
  enough: (text: string) => boolean = () => false,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(bytes, "latin1")));
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
      if (enough(text)) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      resolve(text);
    });
  });
}

export function get(path: string, ...headers: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, "Host: app.test", "Connection: close", ...headers, "", ""].join("\r\n");
}

/** Waits until `condition` holds, for at most a minute. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const giveUp = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > giveUp) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export interface Http2Options {
  readonly method?: string;
  readonly headers?: Http2Headers;
  /** Sent as DATA, without a length unless `headers` say one. */
  readonly body?: string | Buffer;
  readonly trailers?: Http2Headers;
}

/** One request over HTTP/2 with prior knowledge, on a connection of its own. */
export function sendHttp2(
  port: number,
  path: string,
  options: Http2Options = {},
): Promise<{ readonly status: number; readonly body: string }> {
  const { method = "GET", headers = {}, body, trailers } = options;
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  return new Promise((resolve, reject) => {
    session.on("error", reject);
    const endStream = body === undefined && trailers === undefined;
    const stream = session.request(
      { ":method": method, ":path": path, ...headers },
      { endStream, waitForTrailers: trailers !== undefined },
    );
    let status = 0;
    let text = "";
    stream.on("wantTrailers", () => {
      stream.sendTrailers(trailers ?? {});
    });
    stream.on("response", (received) => (status = received[":status"] ?? 0));
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    stream.on("error", reject);
    stream.on("end", () => {
      session.close();
      resolve({ status, body: text });
    });
    if (body !== undefined) stream.write(body);
    if (!endStream) stream.end();
  });
}

import { connect, type OutgoingHttpHeaders } from "node:http2";

export interface Http2Answer {
  readonly status: number;
  readonly body: string;
}

export interface Http2Options {
  readonly body?: string;
  readonly trailers?: OutgoingHttpHeaders;
}

/** One request over an HTTP/2 connection of its own; headers with pseudo-headers, as they are. */
export async function sendHttp2(
  url: string,
  headers: OutgoingHttpHeaders,
  { body, trailers }: Http2Options = {},
): Promise<Http2Answer> {
  const session = connect(url, { rejectUnauthorized: false });
  try {
    return await new Promise((resolve, reject) => {
      session.on("error", reject);
      const endStream = body === undefined && trailers === undefined;
      const stream = session.request(headers, { endStream, waitForTrailers: trailers !== undefined });
      let status = 0;
      let text = "";
      stream.on("wantTrailers", () => {
        stream.sendTrailers(trailers ?? {});
      });
      stream.on("response", (answer) => (status = answer[":status"] ?? 0));
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      stream.on("error", reject);
      stream.on("end", () => {
        resolve({ status, body: text });
      });
      if (!endStream) stream.end(body);
    });
  } finally {
    session.close();
  }
}

import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

/** One HTTP/1.1 answer. */
export interface RawAnswer {
  readonly status: number;
  /** Lower-case names; repeated headers joined by a line feed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends exactly these bytes (latin1) over a new connection, and reads until the other side closes or an answer is whole.
 * For requests that no HTTP client would send.
 *
 * @param by - over TLS to the host of that name, from another address
 * @throws when nothing comes back within `timeoutMs`, or what comes is no HTTP answer
 */
export function sendRaw(
  port: number,
  request: string,
  timeoutMs = 60_000,
  by: { readonly tls?: string; readonly from?: string } = {},
): Promise<RawAnswer> {
  const { tls, from } = by;
  return new Promise((resolve, reject) => {
    const place = { port, host: "127.0.0.1", ...(from !== undefined && { localAddress: from }) };
    const send = () => socket.write(Buffer.from(request, "latin1"));
    const socket =
      tls === undefined
        ? connect(place, send)
        : connectTls({ ...place, servername: tls, rejectUnauthorized: false }, send);
    let received = "";
    const done = (answer: RawAnswer | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      if (answer === undefined)
        reject(new Error(`no HTTP answer in ${JSON.stringify(received.slice(0, 200))}`));
      else resolve(answer);
    };
    const timer = setTimeout(() => {
      done(undefined);
    }, timeoutMs);
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
      const answer = parseAnswer(received, false);
      if (answer !== undefined) done(answer);
    });
    socket.on("close", () => {
      done(parseAnswer(received, true));
    });
    socket.on("error", () => {
      done(parseAnswer(received, true));
    });
  });
}

/** A request with these lines and no body; `Host` and `Connection: close` are added. */
export function rawGet(target: string, headers: readonly string[] = [], method = "GET"): string {
  return [`${method} ${target} HTTP/1.1`, "Host: app.test", "Connection: close", ...headers, "", ""].join(
    "\r\n",
  );
}

function parseAnswer(text: string, ended: boolean): RawAnswer | undefined {
  const split = text.indexOf("\r\n\r\n");
  if (split < 0) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, split).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  if (!Number.isInteger(status)) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}\n${value}`;
  }
  const body = text.slice(split + 4);
  const length = headers["content-length"];
  const whole =
    status === 101 || (length === undefined ? body.endsWith("0\r\n\r\n") : body.length >= Number(length));
  return whole || ended ? { status, headers, body } : undefined;
}

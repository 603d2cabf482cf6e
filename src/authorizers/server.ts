import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { GIVEN_UP } from "../decision/point/index.ts";
import { every, type Job, type JobLog } from "../runtime/every.ts";
import { inTime } from "../runtime/in-time.ts";
import { isSameTls, readTlsFiles, type TlsFiles, type TlsMaterial } from "../runtime/tls-files.ts";
import type { HttpAnswer } from "./answer.ts";
import { createCallers } from "./callers.ts";
import type { HttpDoors } from "./doors.ts";

export interface AuthorizersOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls?: TlsFiles;
  /** Who may ask: addresses, networks, names in client certificates. */
  readonly callers: readonly string[];
  readonly doors: HttpDoors;
  /** Time limit for one decision; ms. */
  readonly decisionTimeout: number;
  readonly log: JobLog;
  /** How often the TLS files are reloaded; ms. */
  readonly tlsRefreshMs?: number;
  /** How many requests are decided at once; more are answered with 503. */
  readonly atOnce?: number;
}

export interface Authorizers {
  readonly port: number;
  /** While false, every request is answered with 503. */
  serve(serving: boolean): void;
  /** Closes idle connections, and gives current requests up to `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const LIMITS = { maxHeaderSize: 128 * 1024, headersTimeout: 10_000, requestTimeout: 10_000 };
const KEEP_ALIVE_MS = 75_000;
const AT_ONCE = 1_000;
const REFRESH_MS = 10_000;
/** Strangers may cause any number of refusals, but few log lines. */
const SAID_EVERY_MS = 10_000;

/**
 * Answers proxies that ask over HTTP; the path selects the protocol.
 *
 * @throws if nobody may ask, it cannot listen there, or the TLS files are not usable
 */
export async function startAuthorizers(options: AuthorizersOptions): Promise<Authorizers> {
  const { listen, tls, callers, doors, decisionTimeout, log, atOnce = AT_ONCE } = options;
  if (callers.length === 0) throw new Error("authz.http_callers is empty: nobody may ask");
  const mayAsk = createCallers(callers);
  let [serving, closing, deciding] = [true, false, 0];
  let said = Number.NEGATIVE_INFINITY;

  const refuseStranger = (socket: Socket): HttpAnswer => {
    if (performance.now() - said >= SAID_EVERY_MS) {
      said = performance.now();
      log.warn(
        { peer: socket.remoteAddress },
        "somebody who is not in authz.http_callers asked for a decision",
      );
    }
    return refusal(403, "caller not permitted");
  };

  async function answerTo(request: IncomingMessage): Promise<HttpAnswer> {
    if (!mayAsk(request.socket)) return refuseStranger(request.socket);
    const ask = doors.get(request.url ?? "");
    if (ask === undefined) return refusal(404, "unknown path");
    // a proxy that sends a body expects it to be read
    if (request.method !== "GET" || hasBody(request)) return refusal(400, "expected GET without a body");
    if (!serving || deciding >= atOnce) return refusal(503, "not available");
    deciding += 1;
    try {
      const asked = ask(
        { headers: pairs(request.rawHeaders) },
        { deadline: Date.now() + decisionTimeout, isCancelled: () => request.socket.destroyed },
      );
      const answer = asked instanceof Promise ? await inTime(asked, decisionTimeout, GIVEN_UP) : asked;
      return answer === GIVEN_UP ? refusal(503, "no decision in time") : answer;
    } finally {
      deciding -= 1;
    }
  }

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const fail = (error: unknown) => {
      log.error({ err: error }, "cannot answer a request for a decision");
      request.socket.destroy();
    };
    answerTo(request)
      .then((answer) => {
        send(response, answer, closing);
      })
      .catch(fail);
  };

  let material = tls && (await readTlsFiles(tls));
  const server =
    material === undefined
      ? createPlainServer(LIMITS, handle)
      : createTlsServer({ ...LIMITS, ...contextOf(material) }, handle);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  // by default, Node drops headers beyond a number: the application would get what no rule has seen
  server.maxHeadersCount = 0;
  const refreshing: Job | undefined =
    tls &&
    every(
      options.tlsRefreshMs ?? REFRESH_MS,
      async () => {
        const changed = await readTlsFiles(tls);
        if (material !== undefined && isSameTls(changed, material)) return;
        material = changed;
        if ("setSecureContext" in server) server.setSecureContext(contextOf(changed));
      },
      { what: "reload the changed TLS files", log, level: "error" },
    );

  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(listen.port, listen.host, resolve);
    });
  } catch (error) {
    await refreshing?.close();
    throw error;
  }
  const drain = async (graceMs: number): Promise<void> => {
    closing = true;
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    server.closeIdleConnections();
    await inTime(closed, graceMs, undefined);
    server.closeAllConnections();
    await refreshing?.close();
  };
  let drained: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    serve: (now) => {
      serving = now;
    },
    close: (graceMs) => (drained ??= drain(graceMs)),
  };
}

function contextOf({ certificate, privateKey, clientCa }: TlsMaterial) {
  const own = { cert: certificate, key: privateKey, minVersion: "TLSv1.2" as const };
  return clientCa === undefined ? own : { ...own, ca: clientCa, requestCert: true, rejectUnauthorized: true };
}

function refusal(status: number, error: string): HttpAnswer {
  return { status, headers: [["content-type", "application/json"]], body: JSON.stringify({ error }) };
}

function hasBody({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return headers["content-length"] !== undefined && headers["content-length"] !== "0";
}

function pairs(raw: readonly string[]): (readonly [name: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2)
    found.push([(raw[index] ?? "").toLowerCase(), raw[index + 1] ?? ""]);
  return found;
}

function send(response: ServerResponse, { status, headers, body }: HttpAnswer, last: boolean): void {
  const flat = headers
    .filter(([name]) => name.toLowerCase() !== "content-length")
    .flatMap(([name, value]) => [name, value]);
  response.writeHead(status, [
    ...flat,
    "content-length",
    String(Buffer.byteLength(body)),
    ...(last ? ["connection", "close"] : []),
  ]);
  response.end(body);
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { GIVEN_UP, type DoorCall } from "../decision/point/index.ts";
import type { PromiseOrValue } from "../decision/promise-or-value.ts";
import type { JobLog } from "../runtime/every.ts";
import { inTime } from "../runtime/in-time.ts";
import type { TlsFiles } from "../runtime/tls-files.ts";
import { createHttpServer } from "../runtime/tls-server.ts";
import { refusal, type HttpAnswer } from "./answer.ts";
import type { Api, HttpApis } from "./http-api.ts";
import { createCallers } from "./callers.ts";
import type { HttpDoors } from "./doors.ts";
import { hasBody, pairs, readBody } from "./incoming.ts";

/** Why a request is refused without a decision, and without a record. */
export const AUTHORIZER_REFUSALS = [
  "stranger",
  "unknown_path",
  "malformed",
  "not_serving",
  "overloaded",
  "late",
] as const;
export type AuthorizerRefusal = (typeof AUTHORIZER_REFUSALS)[number];

export interface AuthorizersOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls?: TlsFiles;
  /** Who may ask: addresses, networks, names in client certificates. */
  readonly callers: readonly string[];
  readonly doors: HttpDoors;
  /** By path of a door or API: who of the callers may use it. Default: each of them, each path. */
  readonly callersByPath?: ReadonlyMap<string, readonly string[]>;
  /** Default: none. */
  readonly apis?: HttpApis;
  /** Time limit for one decision; ms. */
  readonly decisionTimeout: number;
  readonly log: JobLog;
  /** Hears of each request that is refused without a decision. */
  readonly refused?: (cause: AuthorizerRefusal) => void;
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
/** Strangers may cause any number of refusals, but few log lines. */
const SAID_EVERY_MS = 10_000;

/**
 * Answers proxies that ask over HTTP; the path selects the protocol.
 *
 * @throws if nobody may ask, it cannot listen there, or the TLS files are not usable
 */
export async function startAuthorizers(options: AuthorizersOptions): Promise<Authorizers> {
  const { listen, tls, callers, doors, decisionTimeout, log, atOnce = AT_ONCE } = options;
  const { apis = new Map() as HttpApis, refused = () => undefined } = options;
  const narrowed = new Map(
    [...(options.callersByPath ?? [])].map(([path, some]) => [path, createCallers(some)] as const),
  );
  if (callers.length === 0) throw new Error("authz.http_callers is empty: nobody may ask");
  const mayAsk = createCallers(callers);
  let [serving, closing, deciding] = [true, false, 0];
  let said = Number.NEGATIVE_INFINITY;

  const refuse = (cause: AuthorizerRefusal, status: number, error: string): HttpAnswer => {
    refused(cause);
    return refusal(status, error);
  };

  const refuseStranger = (socket: Socket): HttpAnswer => {
    if (performance.now() - said >= SAID_EVERY_MS) {
      said = performance.now();
      log.warn(
        { peer: socket.remoteAddress },
        "somebody who is not in authz.http_callers, or not in authz.http_door_callers of this door, asked for a decision",
      );
    }
    return refuse("stranger", 403, "caller not permitted");
  };

  async function answerTo(request: IncomingMessage): Promise<HttpAnswer> {
    if (!mayAsk(request.socket)) return refuseStranger(request.socket);
    const { method = "", url: target = "" } = request;
    const prefix = target.slice(0, target.indexOf("/", 1) + 1);
    const below = doors.get(prefix);
    if (narrowed.get(below === undefined ? target : prefix)?.(request.socket) === false)
      return refuseStranger(request.socket);
    const api = apis.get(target);
    if (api !== undefined) return answerOfApi(api, request);
    const ask = below ?? doors.get(target);
    if (ask === undefined) return refuse("unknown_path", 404, "unknown path");
    // a proxy that sends a body expects it to be read
    if (hasBody(request) || (below === undefined && method !== "GET"))
      return refuse("malformed", 400, "expected GET without a body");
    return decided((call) => ask({ method, target, headers: pairs(request.rawHeaders) }, call), request);
  }

  async function answerOfApi(api: Api, request: IncomingMessage): Promise<HttpAnswer> {
    if (request.method !== api.method) return refuse("malformed", 405, `expected ${api.method}`);
    const body = await readBody(request, api.mostBytes);
    if (body === undefined) return refuse("malformed", 413, `the body is larger than ${api.mostBytes} bytes`);
    return decided((call) => api.answer({ headers: pairs(request.rawHeaders), body }, call), request);
  }

  async function decided(
    ask: (call: DoorCall) => PromiseOrValue<HttpAnswer | typeof GIVEN_UP>,
    { socket }: IncomingMessage,
  ): Promise<HttpAnswer> {
    if (!serving) return refuse("not_serving", 503, "not available");
    if (deciding >= atOnce) return refuse("overloaded", 503, "not available");
    deciding += 1;
    try {
      const asked = ask({ deadline: Date.now() + decisionTimeout, isCancelled: () => socket.destroyed });
      const answer = asked instanceof Promise ? await inTime(asked, decisionTimeout, GIVEN_UP) : asked;
      return answer === GIVEN_UP ? refuse("late", 503, "no decision in time") : answer;
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

  const { server, unfollow } = await createHttpServer(
    LIMITS,
    handle,
    tls && {
      files: tls,
      log,
      ...(options.tlsRefreshMs !== undefined && { refreshMs: options.tlsRefreshMs }),
    },
  );
  server.keepAliveTimeout = KEEP_ALIVE_MS;

  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(listen.port, listen.host, resolve);
    });
  } catch (error) {
    await unfollow();
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
    await unfollow();
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

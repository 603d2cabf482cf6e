import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CheckStatus } from "./check-status.ts";

export interface AdminServerOptions {
  /** Default: 127.0.0.1, because these endpoints are not public. */
  readonly address?: string;
  /** 0: any free port. */
  readonly port: number;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** Liveness: false asks for a restart. Absent if it is served elsewhere. */
  readonly health?: () => boolean;
  /** Readiness, with the state of each condition. Absent if it is served elsewhere. */
  readonly ready?: () => Readiness;
  readonly log: { error(fields: object, message: string): void };
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, CheckStatus>>;
}

export interface AdminServer {
  readonly port: number;
  /** Stops listening and closes open connections. */
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Serves `/metrics` and, if given, `/healthz` and `/readyz`, for scrapers and probes. Resolves once it listens.
 *
 * @throws the error of `listen`, e.g. EADDRINUSE
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    void respond(options, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.address ?? "127.0.0.1", port: options.port }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function respond(
  options: AdminServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let answer: Answer;
  try {
    answer = await route(options, request);
  } catch (error) {
    options.log.error({ err: error, path: request.url }, "admin server request failed");
    answer = json(500, { error: "internal error" });
  }
  response.writeHead(answer.status, {
    "content-type": answer.contentType,
    "content-length": Buffer.byteLength(answer.body),
    "cache-control": "no-store",
    ...answer.headers,
  });
  response.end(request.method === "HEAD" ? undefined : answer.body);
}

async function route(options: AdminServerOptions, { method, url = "" }: IncomingMessage): Promise<Answer> {
  const answer = answererOf(options, url.split("?")[0]);
  if (answer === undefined) return json(404, { error: "not found" });
  if (method !== "GET" && method !== "HEAD") {
    return { ...json(405, { error: "method not allowed" }), headers: { allow: "GET, HEAD" } };
  }
  return answer();
}

function answererOf(
  { health, ready: readiness, metrics }: AdminServerOptions,
  path: string | undefined,
): (() => Answer | Promise<Answer>) | undefined {
  switch (path) {
    case "/healthz":
      return (
        health &&
        (() => {
          const healthy = health();
          return json(healthy ? 200 : 503, { healthy });
        })
      );
    case "/readyz":
      return (
        readiness &&
        (() => {
          const { ready, checks } = readiness();
          return json(ready ? 200 : 503, { ready, checks });
        })
      );
    case "/metrics":
      return async () => ({ status: 200, ...(await metrics()) });
    default:
      return undefined;
  }
}

function json(status: number, body: object): Answer {
  return { status, contentType: "application/json; charset=utf-8", body: `${JSON.stringify(body)}\n` };
}

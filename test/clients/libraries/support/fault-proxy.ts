import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to one request on its way. */
export interface Fault {
  /** Answered here, and not forwarded. */
  readonly status?: number;
  /** With `status`: in seconds. */
  readonly retry_after?: number;
  /** With `status`: as a proxy in between answers, not the API. */
  readonly foreign?: boolean;
  /** The connection ends before the request is forwarded, after it was carried out, or within the answer. */
  readonly cut?: "before" | "after" | "body";
  readonly slow_ms?: number;
}

/** A request as it arrived here. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotency_key: string | null;
}

export interface FaultProxy {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** The faults of the next requests, in their order; those after them pass. */
  plan(faults: readonly Fault[]): void;
  close(): Promise<void>;
}

/** Stands in front of a server, and lets happen what was planned. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let planned: Fault[] = [];
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const fault = planned.shift() ?? {};
    const key = request.headers["idempotency-key"];
    seen.push({
      method: request.method ?? "",
      path: request.url ?? "",
      idempotency_key: typeof key === "string" ? key : null,
    });
    setTimeout(() => {
      answer(request, response, fault, target);
    }, fault.slow_ms ?? 0);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    plan(faults) {
      planned = [...faults];
      seen.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CODES: Readonly<Record<number, string>> = { 429: "RATE_LIMIT_EXCEEDED", 503: "SERVICE_UNAVAILABLE" };

function answer(request: IncomingMessage, response: ServerResponse, fault: Fault, target: string): void {
  if (fault.cut === "before") {
    request.socket.destroy();
    return;
  }
  if (fault.status !== undefined) {
    const { status, retry_after, foreign = false } = fault;
    const meta = { timestamp: new Date().toISOString(), request_id: "req_fault" };
    const error = { code: CODES[status] ?? "INTERNAL_ERROR", message: "planned", details: {} };
    request.resume();
    response.writeHead(status, {
      "content-type": foreign ? "text/html" : "application/json",
      ...(retry_after !== undefined && { "retry-after": String(retry_after) }),
    });
    response.end(foreign ? "<h1>upstream</h1>" : JSON.stringify({ success: false, error, meta }));
    return;
  }
  const forwarded = httpRequest(
    `${target}${request.url ?? ""}`,
    { method: request.method, headers: request.headers },
    (answered) => {
      if (fault.cut === "after") {
        answered.resume();
        answered.once("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      if (fault.cut === undefined) {
        answered.pipe(response);
        return;
      }
      answered.once("data", (chunk: Buffer) => {
        response.write(chunk.subarray(0, chunk.length >> 1), () => request.socket.destroy());
      });
    },
  );
  // the client has given up, or the server is away: there is nobody to tell
  forwarded.on("error", () => request.socket.destroy());
  request.pipe(forwarded);
}

import type { Request, RequestHandler, Response } from "express";
import type { Actor } from "../actor.ts";
import type { ErrorCode } from "../errors.ts";
import { isAnyId } from "../ids.ts";
import { clientIpOf } from "./client-address.ts";
import { requestIdOf } from "./request-id.ts";

/** One request that has ended. It has nothing of the query, the headers and the bodies: they may hold secrets. */
export interface ApiCall {
  readonly requestId: string;
  /** Unix ms. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly method: string;
  /** The operation of the route; outside of `/v1`, a group of paths. */
  readonly operation: string;
  /** The path of the route, with those parameters that are ids; absent where no route or endpoint has served it. */
  readonly path?: string;
  readonly protocol: string;
  /** Absent if the client left before an answer. */
  readonly status?: number;
  /** Of an answer that is an error. */
  readonly code?: ErrorCode;
  readonly bytes: number;
  readonly clientIp: string;
  readonly caller: CallingActor;
}

/** Who called. It has no name, which may be that of a person. */
export interface CallingActor {
  readonly kind: Actor["kind"];
  /** Absent if it is not known who called. */
  readonly id?: string;
  /** The only customer that the key may access. */
  readonly customerId?: string;
}

/** Hears of each request, and then of its end. */
export type ObserveCall = (begun: { readonly traceparent: string | undefined }) => (call: ApiCall) => void;

/** What is learned of a request while it is served. */
interface Noted {
  operation?: string;
  path?: string;
  caller?: CallingActor;
  code?: ErrorCode;
}

/** Tells `observe` of every request, whatever becomes of it. */
export function observeCalls(observe: ObserveCall): RequestHandler {
  return (request, response, next) => {
    const startedAt = Date.now();
    const begun = performance.now();
    const { traceparent } = request.headers;
    const { path: target } = request;
    const end = observe({ traceparent: typeof traceparent === "string" ? traceparent : undefined });
    response.once("close", () => {
      const status = response.headersSent ? response.statusCode : undefined;
      const { caller = { kind: "anonymous" }, code, ...noted } = notedIn(response);
      end({
        requestId: requestIdOf(response),
        startedAt,
        durationMs: performance.now() - begun,
        method: request.method,
        ...besideRoutes(target, status),
        ...noted,
        protocol: `HTTP/${request.httpVersion}`,
        ...(status !== undefined && { status }),
        ...(code !== undefined && { code }),
        bytes: Number(response.getHeader("content-length") ?? 0),
        clientIp: clientIpOf(request),
        caller,
      });
    });
    next();
  };
}

/** The route that serves the request. */
export function noteRoute(request: Request, response: Response, operation: string, template: string): void {
  const { params } = request;
  const path = template.replace(/\{(\w+)\}/g, (written, name: string) => {
    const value = params[name];
    // anything else may be what somebody has put there by mistake: a token, an address
    return typeof value === "string" && isAnyId(value) ? value : written;
  });
  Object.assign(notedIn(response), { operation, path: `/v1${path}` });
}

/** Who sends the request, as soon as that is known. */
export function noteCaller(response: Response, actor: Actor): void {
  const { kind, id } = actor;
  const customerId = kind === "api_key" ? actor.customerId : undefined;
  notedIn(response).caller = {
    kind,
    // the id of an anonymous caller is its address
    ...(kind !== "anonymous" && { id }),
    ...(customerId !== undefined && { customerId }),
  };
}

/** A key that is known, and permits nothing any more. */
export function noteRefusedCaller(response: Response, caller: CallingActor): void {
  notedIn(response).caller = caller;
}

/** The code of the answer. */
export function noteCode(response: Response, code: ErrorCode): void {
  notedIn(response).code = code;
}

function notedIn(response: Response): Noted {
  const locals = response.locals as { noted?: Noted };
  return (locals.noted ??= {});
}

const ENDPOINT = /^\/(?:oauth2|\.well-known)\/[a-z_-]{1,40}$/;

/** What is not below `/v1`, and paths that do not exist. */
function besideRoutes(path: string, status: number | undefined): Pick<ApiCall, "operation" | "path"> {
  const [, first = ""] = path.split("/");
  const operation = GROUPS.get(first) ?? "other";
  const exists = status !== undefined && status !== 404;
  return { operation, ...(exists && ENDPOINT.test(path) && { path }) };
}

const GROUPS: ReadonlyMap<string, string> = new Map([
  ["oauth2", "oauth"],
  [".well-known", "well_known"],
  ["healthz", "health"],
  ["readyz", "health"],
]);

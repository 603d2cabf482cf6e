import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import helmet from "helmet";
import { ApiError } from "../errors.ts";
import { asApiError } from "./as-api-error.ts";
import { trustProxies } from "./client-address.ts";
import { createExportTurns, type ExportLimits } from "./export-turns.ts";
import { documentationRouter } from "./documentation.ts";
import { openApiDocument } from "./openapi.ts";
import { noteRoute, observeCalls, type ObserveCall } from "./calls.ts";
import { nameRequest, requestIdOf } from "./request-id.ts";
import { identify, serve, type FrameParts } from "./serve.ts";
import { sendError } from "./send.ts";
import type { Route } from "./route.ts";

export interface ServerOptions extends FrameParts {
  readonly routes: readonly Route[];
  readonly publicUrl: string;
  /** Name of the cookie that identifies dashboard users. */
  readonly sessionCookie: string;
  readonly trustedProxies: readonly string[];
  /** Hears of every request. Default: nobody. */
  readonly observe?: ObserveCall;
  readonly exportLimits?: ExportLimits | undefined;
  /**
   * Handlers for paths outside `/v1`: `/.well-known`, `/oauth2`, the setup page, the sandbox's provider. They send
   * their own answers.
   */
  readonly beside: readonly express.Router[];
}

/** The API as an Express application: one step per line, in the order in which requests pass them. */
export function createApplication(options: ServerOptions): Express {
  const application = express();
  application.disable("x-powered-by");
  application.disable("etag");
  application.set("query parser", false);
  // a proxy in front may permit or refuse `/v1/...`, and must not be bypassed by `/V1/...`
  application.enable("case sensitive routing");
  trustProxies(application, options.trustedProxies);
  application.use(nameRequest);
  if (options.observe !== undefined) application.use(observeCalls(options.observe));
  application.use(securityHeaders());
  application.use(notRepeated);
  application.use(onlyChunked);
  application.use(unreadablePath(options));
  for (const router of options.beside) application.use(router);
  application.use("/v1", notStored);
  application.use(documentationRouter(() => documentOf(options)));
  application.use("/v1", apiRouter(options));
  application.use(unknownPath(options));
  application.use(onError(options));
  return application;
}

function documentOf({ routes, publicUrl, sessionCookie }: ServerOptions): object {
  return openApiDocument(routes, { publicUrl, sessionCookie });
}

/** Node.js takes the first of several: a proxy in front may have read another (RFC 9112, section 3.2). */
const NOT_REPEATED = ["Host", "Content-Type"] as const;

const notRepeated: RequestHandler = ({ rawHeaders }, _response, next) => {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  for (const name of NOT_REPEATED)
    if (names.filter((other) => other === name.toLowerCase()).length > 1)
      throw new ApiError("MALFORMED_REQUEST", { message: `the request has more than one ${name}` });
  next();
};

/**
 * Node.js undoes `chunked`, and leaves every other coding in what it takes for the body. Where a body of an unknown coding ends,
 * and so where the next request begins, a proxy in front may see otherwise (RFC 9112, sections 6.1 and 11.2).
 */
const onlyChunked: RequestHandler = ({ headers: { "transfer-encoding": coding } }, _response, next) => {
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    throw new ApiError("MALFORMED_REQUEST", {
      message: "the only transfer coding is chunked",
      headers: { connection: "close" },
    });
  next();
};

/** Answers are only for their caller, so no cache may store them (RFC 9111, section 5.2.2.5). */
const notStored: RequestHandler = (_request, response, next) => {
  response.setHeader("cache-control", "no-store");
  next();
};

function apiRouter(options: ServerOptions): express.Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const parts = { ...options, exports: createExportTurns(options.exportLimits) };
  const methods = new Map<string, string[]>();
  for (const route of options.routes) {
    const path = expressPath(route.path);
    methods.set(path, [...(methods.get(path) ?? []), ...methodsOf(route)]);
    // Express would answer HEAD by the GET route, which must not run if it writes
    if (route.method === "get" && route.read === undefined)
      router.head(path, otherMethod(methodsOf(route), options));
    router[route.method](path, (request, response) => {
      noteRoute(request, response, route.operation, route.path);
      return serve(route, request, response, parts);
    });
  }
  for (const [path, allowed] of methods) router.all(path, otherMethod(allowed, options));
  return router;
}

function methodsOf({ method, read }: Route): readonly string[] {
  return method === "get" && read !== undefined ? ["GET", "HEAD"] : [method.toUpperCase()];
}

/** Routers would decode parameters of the path themselves, and fail before the request is counted. */
function unreadablePath(options: ServerOptions): RequestHandler {
  return async (request, response, next) => {
    try {
      decodeURIComponent(request.path);
    } catch {
      await identify(request, response, "management", options);
      throw new ApiError("INVALID_PARAMETER", { message: "the path is not valid percent-encoded UTF-8" });
    }
    next();
  };
}

/** `/customers/{id}` in Express's notation. */
function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** RFC 9110, section 15.5.6. */
function otherMethod(allowed: readonly string[], options: ServerOptions) {
  const allow = allowed.join(", ");
  return async (request: Request, response: Response) => {
    await identify(request, response, "management", options);
    throw new ApiError("METHOD_NOT_ALLOWED", { headers: { allow }, details: { allowed: allow.split(", ") } });
  };
}

function unknownPath(options: ServerOptions) {
  return async (request: Request, response: Response) => {
    await identify(request, response, "management", options);
    throw new ApiError("NOT_FOUND", { details: { path: request.path.slice(0, 200) } });
  };
}

function securityHeaders() {
  return helmet({
    contentSecurityPolicy: {
      // helmet's own would permit scripts of this origin, and styles in the page
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: "no-referrer" },
    // the TLS terminator knows whether there is TLS
    strictTransportSecurity: false,
  });
}

function onError({ context }: ServerOptions): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- see above
  return (error: unknown, request, response, _next) => {
    const failure = asApiError(error);
    const about = { request_id: requestIdOf(response), method: request.method, path: request.path };
    if (failure.status >= 500)
      context.log.error({ ...about, err: failure.cause ?? failure }, "a request failed");
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response.setHeader("cache-control", "no-store");
    sendError(failure, response, context);
  };
}

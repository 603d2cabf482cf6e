import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, type Identity, type MiddlewareOptions } from "./authenticate.ts";

export type { Identity, MiddlewareOptions } from "./authenticate.ts";

/** A request that passed {@link requireIdentity}. */
export interface WithIdentity {
  gatehouse?: Identity | undefined;
}

/**
 * Middleware for Express, and for anything else that calls `(request, response, next)`.
 *
 * @example
 * app.use(requireIdentity({ verifier }));
 * app.get("/me", (request, response) => response.json({ id: request.gatehouse.id }));
 */
export function requireIdentity(options: MiddlewareOptions) {
  return async (
    request: IncomingMessage & WithIdentity,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    const result = await authenticate(request.headersDistinct["authorization"] ?? [], options);
    if ("refusal" in result) {
      const { status, headers, body } = result.refusal;
      response
        .writeHead(status, { ...headers, "content-type": "application/json" })
        .end(JSON.stringify(body));
      return;
    }
    request.gatehouse = result.identity;
    next();
  };
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, type Identity, type MiddlewareOptions } from "./authenticate.ts";
import { authorizationOf } from "./authorization.ts";

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
 * app.get("/me", (request, response) => response.json({ id: (request as WithIdentity).gatehouse?.id }));
 */
export function requireIdentity<R extends IncomingMessage = IncomingMessage>(options: MiddlewareOptions<R>) {
  return async (
    request: R & WithIdentity,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      const result = await authenticate({ request, authorization: authorizationOf(request) }, options);
      if ("refusal" in result) {
        const { status, headers, body } = result.refusal;
        response
          .writeHead(status, { ...headers, "content-type": "application/json" })
          .end(JSON.stringify(body));
        return;
      }
      request.gatehouse = result.identity;
    } catch (error) {
      // Express 4 ignores the promise
      next(error);
      return;
    }
    next();
  };
}

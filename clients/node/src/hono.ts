import { authenticate, type Identity, type MiddlewareOptions } from "./authenticate.ts";

export type { Identity, MiddlewareOptions } from "./authenticate.ts";

/** For `new Hono<{ Variables: GatehouseVariables }>()`. */
export interface GatehouseVariables {
  gatehouse: Identity | undefined;
}

interface Context {
  readonly req: { header(name: string): string | undefined };
  set(name: "gatehouse", identity: Identity | undefined): void;
}

/**
 * Middleware for Hono. The identity is `context.get("gatehouse")`.
 *
 * @example
 * app.use(requireIdentity({ verifier }));
 */
export function requireIdentity(options: MiddlewareOptions<Context>) {
  return async (context: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    // repeated headers arrive joined by commas, which no token has
    const value = context.req.header("authorization");
    const authorization = value === undefined ? [] : [value];
    const result = await authenticate({ request: context, authorization }, options);
    if ("refusal" in result) {
      const { status, headers, body } = result.refusal;
      return Response.json(body, { status, headers });
    }
    context.set("gatehouse", result.identity);
    await next();
    return undefined;
  };
}

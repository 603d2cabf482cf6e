import { authenticate, type Identity, type MiddlewareOptions } from "./authenticate.ts";
import { authorizationOf, type IncomingRequest } from "./authorization.ts";

export type { Identity, MiddlewareOptions } from "./authenticate.ts";
export type { WithIdentity } from "./express.ts";

interface Request {
  readonly raw: IncomingRequest;
  gatehouse?: Identity | undefined;
}

interface Reply {
  code(status: number): Reply;
  headers(values: Readonly<Record<string, string>>): Reply;
  send(body: unknown): unknown;
}

interface Instance {
  decorateRequest(name: string, value?: undefined): unknown;
  addHook(name: "onRequest", hook: (request: Request, reply: Reply) => Promise<unknown>): unknown;
}

/**
 * A plugin for Fastify: every route of the instance that registers it needs an identity, in `request.gatehouse`.
 *
 * @example
 * await app.register(requireIdentity, { verifier });
 */
export function requireIdentity(
  instance: Instance,
  options: MiddlewareOptions<Request>,
  done: (error?: Error) => void,
): void {
  instance.decorateRequest("gatehouse");
  instance.addHook("onRequest", async (request, reply) => {
    const result = await authenticate({ request, authorization: authorizationOf(request.raw) }, options);
    if ("refusal" in result) {
      const { status, headers, body } = result.refusal;
      return reply.code(status).headers(headers).send(body);
    }
    request.gatehouse = result.identity;
    return undefined;
  });
  done();
}

// Fastify: the hook is one of the instance around the plugin, as with fastify-plugin
Object.assign(requireIdentity, { [Symbol.for("skip-override")]: true });

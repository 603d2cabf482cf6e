import express, { Router, type Request, type Response } from "express";
import type Provider from "oidc-provider";
import type { ControlContext } from "../../platform/context.ts";
import { PROVIDER_PATH } from "../../platform/sandbox-issuer.ts";
import { createInteractions, type Interactions } from "./interaction.ts";
import { providerKeys } from "./keys.ts";
import { createProvider, INTERACTION_PATH } from "./provider.ts";

interface Started {
  readonly serve: ReturnType<Provider["callback"]>;
  readonly interactions: Interactions;
}

/** `/idp`: the OpenID provider that users of the sandbox sign in at. */
export function providerRouter(context: ControlContext): Router {
  const publicUrl = new URL(context.settings.publicUrl);
  let starting: Promise<Started> | undefined;
  const started = () => {
    starting ??= start(context);
    // the database may be unavailable; the next request tries again
    starting.catch(() => (starting = undefined));
    return starting;
  };
  const provider = Router({ caseSensitive: true, strict: true });
  provider.use((request, _response, next) => {
    readAsPublic(request, publicUrl);
    next();
  });
  const form = express.urlencoded({ extended: false, limit: "4kb", parameterLimit: 10 });
  const interaction = `${INTERACTION_PATH}/:uid`;
  provider.get(interaction, async (request, response) =>
    (await started()).interactions.show(request, response),
  );
  provider.post(interaction, form, async (request, response) =>
    (await started()).interactions.submit(request, response),
  );
  provider.use(async (request: Request, response: Response) => (await started()).serve(request, response));
  return Router({ caseSensitive: true }).use(PROVIDER_PATH, provider);
}

async function start(context: ControlContext): Promise<Started> {
  const provider = createProvider(context, await providerKeys(context));
  return { serve: provider.callback(), interactions: createInteractions(context, provider) };
}

/**
 * The provider writes addresses by what a request says of itself. That is the public one, whatever way the request came
 * and whatever a client claims.
 */
function readAsPublic(request: Request, { host, protocol, pathname }: URL): void {
  request.headers.host = host;
  request.headers["x-forwarded-host"] = host;
  request.headers["x-forwarded-proto"] = protocol.slice(0, -1);
  if (pathname !== "/") request.originalUrl = `${pathname}${request.originalUrl}`;
}

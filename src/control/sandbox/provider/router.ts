import express, { Router, type Request, type Response } from "express";
import type Provider from "oidc-provider";
import { forAllCallers, forCaller } from "../../../storage/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import { asCaller, callerOf } from "../../platform/frame/as-caller.ts";
import { callerOfOwnRequest } from "../../platform/frame/own-requests.ts";
import { anonymousActor } from "../../platform/frame/serve.ts";
import { PROVIDER_PATH } from "../../platform/sandbox-issuer.ts";
import { createInteractions, type Interactions } from "./interaction.ts";
import { providerKeys } from "./keys.ts";
import { createProvider, INTERACTION_PATH } from "./provider.ts";

interface Started {
  readonly serve: ReturnType<Provider["callback"]>;
  readonly interactions: Interactions;
}

/**
 * `/idp`: the OpenID provider that users of the sandbox sign in at. It asks for no credentials, so browsers take turns by
 * their addresses. What this process asks of it is work of the caller whose sign-in it is.
 */
export function providerRouter(context: ControlContext): Router {
  const publicUrl = new URL(context.settings.publicUrl);
  let starting: Promise<Started> | undefined;
  const started = () => {
    starting ??= forAllCallers(() => start(context));
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
  const inTurn =
    (serve: (started: Started, request: Request, response: Response) => Promise<void>) =>
    (request: Request, response: Response): Promise<void> => {
      const served = async () => serve(await started(), request, response);
      const own = callerOfOwnRequest(request);
      return own === undefined
        ? asCaller(callerOf(anonymousActor(request)), response, served)
        : forCaller(own, served);
    };
  provider.get(
    interaction,
    inTurn(({ interactions }, request, response) => interactions.show(request, response)),
  );
  provider.post(
    interaction,
    form,
    inTurn(({ interactions }, request, response) => interactions.submit(request, response)),
  );
  provider.use(inTurn(({ serve }, request, response) => serve(request, response)));
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

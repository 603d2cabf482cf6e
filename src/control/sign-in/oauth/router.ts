import { Router, type Request, type Response } from "express";
import type { ControlContext } from "../../platform/context.ts";
import { requestIdOf } from "../../platform/frame/request-id.ts";
import { createAuthority } from "../../platform/frame/authority.ts";
import type { Answer } from "../../platform/frame/route.ts";
import { asCaller, callerOf } from "../../platform/frame/as-caller.ts";
import { clientIpOf } from "../../platform/frame/client-address.ts";
import { countRequest, anonymousActor, type FrameParts } from "../../platform/frame/serve.ts";
import { unitsOfCaller } from "../../platform/frame/units-of-caller.ts";
import type { Keyring } from "../issuer/keyring.ts";
import type { Actor } from "../../platform/actor.ts";
import type { UnitOrigin, Units } from "../../platform/unit.ts";
import { createClientAuthentication, type OAuthClient } from "./client-authentication.ts";
import { endSession, endSessionParameters } from "./end-session.ts";
import { introspect } from "./introspect.ts";
import { createIssuedTokens } from "./issued-tokens.ts";
import { OAUTH_PATHS } from "./metadata.ts";
import { asOAuthError, errorBody, OAuthError } from "./oauth-error.ts";
import { readForm, type Form } from "./read-form.ts";
import { revoke } from "./revoke.ts";
import { grantToClient } from "./token.ts";
import { bearerOf, userInfo } from "./userinfo.ts";

/** Dependencies that the endpoints share with the API. */
export interface OAuthParts extends Pick<FrameParts, "authenticator" | "limiter"> {
  readonly keyring: Keyring;
}

type Serve = (request: Request, response: Response) => Promise<void>;
/** Answers an authenticated client; `undefined`: an empty response. */
type ServeClient = (client: OAuthClient, form: Form, caller: Caller) => Promise<object | undefined>;

/** The client, as the origin of changes. */
interface Caller {
  readonly origin: UnitOrigin;
  readonly callerUnits: Units;
}

/** `/oauth2`: the endpoints that the issuer's metadata names, one per line. */
export function oauthRouter(
  context: ControlContext,
  { authenticator, limiter, keyring }: OAuthParts,
): Router {
  const { settings } = context;
  const tokens = createIssuedTokens(context, keyring);
  const authenticate = createClientAuthentication(context, authenticator);
  const count = (response: Response, subject: string) =>
    countRequest(response, "authentication", subject, limiter);

  /** Until it is known who asks, the address is the caller: finding out takes a connection as well. */
  const asUnknown = <T>(request: Request, response: Response, work: () => Promise<T>): Promise<T> =>
    asCaller(callerOf(anonymousActor(request)), response, work);

  /** Authentication, rate limit, then the endpoint's own code: in the same order as in the frame. */
  const forClients =
    (serve: ServeClient): Serve =>
    async (request, response) => {
      const form = await settled(readForm(request));
      const client =
        form instanceof OAuthError
          ? form
          : await asUnknown(request, response, () => authenticate(request, form));
      const refused = client instanceof OAuthError;
      await count(response, refused ? anonymousActor(request).id : client.id);
      if (form instanceof OAuthError) throw form;
      if (refused) throw client;
      const actorOf = (of: OAuthClient) => (of.kind === "api_key" ? of.actor : anonymousActor(request));
      const actor = actorOf(client);
      const check = async () => {
        const again = await authenticate(request, form);
        if (again instanceof OAuthError) throw again;
        return actorOf(again);
      };
      const authority = createAuthority(actor, check, context.clock);
      const callerUnits = unitsOfCaller(context.units, authenticator, authority);
      const caller = { origin: originOf(request, response, actor), callerUnits };
      await asCaller(callerOfClient(client), response, async () => {
        sendJson(response, await serve(client, form, caller));
      });
    };

  const routes: readonly (readonly [path: string, methods: readonly string[], serve: Serve])[] = [
    [
      OAUTH_PATHS.token,
      ["POST"],
      forClients((client, form) => grantToClient(context, keyring, client, form)),
    ],
    [
      OAUTH_PATHS.introspection,
      ["POST"],
      forClients((client, form) => introspect(tokens, settings, keyOf(client), form)),
    ],
    [
      OAUTH_PATHS.revocation,
      ["POST"],
      forClients(async (client, form, { origin, callerUnits }) => {
        await revoke(context, callerUnits, tokens, { ...origin, actor: keyOf(client) }, form);
        return undefined;
      }),
    ],
    [
      OAUTH_PATHS.userInfo,
      ["GET", "POST"],
      async (request, response) => {
        const token = await asUnknown(request, response, () => bearerOf(request, tokens));
        await count(response, token instanceof OAuthError ? anonymousActor(request).id : token.claims.sub);
        if (token instanceof OAuthError) throw token;
        sendJson(response, userInfo(settings, token));
      },
    ],
    [
      OAUTH_PATHS.endSession,
      ["GET", "POST"],
      async (request, response) => {
        const actor = anonymousActor(request);
        await count(response, actor.id);
        const origin = originOf(request, response, actor);
        await asCaller(callerOf(actor), response, async () => {
          sendPage(response, await endSession(context, tokens, origin, await endSessionParameters(request)));
        });
      },
    ],
  ];

  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, methods, serve] of routes)
    router.all(path, async (request, response) => {
      // RFC 6749, section 5.1; RFC 7662 and OpenID Connect require the same
      response.setHeader("cache-control", "no-store");
      try {
        if (methods.includes(request.method)) await serve(request, response);
        else {
          await count(response, anonymousActor(request).id);
          throw new OAuthError("invalid_request", `the method must be ${methods.join(" or ")}`, {
            status: 405,
            headers: { allow: methods.join(", ") },
          });
        }
      } catch (error) {
        sendError(error, request, response, context);
      }
    });
  return router;
}

/**
 * Only keys that sign users in may inspect tokens; a machine client can only request its own.
 * @throws OAuthError
 */
function keyOf(client: OAuthClient): Actor {
  if (client.kind === "api_key") return client.actor;
  throw new OAuthError(
    "unauthorized_client",
    "requires an API key with scope `authentication` or `full_access`",
  );
}

/** The same as in the API: a customer's machine clients and keys are one caller. */
function callerOfClient(client: OAuthClient): ReturnType<typeof callerOf> {
  if (client.kind === "api_key") return callerOf(client.actor);
  return { id: client.row.customer_id ?? client.id, actor: client.id };
}

/** Returns a refusal as a value, because the request is counted before it is answered. Other errors are thrown. */
async function settled<T>(reading: Promise<T>): Promise<T | OAuthError> {
  try {
    return await reading;
  } catch (error) {
    return asOAuthError(error);
  }
}

function originOf(request: Request, response: Response, actor: Actor): UnitOrigin {
  return { actor, requestId: requestIdOf(response), clientIp: clientIpOf(request) };
}

function sendJson(response: Response, body: object | undefined): void {
  response.status(200);
  if (body === undefined) response.end();
  else response.type("application/json").send(JSON.stringify(body));
}

function sendPage(response: Response, answer: Answer): void {
  if (answer.kind === "redirect") response.status(303).setHeader("location", answer.location).end();
  else if (answer.kind === "page") response.status(answer.status).type("html").send(answer.html);
  else throw new Error(`a logout does not end in an answer of kind ${answer.kind}`);
}

function sendError(
  error: unknown,
  request: Request,
  response: Response,
  { log }: Pick<ControlContext, "log">,
): void {
  const failure = asOAuthError(error);
  if (failure.status >= 500) {
    const about = { request_id: requestIdOf(response), method: request.method, path: request.path };
    log.error({ ...about, err: failure.cause ?? failure }, "a request failed");
  }
  for (const [name, value] of Object.entries(failure.headers)) response.setHeader(name, value);
  response
    .status(failure.status)
    .type("application/json")
    .send(JSON.stringify(errorBody(failure)));
}

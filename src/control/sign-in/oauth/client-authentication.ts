import type { Request } from "express";
import { clientOf, SCOPE_PERMISSIONS, type Actor, type Permission } from "../../platform/actor.ts";
import { createUseNotes } from "../../platform/authentication/last-use.ts";
import { authenticatedClient, type ClientRow } from "../../resources/clients/store.ts";
import type { ControlContext } from "../../platform/context.ts";
import { ApiError } from "../../platform/errors.ts";
import type { Authenticator } from "../../platform/frame/authenticator.ts";
import { idPattern } from "../../platform/ids.ts";
import { sameSecret } from "../../platform/secret-box.ts";
import { invalidClient, OAuthError } from "./oauth-error.ts";
import type { Form } from "./read-form.ts";

type ApiKeyActor = Extract<Actor, { kind: "api_key" }>;

/** The caller of an OAuth endpoint. */
export type OAuthClient =
  /** An application or a resource server: an API key that may sign users in. */
  | { readonly kind: "api_key"; readonly id: string; readonly actor: ApiKeyActor }
  /** A program that acts for itself. */
  | { readonly kind: "machine"; readonly id: string; readonly row: ClientRow };

/**
 * @returns the client; an error if it is unknown, or not authenticated in exactly one way. Rejects if the database is
 *   unavailable.
 */
export type AuthenticateClient = (request: Request, form: Form) => Promise<OAuthClient | OAuthError>;

interface Credentials {
  readonly id: string;
  readonly secret: string;
}

/** RFC 7617, section 2: a scheme, whose case does not matter, and one token68. */
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** Authenticates clients by `client_secret_basic` or `client_secret_post` (RFC 6749, section 2.3.1). */
export function createClientAuthentication(
  context: Pick<ControlContext, "db" | "clock" | "log">,
  authenticator: Authenticator,
): AuthenticateClient {
  const { db, clock } = context;
  const noteUse = createUseNotes(context);

  async function byMachine({ id, secret }: Credentials): Promise<OAuthClient | OAuthError> {
    const now = new Date(clock());
    const row = await authenticatedClient(db, id, secret, now);
    if (row === undefined) return invalidClient();
    noteUse({ table: "clients", id, last: row.last_used_at }, now);
    return { kind: "machine", id, row };
  }

  async function byKey({ id, secret }: Credentials, request: Request): Promise<OAuthClient | OAuthError> {
    const actor = await authenticator.identifyKey(secret, request);
    if (actor instanceof ApiError || actor.kind !== "api_key") return invalidClient();
    // a rolled key is identified by its own id and by the one in tokens
    if (![actor.id, clientOf(actor)].some((known) => sameSecret(known, id))) return invalidClient();
    const permissions: readonly Permission[] = SCOPE_PERMISSIONS[actor.scope];
    if (!permissions.includes("authenticate"))
      return new OAuthError(
        "unauthorized_client",
        `the API key needs the scope \`authentication\` or \`full_access\`; \`${actor.scope}\` does not permit this`,
      );
    return { kind: "api_key", id: clientOf(actor), actor };
  }

  return async (request, form) => {
    const credentials = readCredentials(request.headersDistinct["authorization"], form);
    if (credentials instanceof OAuthError) return credentials;
    return idPattern("client").test(credentials.id) ? byMachine(credentials) : byKey(credentials, request);
  };
}

/** RFC 6749, section 2.3: exactly one method. */
function readCredentials(values: readonly string[] | undefined, form: Form): Credentials | OAuthError {
  const [value, ...others] = values ?? [];
  if (others.length > 0)
    return new OAuthError("invalid_request", "the request has more than one `Authorization` header");
  const { client_id: id, client_secret: secret } = form;
  if (value === undefined)
    return id === undefined || secret === undefined
      ? invalidClient("the client must authenticate with `client_secret_basic` or `client_secret_post`")
      : { id, secret };
  if (secret !== undefined)
    return new OAuthError("invalid_request", "the client must use exactly one authentication method");
  const basic = readBasic(value);
  if (basic === undefined)
    return invalidClient("the `Authorization` header must be `Basic` with client id and secret");
  if (id !== undefined && id !== basic.id)
    return new OAuthError("invalid_request", "`client_id` does not match the authenticated client");
  return basic;
}

/** RFC 6749, section 2.3.1: id and secret are form-encoded before they are joined. */
function readBasic(value: string): Credentials | undefined {
  const [, encoded] = BASIC.exec(value) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("latin1");
  const colon = text.indexOf(":");
  if (colon < 1) return undefined;
  try {
    const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll("+", " ")),
    );
    return id === undefined || secret === undefined || secret === "" ? undefined : { id, secret };
  } catch {
    return undefined;
  }
}

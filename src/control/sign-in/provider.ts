import { AsyncLocalStorage } from "node:async_hooks";
import { LRUCache } from "lru-cache";
import * as client from "openid-client";
import { errorCode } from "../../runtime/error-code.ts";
import type { ControlContext } from "../platform/context.ts";
import { isReachable } from "../resources/customers/idp-issuer.ts";
import { openClientSecret, type IdpRow } from "../tenancy/idp.ts";
import { ApiError } from "../platform/errors.ts";
import { sendToItself } from "../platform/frame/own-requests.ts";
import { guardedFetch } from "../platform/outbound/guarded-fetch.ts";
import { ownProviderUrl } from "../platform/sandbox-issuer.ts";
import { exactClaims, withoutInexactNumbers } from "./exact-json.ts";
import { configuredProvider, type ResolveProvider } from "./resolve-provider.ts";

/** The identity providers of customers, seen from their client. */
export interface Providers {
  /** The provider at which the users of a customer sign in; `undefined` if there is none. */
  readonly of: ResolveProvider;
  /** @throws ApiError IDP_FAILED if the provider's metadata cannot be read */
  clientOf(idp: IdpRow): Promise<client.Configuration>;
  /**
   * The address to which the browser is sent to sign in.
   * @throws ApiError IDP_FAILED
   */
  authorizationUrl(idp: IdpRow, parameters: Record<string, string>): Promise<string>;
  /** The provider's claims about a subject, signed or not (OpenID Connect Core 1.0, section 5.3). */
  userInfo(
    configuration: client.Configuration,
    accessToken: string,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>>>;
}

/** Per request to a provider; a sign-in makes up to four. */
const TIMEOUT_MS = 5_000;
const CACHED_MS = 10 * 60_000;
const CACHED = 500;
/** The signed response to the request in progress, unchanged: it must stay so until its signature is verified. */
const signedAnswer = new AsyncLocalStorage<{ jwt?: string }>();
/** Allows the library to use http; the hosts are restricted here. Marked as deprecated so that nobody overlooks it. */
// eslint-disable-next-line @typescript-eslint/no-deprecated
const ALLOW_HTTP: ((configuration: client.Configuration) => void)[] = [client.allowInsecureRequests];

/**
 * Reads providers' metadata when they are needed, and caches them for a while.
 *
 * @param of - where users sign in. Default: the provider that their customer has configured
 */
export function createProviders(
  { settings, box }: Pick<ControlContext, "settings" | "box">,
  of: ResolveProvider = configuredProvider,
): Providers {
  const { allowInsecureIssuers, egressProxy: proxy } = settings;
  const send = guardedFetch({ allowPrivate: allowInsecureIssuers, timeoutMs: TIMEOUT_MS, proxy });
  // only this process itself, and nothing else on its machine or network
  const sendToOwn = guardedFetch({ allowPrivate: true, timeoutMs: TIMEOUT_MS });
  // metadata may name any endpoint
  const requireReachable = (url: string): void => {
    if (ownProviderUrl(url, settings) === undefined && !isReachable(new URL(url), allowInsecureIssuers))
      throw new Error("the provider's endpoint must use https");
  };
  const fetchIt: client.CustomFetch = async (url, options) => {
    requireReachable(url);
    const own = ownProviderUrl(url, settings);
    const answer = await (own === undefined
      ? send(url, options as RequestInit)
      : sendToItself(sendToOwn, own, options as RequestInit));
    return exactAnswer(answer);
  };
  // the hosts were restricted above
  const speaksHttp = ({ issuer }: IdpRow) =>
    allowInsecureIssuers || ownProviderUrl(`${issuer}/`, settings) !== undefined;
  const discovered = new LRUCache<string, Promise<client.ServerMetadata>>({ max: CACHED, ttl: CACHED_MS });
  const clients = new LRUCache<string, client.Configuration>({ max: CACHED, ttl: CACHED_MS });

  async function discover(idp: IdpRow): Promise<client.ServerMetadata> {
    const { issuer, client_id } = idp;
    const found = await client.discovery(new URL(issuer), client_id, undefined, undefined, {
      timeout: TIMEOUT_MS / 1000,
      [client.customFetch]: fetchIt,
      ...(speaksHttp(idp) && { execute: ALLOW_HTTP }),
    });
    // the issuer in the provider's tokens is compared with this
    if (found.serverMetadata().issuer !== issuer)
      throw new Error("the issuer in the metadata does not match");
    return found.serverMetadata();
  }

  function metadataOf(idp: IdpRow): Promise<client.ServerMetadata> {
    const known = discovered.get(idp.issuer);
    if (known !== undefined) return known;
    const asked = discover(idp);
    discovered.set(idp.issuer, asked);
    asked.catch(() => {
      if (discovered.get(idp.issuer) === asked) discovered.delete(idp.issuer);
    });
    return asked;
  }

  async function clientOf(idp: IdpRow): Promise<client.Configuration> {
    // each encryption gives another text, so a provider that is configured again gets a new client
    const key = JSON.stringify([idp.customer_id, idp.issuer, idp.client_id, idp.client_secret]);
    const known = clients.get(key);
    if (known !== undefined) return known;
    const metadata = await metadataOf(idp);
    const made = makeClient(metadata, idp.client_id, openClientSecret(box, idp), fetchIt, speaksHttp(idp));
    clients.set(key, made);
    return made;
  }

  return {
    of,
    clientOf: (idp) => clientOf(idp).catch((error: unknown) => fail(idp, error)),
    async authorizationUrl(idp, parameters) {
      try {
        const url = client.buildAuthorizationUrl(await clientOf(idp), parameters);
        requireReachable(url.href);
        return url.href;
      } catch (error) {
        return fail(idp, error);
      }
    },
    async userInfo(configuration, accessToken, subject) {
      const answer: { jwt?: string } = {};
      const claims = await signedAnswer.run(answer, () =>
        client.fetchUserInfo(configuration, accessToken, subject),
      );
      return answer.jwt === undefined ? claims : exactClaims(answer.jwt);
    },
  };
}

function makeClient(
  metadata: client.ServerMetadata,
  clientId: string,
  secret: string,
  fetchIt: client.CustomFetch,
  insecure: boolean,
): client.Configuration {
  const methods = metadata.token_endpoint_auth_methods_supported;
  // OpenID Connect Discovery 1.0, section 3: Basic if the metadata do not say
  const authentication =
    methods?.includes("client_secret_post") === true && !methods.includes("client_secret_basic")
      ? client.ClientSecretPost(secret)
      : client.ClientSecretBasic(secret);
  const made = new client.Configuration(metadata, clientId, undefined, authentication);
  made.timeout = TIMEOUT_MS / 1000;
  made[client.customFetch] = fetchIt;
  // verify the ID token's signature instead of relying on TLS alone
  client.enableNonRepudiationChecks(made);
  if (insecure) for (const allow of ALLOW_HTTP) allow(made);
  return made;
}

/** 502, with the cause only in the log. */
function fail({ customer_id }: IdpRow, error: unknown): never {
  throw new ApiError("IDP_FAILED", { details: { customer_id }, cause: new Error(failureText(error)) });
}

/** Describes a failure without the provider's response, which may contain tokens. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return "unknown failure";
  const inner = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  const code = errorCode(error);
  return `${code === undefined ? "" : `${code}: `}${error.message}${inner}`.slice(0, 500);
}

/** The response for the library to parse, after {@link withoutInexactNumbers}. */
async function exactAnswer(answer: Response): Promise<Response> {
  const { status, statusText, headers } = answer;
  if (answer.body === null) return answer;
  const text = await answer.text();
  const exact = new Headers(headers);
  // it is already decompressed, and its length may have changed
  for (const name of ["content-encoding", "content-length"]) exact.delete(name);
  const init = { status, statusText, headers: exact };
  // like the library, which parses JSON whatever the content type is
  if (headers.get("content-type")?.split(";")[0] !== "application/jwt")
    return new Response(withoutInexactNumbers(text), init);
  const signed = signedAnswer.getStore();
  // the provider's keys may be requested next
  if (signed !== undefined) signed.jwt ??= text;
  return new Response(text, init);
}

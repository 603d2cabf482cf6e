import { getJson, type HttpJsonOptions } from "./http-json.ts";
import { isLoopbackHttp, secureUrl } from "./secure-url.ts";

/**
 * OpenID Connect Discovery 1.0, section 4: asks the issuer where its keys are. The well-known path is appended to the
 * issuer's own path, as section 4.1 requires. RFC 8414, which inserts it before that path, is for OAuth servers that are not
 * OpenID providers, and is not tried.
 *
 * @throws if the document is about another issuer (section 4.3), or its `jwks_uri` is not safe to use.
 */
export async function discoverJwksUri(issuer: string, options: HttpJsonOptions): Promise<URL> {
  const metadata = await getJson(
    new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`),
    options,
  );
  if (typeof metadata !== "object" || metadata === null)
    throw new Error("the issuer's metadata is not an object");
  if (!("issuer" in metadata) || metadata.issuer !== issuer) {
    throw new Error("the issuer's metadata names a different issuer than the configured one");
  }
  if (!("jwks_uri" in metadata) || typeof metadata.jwks_uri !== "string") {
    throw new Error("the issuer's metadata has no `jwks_uri`");
  }
  const jwksUri = secureUrl("jwks_uri", metadata.jwks_uri);
  if (isLoopbackHttp(jwksUri) && !isLoopbackHttp(new URL(issuer))) {
    throw new Error("the issuer's `jwks_uri` is not an https address");
  }
  return jwksUri;
}

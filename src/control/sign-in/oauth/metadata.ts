import { ALGORITHM } from "../issuer/key-store.ts";
import { GRANT_TYPES } from "./token.ts";
import { CLAIMS_OF_SCOPES } from "../../resources/sessions/user-scopes.ts";

/** Paths outside `/v1`: these endpoints follow their standards, without the API's envelope. */
export const OAUTH_PATHS = {
  token: "/oauth2/token",
  introspection: "/oauth2/introspect",
  revocation: "/oauth2/revoke",
  userInfo: "/oauth2/userinfo",
  endSession: "/oauth2/logout",
} as const;

/** How clients authenticate (RFC 6749, section 2.3.1). */
const AUTHENTICATION_METHODS = ["client_secret_basic", "client_secret_post"] as const;

/**
 * The metadata of this environment's issuer (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3): only what
 * is served. Users sign in through the API, so there is no authorization endpoint for browsers, and no response type;
 * the list of response types is nevertheless required.
 */
export function issuerMetadata(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    token_endpoint: `${issuer}${OAUTH_PATHS.token}`,
    token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
    introspection_endpoint: `${issuer}${OAUTH_PATHS.introspection}`,
    introspection_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
    revocation_endpoint: `${issuer}${OAUTH_PATHS.revocation}`,
    revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
    userinfo_endpoint: `${issuer}${OAUTH_PATHS.userInfo}`,
    end_session_endpoint: `${issuer}${OAUTH_PATHS.endSession}`,
    response_types_supported: [],
    grant_types_supported: GRANT_TYPES,
    scopes_supported: Object.keys(CLAIMS_OF_SCOPES),
    claims_supported: Object.values(CLAIMS_OF_SCOPES).flat(),
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [ALGORITHM],
    service_documentation: `${issuer}/docs`,
  };
}

import type { GatewayConfig } from "./schema.ts";
import { parseClaimPath } from "../identity/claim-path.ts";
import type { TokenSources } from "../identity/index.ts";

/** Where callers' tokens may be. */
export function tokenSources({ identity }: GatewayConfig): TokenSources {
  const { cookie, token_header: header, websocket_protocol: websocketProtocol, alb } = identity;
  return {
    ...(identity.api_keys !== "refuse" && { apiKeys: identity.api_keys }),
    ...(cookie !== undefined && { cookie }),
    ...(header !== undefined && { header }),
    ...(alb.signers.length > 0 && { alb: true }),
    ...(websocketProtocol !== undefined && { websocketProtocol }),
    ...(identity.connection_params.length > 0 && {
      connectionParams: identity.connection_params.flatMap((path) => {
        const parsed = parseClaimPath(path);
        return parsed === undefined ? [] : [parsed.names];
      }),
    }),
    ...(identity.foreign_bearer === "pass" && { foreignTo: identity.issuer }),
  };
}

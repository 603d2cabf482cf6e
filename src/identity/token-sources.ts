/** Where a request may carry its caller's token, besides `Authorization: Bearer`. */
export interface TokenSources {
  /** Name of a cookie. */
  readonly cookie?: string;
  /** Name of a header, in lower case, in which an access proxy sends the token alone. */
  readonly header?: string;
  /** `X-Amzn-Oidc-Data` of an AWS Application Load Balancer. */
  readonly alb?: boolean;
  /** Prefix of the WebSocket subprotocol that carries the token. */
  readonly websocketProtocol?: string;
  /** Paths of members of a GraphQL connection's first message. */
  readonly connectionParams?: readonly (readonly string[])[];
  /** API keys of ours are accepted as bearer tokens, and withheld from the application or forwarded. */
  readonly apiKeys?: "accept" | "forward";
  /** This issuer's tokens are ours; a bearer token that is certainly not one of them is the application's own. */
  readonly foreignTo?: string;
}

export const ALB_HEADER = "x-amzn-oidc-data";
export const PROTOCOL_HEADER = "sec-websocket-protocol";

/** Prefixes that begin like this are followed by the token in base64url, as in Kubernetes. */
export const ENCODED_PREFIX = "base64url.";

/** @returns the headers that only carry a token: neither rules nor the application get them */
export function tokenHeaders({ header, alb = false }: TokenSources): readonly string[] {
  return [...(header === undefined ? [] : [header]), ...(alb ? [ALB_HEADER] : [])];
}

import { Router, type Response } from "express";
import type { ControlContext } from "../../platform/context.ts";
import { issuerMetadata } from "./metadata.ts";
import type { Keyring } from "../issuer/keyring.ts";

/** How long copies may be cached. A key is published for longer before it signs. */
const MAX_AGE_SECONDS = 300;

/**
 * What others need to verify this environment's tokens: its metadata (OpenID Connect Discovery 1.0, section 4; RFC
 * 8414) and its public keys (RFC 7517). Public, and plain JSON as in those standards, without the API's envelope.
 */
export function wellKnownRouter(
  { settings }: Pick<ControlContext, "settings">,
  { keyring }: { readonly keyring: Keyring },
): Router {
  const metadata = issuerMetadata(settings.publicUrl);
  const router = Router({ caseSensitive: true, strict: true });
  for (const name of ["openid-configuration", "oauth-authorization-server"])
    router.get(`/.well-known/${name}`, (_request, response) => {
      send(response, "application/json", metadata);
    });
  router.get("/.well-known/jwks.json", async (_request, response) => {
    send(response, "application/jwk-set+json", { keys: await keyring.published() });
  });
  return router;
}

function send(response: Response, type: string, body: object): void {
  response
    .status(200)
    .set("cache-control", `public, max-age=${MAX_AGE_SECONDS}`)
    // public data: pages of any origin may read it
    .set("access-control-allow-origin", "*")
    .set("cross-origin-resource-policy", "cross-origin")
    .type(type)
    .send(JSON.stringify(body));
}

import type { ControlSettings } from "./context.ts";

/** Path of the sandbox's own provider, on the API's port. */
export const PROVIDER_PATH = "/idp";

/** The `iss` of the sandbox's own provider. */
export function sandboxIssuer({ publicUrl }: Pick<ControlSettings, "publicUrl">): string {
  return `${publicUrl}${PROVIDER_PATH}`;
}

/**
 * The target of our own requests to the sandbox's provider: this process, because the public address may lead through a
 * proxy that is not reachable from here. `undefined` for every other address, and outside the sandbox.
 */
export function ownProviderUrl(
  url: string,
  {
    environment,
    publicUrl,
    ownUrl = publicUrl,
  }: Pick<ControlSettings, "environment" | "publicUrl" | "ownUrl">,
): string | undefined {
  if (environment !== "sandbox") return undefined;
  const issuer = sandboxIssuer({ publicUrl });
  return url.startsWith(`${issuer}/`) ? `${ownUrl}${PROVIDER_PATH}${url.slice(issuer.length)}` : undefined;
}

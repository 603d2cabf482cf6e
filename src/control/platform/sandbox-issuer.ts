import type { ControlSettings } from "./context.ts";

/** Where the sandbox's own provider is served, on the API's own port. */
export const PROVIDER_PATH = "/idp";

/** The `iss` of the sandbox's own provider. */
export function sandboxIssuer({ publicUrl }: Pick<ControlSettings, "publicUrl">): string {
  return `${publicUrl}${PROVIDER_PATH}`;
}

/**
 * Where a request of ours to the sandbox's own provider goes: to this process, for the public address may lead through a
 * proxy that cannot be reached from here. `undefined` for every other address, and everywhere but in the sandbox.
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

import type { GatewayConfig } from "../../config/index.ts";
import {
  createAlbVerifier,
  createTokenVerifier,
  isApiKey,
  type PresentedToken,
  type RunningTokenVerifier,
  type TokenSources,
  type TokenVerifier,
} from "../../identity/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { callersOf } from "./callers.ts";
import type { ControlPlaneLink } from "./control-plane-link.ts";
import { albOptions, identityOptions } from "./identity-options.ts";

export interface VerifierDependencies {
  readonly tokens: TokenSources;
  /** Looks up callers' API keys. */
  readonly link: ControlPlaneLink | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** What verifies tokens, by what was presented. */
export interface Verifiers {
  /** Of the issuer's tokens. */
  readonly verifier: RunningTokenVerifier;
  readonly verifierOf: (found: PresentedToken) => TokenVerifier;
  readonly closeVerifiers: () => void;
}

/** Creates the verifiers of the configured issuer, of AWS load balancers, and of callers' API keys. */
export function createVerifiers(
  config: GatewayConfig,
  { tokens, link, metrics, log }: VerifierDependencies,
): Verifiers {
  const verifier = createTokenVerifier(identityOptions(config), { metrics, log });
  const alb =
    tokens.alb === true
      ? createAlbVerifier(albOptions(config), identityOptions(config), { metrics, log })
      : undefined;
  const apiKeys =
    tokens.apiKeys === undefined || link === undefined ? undefined : callersOf(link, { metrics, log });
  return {
    verifier,
    verifierOf: ({ kind, token }) => {
      if (kind === "alb" && alb !== undefined) return alb;
      const mayBeKey = kind === "bearer" || kind === "proxy";
      return apiKeys !== undefined && mayBeKey && isApiKey(token) ? apiKeys : verifier;
    },
    closeVerifiers() {
      verifier.close();
      alb?.close();
    },
  };
}

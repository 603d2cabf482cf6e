import type { GatewayConfig } from "../../config/index.ts";
import type { ControlSettings } from "../../control/platform/context.ts";
import type { Environment } from "../../control/platform/environment.ts";

/** The settings of one environment, from the configuration. */
export function controlSettings(
  { api, database, sign_in, webhooks, retention }: GatewayConfig,
  environment: Environment,
  publicUrl: string,
): ControlSettings {
  return {
    environment,
    publicUrl,
    audience: sign_in.audience,
    accessTokenSeconds: sign_in.access_token_lifetime / 1000,
    refreshTokenSeconds: sign_in.refresh_token_lifetime / 1000,
    sessionSeconds: sign_in.session_lifetime / 1000,
    sessionsPerUser: sign_in.sessions_per_user,
    signingKeySeconds: sign_in.signing_key_lifetime / 1000,
    allowInsecureIssuers: sign_in.allow_insecure_issuers,
    trustedProxies: api.trusted_proxies,
    rateLimits: api.rate_limits,
    ...(database.redis_url !== undefined && { redisUrl: database.redis_url }),
    ...(api.egress_proxy !== undefined && { egressProxy: api.egress_proxy }),
    webhooks: {
      allowPrivateTargets: webhooks.allow_private_targets,
      timeoutMs: webhooks.timeout,
      retryForMs: webhooks.retry_for,
    },
    retention: {
      auditMs: retention.audit,
      inputsMs: retention.inputs,
      eventsMs: retention.events,
      deletedMs: retention.deleted,
    },
  };
}

/** The public URL of an environment: configured, or its own address. Without a trailing slash. */
export function publicUrlOf({ api }: GatewayConfig, environment: Environment, ownUrl: string): string {
  const configured = environment === "production" ? api.public_url : api.sandbox_public_url;
  return (configured ?? ownUrl).replace(/(?<!\/)\/+$/, "");
}

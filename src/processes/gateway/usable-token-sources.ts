import { tokenSources, type GatewayConfig } from "../../config/index.ts";
import type { TokenSources } from "../../identity/index.ts";
import type { Log } from "../../telemetry/log.ts";

/**
 * Where callers' tokens may be, for a worker. The first messages of connections count only if nobody but our Envoy can
 * reach it: anyone else could say for a connection who its client is.
 *
 * @param process.hearsEnvoy - only our Envoy can reach it
 */
export function usableTokenSources(
  config: GatewayConfig,
  { hearsEnvoy, worker, log }: { readonly hearsEnvoy: boolean; readonly worker: number; readonly log: Log },
): TokenSources {
  const { connectionParams, ...others } = tokenSources(config);
  if (connectionParams === undefined) return others;
  if (hearsEnvoy) return { ...others, connectionParams };
  if (worker === 0)
    log.warn({}, "identity.connection_params is ignored: not only our own Envoy can reach the workers");
  return others;
}

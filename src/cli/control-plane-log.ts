import type { GatewayConfig } from "../config/index.ts";
import { createLog, type Log } from "../telemetry/log.ts";

/** The log of a control plane, and of the commands that work on its database. */
export function controlPlaneLog({ telemetry }: Pick<GatewayConfig, "telemetry">): Log {
  return createLog({ level: telemetry.log_level, name: "control-plane" });
}

import { resolve } from "node:path";
import { CONFIG_KEYS, valueAt } from "./keys.ts";
import type { GatewayConfig } from "./schema.ts";

/**
 * The same configuration with every path absolute; relative ones are resolved against `folder`. Each key's type tells
 * which of its values are paths.
 */
export function resolvePaths(config: GatewayConfig, folder: string): GatewayConfig {
  const resolved = structuredClone(config);
  for (const { path, type } of CONFIG_KEYS) {
    const value = valueAt(config, path);
    if (type.absolute === undefined || value === undefined) continue;
    const section = valueAt(resolved, path.slice(0, -1)) as Record<string, unknown>;
    section[path.at(-1) ?? ""] = type.absolute(value, (relative) => resolve(folder, relative));
  }
  return resolved;
}

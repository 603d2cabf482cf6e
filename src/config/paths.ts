import { resolve } from "node:path";
import type { GatewayConfig } from "./schema.ts";

/** The same configuration with every path absolute; relative ones count from `folder`. */
export function resolvePaths(config: GatewayConfig, folder: string): GatewayConfig {
  const absolute = (path: string) => resolve(folder, path);
  const { gateway, identity, policies, audit, authz, control_plane, api } = config;
  return {
    ...config,
    gateway: {
      ...gateway,
      ...each({ backend_ca: gateway.backend_ca }, absolute),
      access_log: ["off", "stderr"].includes(gateway.access_log)
        ? gateway.access_log
        : absolute(gateway.access_log),
      security: {
        ...gateway.security,
        ...each(
          {
            tls_certificate: gateway.security.tls_certificate,
            tls_private_key: gateway.security.tls_private_key,
          },
          absolute,
        ),
      },
    },
    identity: {
      ...identity,
      ...each({ jwks: identity.jwks }, (jwks) => (/^https?:\/\//i.test(jwks) ? jwks : absolute(jwks))),
    },
    policies: { ...policies, directory: absolute(policies.directory) },
    attribute_sources: Object.fromEntries(
      Object.entries(config.attribute_sources).map(([name, source]) => [
        name,
        source.type === "file" ? { ...source, path: absolute(source.path) } : source,
      ]),
    ),
    audit: {
      ...audit,
      path: absolute(audit.path),
      spool_directory: absolute(audit.spool_directory),
    },
    control_plane: { ...control_plane, ...each({ api_key_file: control_plane.api_key_file }, absolute) },
    api: { ...api, data_directory: absolute(api.data_directory) },
    authz: {
      ...authz,
      listen: authz.listen.replace(/^unix:(.+)$/, (_, path: string) => `unix:${absolute(path)}`),
      tls: { ...authz.tls, ...each(authz.tls, absolute) },
    },
  };
}

/** Applies `change` to those members that are there. */
function each<K extends string>(
  members: Readonly<Partial<Record<K, string | undefined>>>,
  change: (value: string) => string,
): Partial<Record<K, string>> {
  const changed: Partial<Record<K, string>> = {};
  for (const name of Object.keys(members) as K[]) {
    const value = members[name];
    if (value !== undefined) changed[name] = change(value);
  }
  return changed;
}

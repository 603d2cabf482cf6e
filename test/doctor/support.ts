import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askEnvoy, luaOfRelease } from "../../src/cli/doctor-facts.ts";
import type { GatewayConfig } from "../../src/config/index.ts";
import type { Facts } from "../../src/doctor/index.ts";
import { envoyBootstrap, pinnedVersion, startEnvoy, type EnvoyJson } from "../../src/gateway/index.ts";
import { envoyBinary } from "../support/envoy.ts";
import { configWith, type Overrides } from "../gateway/support/gateway.ts";

/** Any JSON, to be changed in place. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Loose = any;

export const OURS: Overrides = {
  "gateway.listen_address": "127.0.0.1",
  "gateway.backend": "http://127.0.0.1:9",
};

export function bootstrapOf(config: GatewayConfig, luaDirectory?: string): Loose {
  const authzEndpoints = [{ address: "127.0.0.1", port: 9 }];
  return structuredClone(
    envoyBootstrap(config, { authzEndpoints, ...(luaDirectory !== undefined && { luaDirectory }) }),
  ) as Loose;
}

/** The connection manager of our bootstrap. */
export function managerOf(bootstrap: Loose): Loose {
  return bootstrap.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
}

export function filterOf(bootstrap: Loose, name: string): Loose {
  return managerOf(bootstrap).http_filters.find((filter: Loose) => filter.name === name);
}

export function routesOf(bootstrap: Loose): Loose[] {
  return managerOf(bootstrap).route_config.virtual_hosts[0].routes;
}

/** Starts a real Envoy with a bootstrap, and gathers what the doctor sees of it. */
export async function factsOf(
  bootstrap: EnvoyJson,
  config: GatewayConfig | undefined,
  more: Partial<Facts> = {},
): Promise<Facts> {
  const folder = await mkdtemp(join(tmpdir(), "gatehouse-"));
  const lines: string[] = [];
  const keep = (message: string) => void lines.push(message);
  try {
    const envoy = await startEnvoy({
      bootstrap,
      binary: await envoyBinary(),
      runtimeDirectory: join(folder, "run"),
      log: { info: keep, warn: keep, error: keep },
      concurrency: 1,
    });
    try {
      const admin =
        "socketPath" in envoy.admin ? envoy.admin : { host: envoy.admin.host, port: envoy.admin.port };
      const { view, version, clocks } = await askEnvoy(admin);
      return {
        ...{ envoy: view, envoyVersion: version, testedVersion: pinnedVersion(), config, clocks },
        ...{ needs: { body: true, plans: true }, lua: luaOfRelease(), reachable: [], gaps: [], ...more },
      };
    } finally {
      await envoy.stop(0);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const configOf = (overrides: Overrides = {}): GatewayConfig => configWith({ ...OURS, ...overrides });

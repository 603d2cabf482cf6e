import { spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadGatewayConfig } from "../src/config/index.ts";
import { envoyBootstrap, type EnvoyJson } from "../src/gateway/index.ts";
import { eventually } from "../test/support/eventually.ts";

/** Two processes that allow everything, behind the gateway's own Envoy configuration. */
export interface IdleServices {
  readonly bootstrap: EnvoyJson;
  stop(): void;
}

/** @param settings - keys of gateway.yaml */
export async function startIdleServices(
  directory: string,
  backend: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<IdleServices> {
  const loaded = loadGatewayConfig({
    env: {},
    overrides: {
      "gateway.backend": backend,
      "gateway.listen_port": 0,
      "identity.issuer": "http://127.0.0.1:1",
      "identity.audience": "none",
      ...settings,
    },
  });
  if (!loaded.ok) throw new Error(loaded.errors);
  const { config } = loaded;
  const sockets = [join(directory, "idle-0.sock"), join(directory, "idle-1.sock")];
  const script = fileURLToPath(new URL("./idle-authz.ts", import.meta.url));
  const services = sockets.map((socket) => spawn(process.execPath, [script, socket], { stdio: "inherit" }));
  for (const socket of sockets)
    await eventually("an idle service", async () => (await stat(socket)).isSocket());
  const authzEndpoints = sockets.map((unixSocket) => ({ unixSocket }));
  return {
    bootstrap: envoyBootstrap(config, { authzEndpoints }),
    stop: () => {
      for (const service of services) service.kill();
    },
  };
}

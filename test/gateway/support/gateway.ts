import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import type { GatewayConfig } from "../../../src/config/index.ts";
import { envoyBootstrap, startEnvoy } from "../../../src/gateway/index.ts";
import type { EnvoyJson } from "../../../src/gateway/envoy-json.ts";
import type { EnvoyProcess } from "../../../src/gateway/index.ts";
import { envoyBinary } from "../../support/envoy.ts";
import { AuthzStub } from "./authz-stub.ts";
import { Upstream } from "./upstream.ts";

export type Overrides = Readonly<Record<string, unknown>>;

/** A configuration that is complete but for what a test says. */
export function configWith(overrides: Overrides): GatewayConfig {
  const result = loadGatewayConfig({
    env: {},
    overrides: {
      "gateway.listen_port": 0,
      "identity.issuer": "https://login.example.com",
      "identity.audience": "app",
      ...overrides,
    },
  });
  if (!result.ok) throw new Error(result.errors);
  return result.config;
}

/** A real Envoy between this test, a stub of the service and a real upstream. */
export interface TestGateway {
  readonly port: number;
  readonly authz: AuthzStub;
  readonly upstream: Upstream;
  readonly envoy: EnvoyProcess;
  readonly config: GatewayConfig;
  readonly warnings: readonly string[];
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly overrides?: Overrides;
  /** Another copy of envoy/lua. */
  readonly luaDirectory?: string;
  /** Further workers, besides the gateway's own stub. */
  readonly workers?: readonly AuthzStub[];
  /** Of the application; for tests in which it ends and comes back. Default: any. */
  readonly upstreamPort?: number;
  /** What is changed in Envoy's configuration. */
  readonly change?: (bootstrap: EnvoyJson) => EnvoyJson;
}

export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const {
    overrides = {},
    luaDirectory,
    workers = [],
    upstreamPort = 0,
    change = (bootstrap) => bootstrap,
  } = options;
  const folder = await mkdtemp(join(tmpdir(), "gatehouse-"));
  const [authz, upstream] = [await new AuthzStub().listen(), await new Upstream().listen(upstreamPort)];
  const config = configWith({
    "gateway.backend": `http://127.0.0.1:${upstream.port}`,
    // the machine may be busy: only tests of lateness shall see it
    "authz.decision_timeout": "5s",
    "authz.queue_timeout": "0s",
    ...overrides,
  });
  const warnings: string[] = [];
  const keep = (message: string) => void warnings.push(message);
  const envoy = await startEnvoy({
    bootstrap: change(
      envoyBootstrap(config, {
        authzEndpoints: [authz, ...workers].map(({ port }) => ({ address: "127.0.0.1", port })),
        ...(luaDirectory !== undefined && { luaDirectory }),
      }),
    ),
    binary: await envoyBinary(),
    runtimeDirectory: join(folder, "run"),
    log: { info: keep, warn: keep, error: keep },
    concurrency: 1,
  });
  const stop = async () => {
    await envoy.stop(0);
    authz.stop();
    await upstream.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { port: envoy.listenPort, authz, upstream, envoy, config, warnings, stop };
}

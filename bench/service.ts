import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadGatewayConfig } from "../src/config/index.ts";
import { createService, type Service } from "../src/processes/gateway/service.ts";
import { createLog } from "../src/telemetry/log.ts";
import { createMetrics } from "../src/telemetry/metrics.ts";
import { policiesInProcess } from "../test/support/policies.ts";
import { startIssuer, type TestIssuer } from "../test/support/providers/issuer.ts";

/** A worker's decision service in this process, with no gRPC in front of it. */
export interface BenchService {
  readonly check: Service["check"];
  readonly issuer: TestIssuer;
  close(): Promise<void>;
}

/** @param policies - files of the set, whose main file is `bench.yaml` or lies in the folder `bench` */
export async function startBenchService(policies: Readonly<Record<string, string>>): Promise<BenchService> {
  const directory = await mkdtemp(join(tmpdir(), "gatehouse-bench-"));
  const [folder, stateDirectory] = [join(directory, "policies"), join(directory, "state")];
  await mkdir(folder);
  await mkdir(stateDirectory, { mode: 0o700 }); // the service writes into no other
  for (const [name, text] of Object.entries(policies)) await writeFile(join(folder, name), text);
  const issuer = await startIssuer();
  const loaded = loadGatewayConfig({
    env: {},
    overrides: {
      "identity.issuer": issuer.url,
      "identity.audience": issuer.audience,
      "policies.directory": folder,
      "policies.policy_set": "bench",
      "audit.destination": "file",
      "audit.path": join(directory, "audit.log"),
      "audit.queue_size": 1_000_000,
    },
  });
  if (!loaded.ok) throw new Error(loaded.errors);
  const supply = policiesInProcess(loaded.config, directory);
  const service = await createService(loaded.config, {
    metrics: createMetrics(),
    log: createLog({ level: "error", name: "bench" }),
    worker: 0,
    stateDirectory,
    hearsEnvoy: true,
    broadcast: () => undefined,
    sendRelease: supply.sendRelease,
    sendCounts: () => undefined,
  });
  await service.start();
  await supply.start(service);
  return {
    check: service.check,
    issuer,
    async close() {
      supply.close();
      await service.close();
      await issuer.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

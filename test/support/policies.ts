import { join } from "node:path";
import {
  createPolicyPublishing,
  type PolicyPublishing,
} from "../../src/processes/gateway/publish-policies.ts";
import type { GatewayConfig } from "../../src/config/index.ts";
import type { ReleaseReport } from "../../src/decision/policies/release-messages.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

/** The supervisor's part of policies, for a service in this process: its only worker. */
export interface PoliciesInProcess {
  /** For the service. */
  readonly sendRelease: (report: ReleaseReport) => void;
  /** Loads the policies and has the service decide by them. */
  start(service: { onMessage(message: unknown): void }): Promise<void>;
  close(): void;
}

/** @param runtime - folder for compiled sets */
export function policiesInProcess(config: GatewayConfig, runtime: string): PoliciesInProcess {
  let service: { onMessage(message: unknown): void } | undefined;
  const publishing: PolicyPublishing = createPolicyPublishing(config, {
    workers: {
      send: (_worker, order) => {
        service?.onMessage(order);
        return service !== undefined;
      },
      kill: () => undefined,
    },
    runtime,
    corsFile: join(runtime, "cors.json"),
    gateway: "test",
    rolloutChanged: () => undefined,
    metrics: createMetrics(),
    log: createLog({ level: "error", name: "test" }),
  });
  return {
    sendRelease: (report) => {
      publishing.take(0, report);
    },
    async start(given) {
      service = given;
      await publishing.start();
    },
    close: () => {
      publishing.close();
    },
  };
}

import { Command } from "commander";
import { findEnvoy } from "../gateway/index.ts";
import { startSupervisor } from "../processes/gateway/supervisor.ts";
import { CONFIG_OPTION, configFile, loadConfig } from "./options.ts";
import { reportPolicies } from "./report-policies.ts";
import { runUntilSignal } from "./run.ts";
import { progressLog } from "./progress.ts";
import { manifest } from "./manifest.ts";

/** `gatehouse gateway`: the decision service and Envoy, configured by one file. */
export function gatewayCommand(): Command {
  return new Command("gateway")
    .description("run the gateway: the decision service and Envoy in front of your application")
    .option(...CONFIG_OPTION)
    .action(async ({ config: file }: { config?: string }) => {
      const config = loadConfig(file, ["gateway.backend"]);
      const followed = configFile(file, ["gateway.backend"]);
      await reportPolicies(config);
      const envoy = await findEnvoy({ installIfMissing: true, log: progressLog });
      const supervisor = await startSupervisor(config, {
        version: manifest().version,
        envoy,
        ...(followed && { file: followed }),
      });
      await runUntilSignal(supervisor, () => {
        process.stdout.write(`gatehouse gateway ready on ${supervisor.addresses().join(" ")}\n`);
      });
    });
}

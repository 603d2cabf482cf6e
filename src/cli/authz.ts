import { Command } from "commander";
import { startSupervisor } from "../processes/gateway/supervisor.ts";
import { reportPolicies } from "./report-policies.ts";
import { CONFIG_OPTION, configFile, loadConfig } from "./options.ts";
import { runUntilSignal } from "./run.ts";
import { manifest } from "./manifest.ts";

/** `gatehouse authz`: the gRPC service alone, for an existing Envoy or service mesh. */
export function authzCommand(): Command {
  return new Command("authz")
    .description(
      "run only the decision service (envoy.service.auth.v3 over gRPC), for your own Envoy or service mesh",
    )
    .option(...CONFIG_OPTION)
    .action(async ({ config: file }: { config?: string }) => {
      const config = loadConfig(file, []);
      const followed = configFile(file, []);
      await reportPolicies(config);
      const supervisor = await startSupervisor(config, {
        version: manifest().version,
        ...(followed !== undefined && { file: followed }),
      });
      await runUntilSignal(supervisor, () => {
        process.stdout.write(`gatehouse authz ready on ${supervisor.addresses().join(" ")}\n`);
      });
    });
}

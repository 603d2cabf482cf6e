import { Command } from "commander";
import { certificateAuthorities, toEndpoint } from "../processes/gateway/envoy-keeper.ts";
import { envoyBootstrap, findEnvoy } from "../gateway/index.ts";
import { authzAddresses } from "../processes/gateway/supervisor.ts";
import { CONFIG_OPTION, loadConfig } from "./options.ts";
import { progressLog } from "./progress.ts";

/** `gatehouse envoy-config`: the bootstrap configuration for an Envoy that you run yourself. */
export function envoyConfigCommand(): Command {
  return new Command("envoy-config")
    .description("print the Envoy bootstrap for the configuration")
    .option(...CONFIG_OPTION)
    .action(({ config: file }: { config?: string }) => {
      const config = loadConfig(file, ["gateway.backend"]);
      const bootstrap = envoyBootstrap(config, {
        authzEndpoints: authzAddresses(config).map(toEndpoint),
        ...certificateAuthorities(),
      });
      process.stdout.write(`${JSON.stringify(bootstrap, null, 2)}\n`);
    });
}

/** `gatehouse envoy-install`: installs Envoy, as `gateway` does on its own if there is none. */
export function envoyInstallCommand(): Command {
  return new Command("envoy-install")
    .description("install Envoy into .gatehouse/ and print its path")
    .action(async () => {
      process.stdout.write(`${await findEnvoy({ installIfMissing: true, log: progressLog })}\n`);
    });
}

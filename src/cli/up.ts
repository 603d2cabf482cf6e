import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError } from "commander";
import { loadGatewayConfig } from "../config/index.ts";
import { startDemoApplication } from "../demo/application.ts";
import { demoExamples } from "../demo/examples.ts";
import { createDemoIdentity } from "../demo/identity.ts";
import { findEnvoy } from "../gateway/index.ts";
import { startSupervisor } from "../supervisor.ts";
import { DATA_DIRECTORY, DEMO_KEYS } from "./demo.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { reportPolicies } from "./report-policies.ts";
import { progressLog } from "./progress.ts";
import { runUntilSignal } from "./run.ts";

/** `gatehouse up`: everything on one machine, with a demo application behind the gateway. */
export function upCommand(): Command {
  return new Command("up")
    .description("start everything on this machine, with a demo application to try it on")
    .option("--port <port>", "port of the gateway (default: 8000)", port)
    .option("--admin-port <port>", "port of metrics and health (default: 9090)", port)
    .action(async (options: { port?: number; adminPort?: number }) => {
      const application = await startDemoApplication({ port: 0 });
      try {
        await runDemo(application.url, options);
      } finally {
        await application.close();
      }
    });
}

/** Runs the gateway in front of the demo application until a signal comes. */
async function runDemo(backend: string, options: { port?: number; adminPort?: number }): Promise<void> {
  const identity = await createDemoIdentity(DEMO_KEYS);
  const auditPath = join(DATA_DIRECTORY, "audit.log");
  const directory = policyDirectory();
  const loaded = loadGatewayConfig({
    overrides: {
      "gateway.backend": backend,
      "gateway.listen_port": options.port,
      "identity.issuer": identity.issuer,
      "identity.audience": identity.audience,
      "identity.jwks": resolve(identity.jwksFile),
      "policies.directory": directory,
      "policies.refresh_interval": "2s",
      attribute_sources: { users: { type: "file", path: join(directory, "directory", "users.json") } },
      "audit.destination": "file",
      "audit.path": resolve(auditPath),
      "telemetry.port": options.adminPort,
      "telemetry.log_level": "warn",
    },
  });
  if (!loaded.ok) throw new ExitError(loaded.errors, EXIT_USAGE);
  await reportPolicies(loaded.config);
  const envoy = await findEnvoy({ installIfMissing: true, log: progressLog });
  const supervisor = await startSupervisor(loaded.config, { envoy });
  await runUntilSignal(supervisor, () => {
    const [url = ""] = supervisor.addresses();
    process.stdout.write(
      welcome(url, { application: backend, admin: supervisor.adminUrl, directory, auditPath }),
    );
  });
}

/** The folder beside the person who calls, or the one that comes with the package. */
function policyDirectory(): string {
  return existsSync("policies")
    ? resolve("policies")
    : fileURLToPath(new URL("../../policies", import.meta.url));
}

function welcome(
  url: string,
  at: { application: string; admin: string; directory: string; auditPath: string },
): string {
  const examples = demoExamples(url).map(({ title, command }) => `  # ${title}\n  ${command}\n`);
  return [
    `gatehouse gateway ready on ${url}`,
    "",
    `  application  ${at.application}  (the gateway's backend; it knows nothing of all this)`,
    `  policies     ${at.directory}  (change a file, and it is in force a moment later)`,
    `  audit        ${at.auditPath}  (one record for every decision)`,
    `  metrics      ${at.admin}/metrics`,
    "",
    "In a second terminal:",
    "",
    ...examples,
    "  # what was decided, and why",
    `  tail -n ${examples.length} ${at.auditPath}`,
    "",
    "Ctrl-C ends it.",
    "",
  ].join("\n");
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) throw new InvalidArgumentError("is not a port");
  return Number(text);
}

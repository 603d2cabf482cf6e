import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { loadGatewayConfig, type GatewayConfig } from "../config/index.ts";
import {
  startControlPlane,
  type ControlPlane,
  type ServedEnvironment,
} from "../processes/control-plane/start.ts";
import { startDemoApplication } from "../demo/application.ts";
import { demoExamples } from "../demo/examples.ts";
import { DEMO_CLAIMS } from "../demo/person.ts";
import { PEOPLE } from "../demo/people.ts";
import { findEnvoy } from "../gateway/index.ts";
import { PACKAGED_POLICIES } from "../processes/control-plane/sandbox-seed.ts";
import { startSupervisor } from "../processes/gateway/supervisor.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { controlPlaneLog } from "./control-plane-log.ts";
import { DATA_DIRECTORY, UP_FILE, type UpState } from "./demo.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { portOption } from "./options.ts";
import { ownNode, ownCommand } from "./own-command.ts";
import { ownerLines } from "./owner-link.ts";
import { reportPolicies } from "./report-policies.ts";
import { progressLog } from "./progress.ts";
import { runUntilSignal, untilSignal } from "./run.ts";
import { keyInFile } from "./up-keys.ts";
import { manifest } from "./manifest.ts";

interface UpOptions {
  readonly port?: number;
  readonly adminPort?: number;
  readonly apiPort?: number;
  readonly sandboxPort?: number;
}

/** `gatehouse up`: everything on one machine, with a demo application behind the gateway. */
export function upCommand(): Command {
  return new Command("up")
    .description("start everything on this machine: control plane, sandbox, gateway, and a demo application")
    .option("--port <port>", "port of the gateway (default: 8000)", portOption)
    .option("--admin-port <port>", "port of the metrics and health endpoints (default: 9090)", portOption)
    .option("--api-port <port>", "port of the control plane (default: 8080)", portOption)
    .option("--sandbox-port <port>", "port of its sandbox (default: 8081)", portOption)
    .action(async (options: UpOptions) => {
      const application = await startDemoApplication({ port: 0 });
      try {
        await runWithControlPlane(application.url, options);
      } finally {
        await application.close();
      }
    });
}

async function runWithControlPlane(backend: string, options: UpOptions): Promise<void> {
  const directory = policyDirectory();
  const common = {
    "gateway.backend": backend,
    "policies.directory": directory,
    "policies.refresh_interval": "2s",
    "telemetry.log_level": "warn",
  };
  const config = load({
    ...common,
    "api.port": options.apiPort,
    "api.sandbox_port": options.sandboxPort,
    "api.data_directory": resolve(DATA_DIRECTORY),
    "api.publish_policies": ["sandbox"],
  });
  if (config.api.tls.certificate !== undefined)
    throw new ExitError(
      "`gatehouse up` serves no TLS: unset `api.tls`, or run `gatehouse control-plane` and `gatehouse gateway`",
      EXIT_USAGE,
    );
  await reportPolicies(
    config,
    "until then it is not published, and the version published before stays in force",
  );
  const metrics = createMetrics();
  // registered before the first process is started
  const stopped = untilSignal();
  const controlPlane = await startControlPlane(config, { log: controlPlaneLog(config), metrics });
  try {
    const sandbox = controlPlane.environments.find(({ environment }) => environment === "sandbox");
    if (sandbox === undefined) throw new Error("`gatehouse up` needs the sandbox");
    const apiKeyFile = await introduce(sandbox);
    const gateway = load({ ...common, ...(await followSandbox(sandbox, options)) });
    await runGateway(gateway, { metrics, stopped }, (url, admin) =>
      welcome(url, { application: backend, admin, directory, controlPlane, sandbox, apiKeyFile }),
    );
  } finally {
    await controlPlane.close();
  }
}

/** Writes down for `gatehouse demo token` where to sign in. @returns the file with the API key */
async function introduce({ url, context }: ServedEnvironment): Promise<string> {
  await mkdir(DATA_DIRECTORY, { recursive: true, mode: 0o700 });
  const apiKeyFile = join(DATA_DIRECTORY, "sandbox.key");
  await keyInFile(context, apiKeyFile, "full_access");
  const [first] = PEOPLE;
  const known = await context
    .db("sandbox_people")
    .where({ email: first?.email })
    .first<{ customer_id: string } | undefined>("customer_id");
  if (known === undefined) throw new Error("the sandbox has no demo users; reset the sandbox");
  const state: UpState = {
    sandbox_url: url,
    api_key_file: resolve(apiKeyFile),
    customer_id: known.customer_id,
  };
  await writeFile(UP_FILE, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  return apiKeyFile;
}

/** The gateway accepts the sandbox's tokens, syncs with it, and sends its audit records to it. */
async function followSandbox({ url, context }: ServedEnvironment, options: UpOptions) {
  const keyFile = resolve(DATA_DIRECTORY, "gateway.key");
  await keyInFile(context, keyFile, "gateway");
  return {
    "gateway.listen_port": options.port,
    "telemetry.port": options.adminPort,
    "identity.issuer": context.settings.publicUrl,
    "identity.audience": context.settings.audience,
    "identity.claims": DEMO_CLAIMS,
    "control_plane.url": url,
    "control_plane.api_key_file": keyFile,
    "policies.source": "control_plane",
    attribute_sources: { users: { type: "file", path: join(policyDirectory(), "directory", "users.json") } },
    "audit.destination": "control_plane",
    "audit.spool_directory": resolve(DATA_DIRECTORY, "audit-spool"),
  };
}

async function runGateway(
  config: GatewayConfig,
  { metrics, stopped }: { readonly metrics: Metrics; readonly stopped: Promise<void> },
  greeting: (url: string, admin: string) => string,
): Promise<void> {
  // installing it may take a while
  const envoy = await Promise.race([findEnvoy({ installIfMissing: true, log: progressLog }), stopped]);
  if (envoy === undefined) return;
  const supervisor = await startSupervisor(config, { envoy, metrics, version: manifest().version });
  const greet = () => {
    const [url = ""] = supervisor.addresses();
    process.stdout.write(greeting(url, supervisor.adminUrl));
  };
  await runUntilSignal(supervisor, greet, stopped);
}

/** @throws ExitError that lists every problem */
function load(overrides: Readonly<Record<string, unknown>>): GatewayConfig {
  const loaded = loadGatewayConfig({ overrides });
  if (!loaded.ok) throw new ExitError(loaded.errors, EXIT_USAGE);
  return loaded.config;
}

/** The `policies` folder of the working directory, or the one in the package. */
function policyDirectory(): string {
  return existsSync("policies") ? resolve("policies") : PACKAGED_POLICIES;
}

interface WelcomeDetails {
  readonly application: string;
  readonly admin: string;
  readonly directory: string;
  readonly controlPlane: ControlPlane;
  readonly sandbox: ServedEnvironment;
  readonly apiKeyFile: string;
}

function welcome(
  url: string,
  { application, admin, directory, controlPlane, sandbox, apiKeyFile }: WelcomeDetails,
): string {
  const { environments } = controlPlane;
  const production = environments.find(({ environment }) => environment === "production");
  const commands = { gatehouse: ownCommand(), node: ownNode() };
  const examples = demoExamples(url, commands).map(({ title, command }) => `  # ${title}\n  ${command}\n`);
  return [
    `gatehouse gateway ready on ${url}`,
    "",
    `  application    ${application}  (the gateway's backend; it has no access control of its own)`,
    `  policies       ${directory}  (changes take effect within seconds)`,
    `  control plane  ${production?.url ?? ""}  (production, empty at first; API documentation at /docs)`,
    `  sandbox        ${sandbox.url}  (serves this gateway; its API key is in ${apiKeyFile})`,
    `  metrics        ${admin}/metrics`,
    ...ownerLines(environments),
    "",
    "Try it in a second terminal:",
    "",
    ...examples,
    "  # what was decided, and why",
    `  ${auditExample(sandbox.url, apiKeyFile)}`,
    "",
    "Press Ctrl-C to stop.",
    "",
  ].join("\n");
}

/** The newest decisions, from the control plane's audit trail. */
export function auditExample(sandboxUrl: string, apiKeyFile: string): string {
  return `curl -s -H "Authorization: Bearer $(cat ${apiKeyFile})" '${sandboxUrl}/v1/audit/logs?kind=decision&limit=3'`;
}

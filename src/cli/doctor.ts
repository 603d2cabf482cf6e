import { Command, Option } from "commander";
import type { GatewayConfig } from "../config/index.ts";
import {
  diagnose,
  PROBLEMS,
  SEVERITIES,
  type Facts,
  type Finding,
  type PolicyNeeds,
  type Severity,
} from "../doctor/index.ts";
import { pinnedVersion } from "../gateway/index.ts";
import { counted, errorMessage, sanitize } from "../text/index.ts";
import {
  adminOfConfig,
  adminOptions,
  askEnvoy,
  controlPlaneClock,
  luaOfRelease,
  needsOfSet,
  orGap,
  reachableApplications,
  readDumpFile,
  type EnvoyAnswers,
} from "./doctor-facts.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { configFile, loadConfig } from "./options.ts";
import { compileSet } from "./policy-sets.ts";

interface DoctorOptions {
  readonly config?: string;
  readonly envoyAdmin?: string;
  readonly configDump?: string;
  readonly authzCluster?: string;
  readonly fromClient?: true;
  readonly probe: boolean;
  readonly failOn: Severity | "never";
  readonly json?: true;
}

/** `gatehouse doctor`: what leaves a hole in the configuration of an Envoy and of Gatehouse. */
export function doctorCommand(): Command {
  return new Command("doctor")
    .description(
      "look for holes in gateway.yaml and in a running Envoy, ours or any other that asks Gatehouse; " +
        "exit code 0 none, 1 findings, 2 wrong usage or nothing to look at",
    )
    .option("-c, --config <file>", "configuration file (default: gateway.yaml, if present)")
    .option(
      "--envoy-admin <address>",
      "Envoy's admin interface, such as 127.0.0.1:9901 or unix:/run/admin.sock (default: `gateway.envoy_admin`)",
    )
    .option(
      "--config-dump <file>",
      "the answer of `GET /config_dump?include_eds` in a file, instead of a running Envoy",
    )
    .option(
      "--authz-cluster <name>",
      "Envoy's cluster for Gatehouse (or its `target_uri`): ext_authz filters that ask others are no checks",
    )
    .option(
      "--from-client",
      "this machine is where clients are: no address of an application may answer from here",
    )
    .option("--no-probe", "make no connections to applications and to the control plane")
    .addOption(
      new Option("--fail-on <severity>", "exit code 1 if there is a finding of this severity or a worse one")
        .choices([...SEVERITIES, "never"])
        .default("warning"),
    )
    .option("--json", "print the findings as JSON")
    .action(async (options: DoctorOptions) => {
      const facts = await gather(options);
      const findings = diagnose(facts);
      process.stdout.write(
        options.json ? `${JSON.stringify(reportOf(facts, findings), null, 2)}\n` : textOf(facts, findings),
      );
      const limit = SEVERITIES.indexOf(options.failOn as Severity);
      if (findings.some(({ code }) => SEVERITIES.indexOf(PROBLEMS[code].severity) <= limit))
        throw new ExitError("");
    });
}

async function gather(options: DoctorOptions): Promise<Facts> {
  const gaps: { where: string; detail: string }[] = [];
  const hasConfig = options.config !== undefined || configFile(undefined, []) !== undefined;
  const config = hasConfig ? loadConfig(options.config, []) : undefined;
  const envoy = await envoyOf(options, config, gaps);
  if (envoy === undefined && config === undefined)
    throw new ExitError(
      "nothing to look at: there is no gateway.yaml, --envoy-admin or --config-dump",
      EXIT_USAGE,
    );
  const plane = options.probe ? config?.control_plane.url : undefined;
  const theirs =
    plane === undefined ? [] : await orGap("control plane", gaps, () => controlPlaneClock(plane));
  const reachable =
    envoy === undefined || !options.probe
      ? []
      : await reachableApplications(envoy.view, options.fromClient ? "client" : "here");
  return {
    envoy: envoy?.view,
    authzCluster: options.authzCluster,
    envoyVersion: envoy?.version,
    testedVersion: pinnedVersion(),
    ...{ config, gaps, reachable },
    needs: config && (await needsFor(config, gaps)),
    lua: luaOfRelease(),
    clocks: [...(envoy?.clocks ?? []), ...(theirs ?? [])],
  };
}

/** @throws ExitError if the Envoy that was named does not answer */
async function envoyOf(
  { configDump, envoyAdmin }: DoctorOptions,
  config: GatewayConfig | undefined,
  gaps: { where: string; detail: string }[],
): Promise<EnvoyAnswers | undefined> {
  if (configDump !== undefined && envoyAdmin !== undefined)
    throw new ExitError("use either --envoy-admin or --config-dump", EXIT_USAGE);
  const admin = envoyAdmin ?? adminOfConfig(config);
  try {
    if (configDump !== undefined)
      return { view: await readDumpFile(configDump), version: undefined, clocks: [] };
    if (admin !== undefined) return await askEnvoy(adminOptions(admin));
  } catch (error) {
    const source = configDump === undefined ? `Envoy at \`${admin ?? ""}\`` : `\`${configDump}\``;
    throw new ExitError(`cannot read the configuration of ${source}: ${errorMessage(error)}`, EXIT_USAGE);
  }
  gaps.push({
    where: "envoy",
    detail:
      "`gateway.envoy_admin` is off: set it to a loopback address, or use --envoy-admin or --config-dump",
  });
  return undefined;
}

async function needsFor(
  { policies, rollout }: GatewayConfig,
  gaps: { where: string; detail: string }[],
): Promise<PolicyNeeds | undefined> {
  if (policies.source === "control_plane") {
    gaps.push({
      where: "policies",
      detail: "they come from the control plane: what they need from Envoy is not known here",
    });
    return undefined;
  }
  if (rollout.stable === "none") return undefined;
  const { ir } = await compileSet(policies.directory, policies.policy_set);
  if (ir === undefined) {
    gaps.push({ where: "policies", detail: "the policy set has errors (`gatehouse policy validate`)" });
    return undefined;
  }
  return needsOfSet(ir);
}

function reportOf({ envoyVersion, envoy }: Facts, findings: readonly Finding[]): object {
  return {
    version: 1,
    envoy:
      envoy === undefined
        ? null
        : { version: envoyVersion ?? null, filter_chains: envoy.chains.map(({ where }) => where) },
    counts: Object.fromEntries(SEVERITIES.map((severity) => [severity, countOf(findings, severity)])),
    findings: findings.map(({ code, where, detail }) => ({ code, ...PROBLEMS[code], where, detail })),
  };
}

function countOf(findings: readonly Finding[], severity: Severity): number {
  return findings.filter(({ code }) => PROBLEMS[code].severity === severity).length;
}

const MAX_DETAIL = 400;

function textOf({ envoy }: Facts, findings: readonly Finding[]): string {
  const lines: string[] = [];
  let last: string | undefined;
  for (const { code, where, detail } of findings) {
    const { severity, title, risk, mend } = PROBLEMS[code];
    if (code !== last) {
      if (last !== undefined) lines.push("");
      lines.push(`${severity}: ${title} [${code}]`, `  ${risk}`, `  ${mend}`);
    }
    // names in the dump are whatever somebody has written there
    lines.push(`    ${sanitize(where, MAX_DETAIL)}: ${sanitize(detail, MAX_DETAIL)}`);
    last = code;
  }
  const looked = envoy === undefined ? "gateway.yaml" : counted(envoy.chains.length, "filter chain");
  const counts = SEVERITIES.map((severity) => `${countOf(findings, severity)} ${severity}`).join(", ");
  return `${[...lines, ...(lines.length > 0 ? [""] : []), `${looked}: ${counts}`].join("\n")}\n`;
}

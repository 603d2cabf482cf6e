import { readFileSync } from "node:fs";
import { largest, loadGatewayConfig, type GatewayConfig } from "../config/index.ts";
import { believesHeaders, namesNotFromClients, OWN_PREFIXES, speaksTls } from "../gateway/index.ts";
import type { GatewaySettings } from "../decision/explain/index.ts";
import { FileSource, type AttributeSource } from "../decision/attributes/sources.ts";
import { decisionSettings } from "../processes/gateway/decision-settings.ts";
import { caseSensitive } from "../processes/gateway/control-plane-link.ts";
import { forgedHeadersOf } from "../processes/gateway/provisions.ts";
import { isObject } from "../json/index.ts";
import { compilePolicySet, type PolicySetIR, type ValueObject } from "../policy/index.ts";
import { ControlPlaneReader, type PublishedSet } from "./control-plane-reader.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";
import { loadConfig } from "./options.ts";
import { compileSet, withoutErrors } from "./policy-sets.ts";
import { errorMessage } from "../text/index.ts";

export interface GatewayOptions {
  readonly config?: string;
  readonly directory?: string;
  readonly policySet?: string;
  readonly from?: string;
  readonly apiKeyFile?: string;
}

/** The gateway whose decisions are explained: its configuration, without running any of it. */
export interface ExplainedGateway {
  readonly config: GatewayConfig;
  readonly settings: GatewaySettings;
  /** Present if one is configured. */
  readonly controlPlane?: ControlPlaneReader;
  /** @throws ExitError if it is not available or has errors */
  policySet(): Promise<PolicySetIR>;
  /**
   * Attributes of a root: the ones given, otherwise from the configured source.
   *
   * @throws if they are not available
   */
  lookup(
    given: ValueObject | undefined,
    ir: PolicySetIR,
    root: string,
    key: string,
  ): ReturnType<AttributeSource["lookup"]>;
  /** @throws ExitError if a look-up failed, because the gateway's own look-up may succeed */
  checkLookups(): void;
  close(): void;
}

/** @throws ExitError if the configuration is invalid or one of its sources is not readable */
export async function openGateway(options: GatewayOptions): Promise<ExplainedGateway> {
  const config = options.config === undefined ? defaults() : loadConfig(options.config, []);
  const controlPlane = openControlPlane(config, options);
  const sources = await fileSources(config);
  const ofUsers = Object.entries(config.attribute_sources).find(([, { type }]) => type === "control_plane");
  if (ofUsers !== undefined && controlPlane !== undefined) {
    sources.set(ofUsers[0], { lookup: (key) => controlPlane.user(key) });
  }
  const problems: string[] = [];
  return {
    config,
    ...(controlPlane && { controlPlane }),
    settings: gatewaySettings(config),
    policySet: () => policySet(config, options, controlPlane),
    lookup(given, ir, root, key) {
      if (given !== undefined && Object.hasOwn(given, root)) {
        const found = given[root];
        return isObject(found) ? found : undefined;
      }
      const source = sources.get(ir.attributes[root]?.source?.name ?? "");
      if (source === undefined) throw new Error(`${root} is not given`);
      const failed = (error: unknown): never => {
        problems.push(`cannot look up \`${root}\`: ${errorMessage(error)}`);
        throw error;
      };
      const entry = source.lookup(key, root);
      return entry instanceof Promise ? entry.catch(failed) : entry;
    },
    checkLookups() {
      const [problem] = problems;
      if (problem !== undefined) throw new ExitError(problem);
    },
    close: () => controlPlane?.close(),
  };
}

/** What decisions of a gateway with this configuration depend on. */
export function gatewaySettings(config: GatewayConfig): GatewaySettings {
  return {
    envoy: {
      tls: speaksTls(config),
      believesHeaders: believesHeaders(config),
      removed: [...namesNotFromClients(config)],
      removedPrefixes: OWN_PREFIXES,
      largestRequest: largest(config, "requestSize"),
    },
    forged: forgedHeadersOf(config),
    decisions: decisionSettings(config),
    caseSensitive: caseSensitive(config),
  };
}

function openControlPlane(config: GatewayConfig, options: GatewayOptions): ControlPlaneReader | undefined {
  const url = options.from ?? config.control_plane.url;
  if (url === undefined) {
    if (options.apiKeyFile !== undefined)
      throw new ExitError("--api-key-file needs --from or --config", EXIT_USAGE);
    return undefined;
  }
  const key =
    options.apiKeyFile === undefined
      ? configuredKey(options.config === undefined ? ofEnvironment(url) : config)
      : readKey(options.apiKeyFile);
  if (key === undefined) {
    throw new ExitError(
      `${url} needs an API key: pass a file with --api-key-file, or set GATEHOUSE_CONTROL_PLANE_API_KEY`,
      EXIT_USAGE,
    );
  }
  return new ControlPlaneReader(url, key);
}

function ofEnvironment(url: string): GatewayConfig | undefined {
  const result = loadGatewayConfig({ overrides: { "control_plane.url": url } });
  return result.ok ? result.config : undefined;
}

function configuredKey(config: GatewayConfig | undefined): string | undefined {
  const { api_key: key, api_key_file: file } = config?.control_plane ?? {};
  return key ?? (file === undefined ? undefined : readKey(file));
}

function readKey(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const why = errorMessage(error);
    throw new ExitError(`cannot read the API key from \`${file}\`: ${why}`, EXIT_USAGE);
  }
}

/** Without a configuration: the defaults of a gateway; the environment is ignored. */
function defaults(): GatewayConfig {
  const result = loadGatewayConfig({ env: {} });
  if (!result.ok) throw new ExitError(result.errors, EXIT_USAGE);
  return result.config;
}

async function policySet(
  { policies }: GatewayConfig,
  { config, directory, policySet: named, from }: GatewayOptions,
  controlPlane: ControlPlaneReader | undefined,
): Promise<PolicySetIR> {
  const name = named ?? policies.policy_set;
  const isPublished = from !== undefined || (policies.source === "control_plane" && directory === undefined);
  if (isPublished && controlPlane !== undefined) {
    const set = await controlPlane.activeSet(name);
    if (set === undefined)
      throw new ExitError(`${controlPlane.url} has no active version of policy set \`${name}\``);
    return compilePublished(name, set);
  }
  const folder = directory ?? (config === undefined ? "policies" : policies.directory);
  return withoutErrors(await compileSet(folder, name));
}

/** @throws ExitError if it has errors in this version of the policy language */
export function compilePublished(name: string, { files }: PublishedSet): PolicySetIR {
  return withoutErrors({ files, ...compilePolicySet([...files], { name }) });
}

async function fileSources(config: GatewayConfig): Promise<Map<string, AttributeSource>> {
  const sources = new Map<string, AttributeSource>();
  for (const [name, source] of Object.entries(config.attribute_sources)) {
    if (source.type !== "file") continue;
    const problem: string[] = [];
    const warn = (context: object) => {
      const { err } = context as { readonly err?: unknown };
      problem.push(err instanceof Error ? err.message : String(err));
    };
    const file = new FileSource(source.path, { warn });
    await file.refresh();
    const [why] = problem;
    if (why !== undefined) {
      throw new ExitError(`attribute_sources.${name}: cannot read \`${source.path}\`: ${why}`, EXIT_USAGE);
    }
    sources.set(name, file);
  }
  return sources;
}

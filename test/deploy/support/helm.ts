import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { goProgram } from "./go-program.ts";
import { resourcesIn, type Resource } from "./schemas.ts";

const run = promisify(execFile);
const VERSION = "v3.19.0";

/** The cluster that is rendered for. */
export const KUBE_VERSION = "1.34.0";

export const CHART = fileURLToPath(new URL("../../../deploy/helm/gatehouse", import.meta.url));
const EXAMPLES = fileURLToPath(new URL("../../../deploy/helm/examples", import.meta.url));

/** Helm's program: the installed one, or made from its module by `go`; `undefined` where neither is there. */
export function helmBinary(): string | undefined {
  if (spawnSync("helm", ["version"]).status === 0) return "helm";
  return goProgram("helm", "helm.sh/helm/v3/cmd/helm", VERSION);
}

/** What `helm template` is given. */
export interface Values {
  /** Files of `deploy/helm/examples`. */
  readonly examples?: readonly string[];
  /** More values, over those of the files. */
  readonly values?: object;
  readonly release?: string;
}

/**
 * Renders the chart.
 *
 * @throws what Helm says, if it refuses the values
 */
export async function render(
  helm: string,
  { examples = [], values = {}, release = "gatehouse" }: Values,
): Promise<readonly Resource[]> {
  const files = examples.flatMap((name) => ["--values", join(EXAMPLES, `${name}.yaml`)]);
  // `-`: standard input, and the last file wins
  const cluster = ["--namespace", "shop", "--kube-version", KUBE_VERSION];
  const args = ["template", release, CHART, ...cluster, ...files, "--values", "-"];
  const rendered = run(helm, args, { maxBuffer: 1e8 });
  rendered.child.stdin?.end(JSON.stringify(values));
  return resourcesIn((await rendered).stdout);
}

/** The examples, with a file that Helm takes. */
export function exampleFile(name: string): string {
  return join(EXAMPLES, `${name}.yaml`);
}

/** The part of a Deployment that the tests read. */
export interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly [Container];
  readonly volumes: readonly Volume[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: Readonly<Record<"requests" | "limits", Readonly<Record<string, string>>>>;
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string; readonly scheme: string };
}

export interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: {
    readonly secretName: string;
    readonly defaultMode?: number;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
  readonly emptyDir?: object;
}

/** The pods of the Deployments among resources, by the Deployments' names. */
export function podsOf(resources: readonly Resource[]): ReadonlyMap<string, PodSpec> {
  return new Map(
    resources
      .filter(({ kind }) => kind === "Deployment")
      .map(({ metadata, spec }) => [metadata.name, (spec as { template: { spec: PodSpec } }).template.spec]),
  );
}

/** The data of a ConfigMap among resources. */
export function configMapOf(
  resources: readonly Resource[],
  name: string,
): Readonly<Record<string, string>> | undefined {
  const found = resources.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name);
  return found?.["data"] as Record<string, string> | undefined;
}

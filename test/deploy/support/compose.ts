import { load } from "js-yaml";
import { deployText } from "./deploy-file.ts";

/** A service of compose.yaml. */
export interface ComposeService {
  readonly build?: { readonly target: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly [key: string]: unknown;
}

/** `deploy/docker/compose.yaml`. */
export function composeFile(): ComposeFile {
  // Compose knows merge keys (`<<`), which YAML 1.2 has no longer
  const { services, ...rest } = load(deployText("docker/compose.yaml")) as {
    readonly services: Readonly<Record<string, ComposeService & { readonly "<<"?: ComposeService }>>;
    readonly [key: string]: unknown;
  };
  const whole = Object.entries(services).map(([name, { "<<": merged, ...own }]) => [
    name,
    { ...merged, ...own },
  ]);
  return { ...rest, services: Object.fromEntries(whole) as ComposeFile["services"] };
}

import { nearestName } from "../text/index.ts";
import { CONFIG_KEYS, SECTIONS } from "./keys.ts";
import type { ConfigKey } from "./keys.ts";

/** Variables by name, as `process.env` has them. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The environment of this process; nothing else in src accesses it. */
export function processEnvironment(): EnvironmentVariables {
  return process.env;
}

/** Variables that other parts read. They are named here, so that all of them are in one place. */
export const OTHER_VARIABLES = {
  /** An Envoy binary to use instead of the one on PATH or the installed one. */
  envoyBinary: "ENVOY_BIN",
  /** A PEM bundle of certificate authorities to use instead of the system's. */
  certificateAuthorities: "SSL_CERT_FILE",
  path: "PATH",
} as const;

/** Names that hosting platforms use for such variables; ours take precedence. */
const CUSTOMARY = {
  DATABASE_URL: "database.url",
  SANDBOX_DATABASE_URL: "database.sandbox_url",
  REDIS_URL: "database.redis_url",
} as const;

export interface EnvironmentValue {
  readonly key: ConfigKey;
  /** The value as the file would contain it; a value that cannot be parsed stays text, for the schema to reject. */
  readonly value: unknown;
}

export interface EnvironmentProblem {
  readonly variable: string;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Reads `GATEHOUSE_*` variables. An empty one counts as not set. Lists are comma-separated or JSON, maps are JSON.
 *
 * @returns the values, and a problem for each variable under a known section that does not name a key.
 */
export function readEnvironment(environment: EnvironmentVariables): {
  readonly values: readonly EnvironmentValue[];
  readonly problems: readonly EnvironmentProblem[];
} {
  const values: EnvironmentValue[] = [];
  const problems: EnvironmentProblem[] = [];
  const known = new Map(CONFIG_KEYS.map((key) => [key.variable, key]));
  for (const [variable, name] of Object.entries(CUSTOMARY)) {
    const text = environment[variable];
    const key = CONFIG_KEYS.find((candidate) => candidate.name === name);
    if (text !== undefined && text !== "" && key !== undefined) values.push({ key, value: text });
  }
  for (const variable of Object.keys(environment).sort()) {
    const text = environment[variable];
    if (text === undefined || text === "" || !isOurs(variable)) continue;
    const key = known.get(variable);
    if (key === undefined) {
      const nearest = nearestName(
        variable.toLowerCase(),
        [...known.keys()].map((name) => name.toLowerCase()),
      );
      problems.push({
        variable,
        message: `\`${variable}\` is not a key`,
        ...(nearest === undefined ? {} : { hint: `did you mean \`${nearest.toUpperCase()}\`?` }),
      });
      continue;
    }
    values.push({ key, value: readText(text, key) });
  }
  return { values, problems };
}

function isOurs(variable: string): boolean {
  return SECTIONS.some((section) => {
    const prefix = `GATEHOUSE_${section.toUpperCase()}`;
    return variable === prefix || variable.startsWith(`${prefix}_`);
  });
}

function readText(text: string, key: ConfigKey): unknown {
  switch (key.type.form) {
    case "text":
      return text;
    case "number":
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "list":
      return text.startsWith("[") ? parsed(text) : text.split(",").map((entry) => entry.trim());
    case "json":
      return parsed(text);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

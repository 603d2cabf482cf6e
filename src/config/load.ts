import { readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type * as z from "zod";
import { nearestName } from "../text/index.ts";
import { contradictions } from "./checks.ts";
import { processEnvironment, readEnvironment } from "./environment.ts";
import type { EnvironmentVariables } from "./environment.ts";
import { CONFIG_KEYS, namesAt, valueAt } from "./keys.ts";
import { errorCode } from "../runtime/error-code.ts";
import { resolvePaths } from "./paths.ts";
import { formatFindings, locate } from "./report.ts";
import type { ConfigFinding } from "./report.ts";
import { gatewaySchema } from "./schema.ts";
import type { GatewayConfig } from "./schema.ts";
import { Sources } from "./sources.ts";
import { readYaml } from "./yaml.ts";

export interface LoadOptions {
  /** Path of gateway.yaml. Without it the configuration comes only from the environment and the defaults. */
  readonly file?: string;
  /** Default: the environment of this process. */
  readonly env?: EnvironmentVariables;
  /** Values by key name (`gateway.listen_port`), as the file would contain them; they take precedence over everything. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Names of keys that the caller requires although the schema does not. */
  readonly needs?: readonly string[];
}

export type LoadResult =
  | { readonly ok: true; readonly config: GatewayConfig }
  /** `errors`: every problem as readable text of several lines. */
  | { readonly ok: false; readonly errors: string; readonly findings: readonly ConfigFinding[] };

const MOST_BYTES = 1024 * 1024;

/**
 * Builds the configuration from file, environment and overrides; later ones take precedence. Reports every problem at once
 * and never throws because of user input.
 */
export function loadGatewayConfig(options: LoadOptions = {}): LoadResult {
  const file = options.file === undefined ? undefined : resolve(options.file);
  const shownFile = file === undefined ? "gateway.yaml" : shortest(file);
  const findings: ConfigFinding[] = [];
  const sources = new Sources(shownFile);

  const text = file === undefined ? "" : readText(file, shownFile, findings);
  if (text !== undefined) {
    const { root, problems } = readYaml(text);
    for (const { code, message, start, end } of problems) {
      const place = locate(text, start, end);
      findings.push({ diagnostic: { severity: "error", code, message, file: shownFile, ...place }, text });
    }
    sources.addFile(text, root);
  }
  const environment = readEnvironment(options.env ?? processEnvironment());
  for (const { message, hint } of environment.problems) {
    findings.push(unplaced("unknown-variable", "environment", message, hint));
  }
  for (const { key, value } of environment.values)
    sources.set(key.path, value, `environment ${key.variable}`);
  for (const [name, value] of Object.entries(options.overrides ?? {})) {
    const known = CONFIG_KEYS.some((key) => key.name === name);
    if (!known) throw new Error(`${name} is not a configuration key`);
    if (value !== undefined) sources.set(name.split("."), value, `option ${name}`);
  }

  const parsed = gatewaySchema.safeParse(sources.tree());
  if (!parsed.success) findings.push(...parsed.error.issues.flatMap((issue) => describe(issue, sources)));
  else {
    for (const { path, message } of contradictions(parsed.data)) {
      findings.push(sources.finding("contradiction", path, `\`${path.join(".")}\` ${message}`));
    }
    for (const name of options.needs ?? []) {
      if (valueAt(parsed.data, name.split(".")) !== undefined) continue;
      findings.push(sources.finding("missing-key", name.split("."), `\`${name}\` is missing`));
    }
    if (findings.length === 0) {
      const folder = file === undefined ? process.cwd() : dirname(file);
      return { ok: true, config: deepFreeze(resolvePaths(parsed.data, folder)) };
    }
  }
  const sorted = findings.toSorted((a, b) => a.diagnostic.line - b.diagnostic.line);
  return { ok: false, errors: formatFindings(sorted), findings: sorted };
}

function readText(file: string, shownFile: string, findings: ConfigFinding[]): string | undefined {
  try {
    if (statSync(file).size <= MOST_BYTES) return readFileSync(file, "utf8");
    findings.push(
      unplaced("file-too-large", shownFile, `the file is larger than ${String(MOST_BYTES)} bytes`),
    );
  } catch (error) {
    const cause = errorCode(error) ?? String(error);
    findings.push(unplaced("unreadable-file", shownFile, `cannot read the file (${cause})`));
  }
  return undefined;
}

/** Converts a schema issue to findings, each at the place where its value came from. */
function describe(issue: z.core.$ZodIssue, sources: Sources): readonly ConfigFinding[] {
  const path = issue.path;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => {
      const name = [...path, key].map(String).join(".");
      const nearest = nearestName(key, namesAt(path) ?? []);
      const hint = nearest === undefined ? elsewhere(key) : `did you mean \`${nearest}\`?`;
      return sources.finding("unknown-key", [...path, key], `\`${name}\` is not a key`, {
        hint,
        mark: "key",
      });
    });
  }
  const name = path.map(String).join(".");
  if (issue.code === "invalid_key") {
    const key = String(path.at(-1));
    const message = issue.issues[0]?.message ?? "is not a valid name here";
    return [sources.finding("invalid-value", path, `\`${key}\` ${message}`, { mark: "key" })];
  }
  const missing = sources.valueAt(path) === undefined;
  const message =
    namesAt(path) === undefined ? (missing ? "is missing" : issue.message) : "must be a section with keys";
  return [
    sources.finding(
      missing ? "missing-key" : "invalid-value",
      path,
      `\`${name || "the file"}\` ${message}${missing ? "" : `, not \`${sources.shown(path)}\``}`,
    ),
  ];
}

/** For a key that exists only in other sections: names them. */
function elsewhere(key: string): string | undefined {
  const found = CONFIG_KEYS.filter((known) => known.path.at(-1) === key).map((known) => `\`${known.name}\``);
  return found.length === 0 ? undefined : `did you mean ${found.join(" or ")}?`;
}

function unplaced(code: string, file: string, message: string, hint?: string): ConfigFinding {
  const place = { line: 0, column: 0, length: 1 };
  const diagnostic = { severity: "error" as const, code, message, file, ...place };
  return { diagnostic: hint === undefined ? diagnostic : { ...diagnostic, hint } };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}

function shortest(file: string): string {
  const shown = relative(process.cwd(), file);
  return shown.startsWith("..") ? file : shown;
}

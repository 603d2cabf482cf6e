import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { programFor } from "../../../src/cli/main.ts";
import { CONFIG_KEYS } from "../../../src/config/keys.ts";
import { ROOT } from "../../../docs/.vitepress/pages.ts";
import type { ApiCalls } from "./api-calls.ts";
import { placeOf, type Block } from "./blocks.ts";
import { parseCurl } from "./curl.ts";
import { parseShell, type ShellCommand } from "./shell.ts";

/** Programs of others, of which nothing more is known here. */
const FOREIGN = new Set([
  ...[
    "caddy",
    "cat",
    "cd",
    "chmod",
    "cp",
    "date",
    "docker",
    "echo",
    "export",
    "git",
    "grep",
    "haproxy",
    "head",
    "helm",
  ],
  ...[
    "istioctl",
    "jq",
    "kill",
    "kubectl",
    "mkdir",
    "nginx",
    "openssl",
    "printf",
    "psql",
    "rm",
    "sed",
    "sleep",
    "sort",
  ],
  ...[
    "systemctl",
    "systemd-sysusers",
    "journalctl",
    "tail",
    "tee",
    "touch",
    "true",
    "umask",
    "wait",
    "install",
    "ln",
    "diff",
  ],
  ...[
    "python3",
    "sh",
    "bash",
    "set",
    "$EDITOR",
    "uniq",
    "wc",
    "test",
    "[",
    "mv",
    "ls",
    "chown",
    "unset",
    "sha256sum",
    "less",
  ],
  ...[
    "promtool",
    "amtool",
    "tar",
    "unzip",
    "command",
    "trap",
    "ps",
    "df",
    "du",
    "ss",
    "chronyc",
    "timedatectl",
    "pilot-agent",
    ".",
  ],
]);
/** Programs that start the command which follows. */
const PREFIXES = new Set(["sudo", "exec", "nohup", "env", "time"]);
/** Their words look like files: `deploy/app` is a Deployment. */
const OF_CLUSTERS = new Set(["kubectl", "istioctl"]);
const OWN_FOLDERS =
  /^(?:\.\/)?(?:bench|bin|clients|dashboard|deploy|docs|envoy|migrations|policies|proto|schemas|src|test)\/[\w./-]+$/;
/** What answers at the usual ports; other hosts are applications behind the gateway. */
const API_HOST =
  /^(?:(?:127\.0\.0\.1|localhost|HOST):808[01]|(?:gatehouse|id)\.example(?:\.com)?|\$\{?(?:BASE_URL|API_URL|GATEHOUSE_URL)\}?)$/;
const ADMIN_HOST = /^(?:127\.0\.0\.1|localhost|HOST):909[01]$/;
const OTHER_HOST =
  /^(?:(?:127\.0\.0\.1|localhost):(?:3\d{3}|8000|8443|9292|990\d)|[\w-]+(?::\d+)?|[\w.-]+\.(?:example|svc)(?:\.\w+)*|\$(?:\{?\w+\}?|\(\.\.\.\)))$/;
const ADMIN_PATHS = new Set(["/healthz", "/readyz", "/metrics"]);
/** Paths of the control plane that are not part of `/v1`, and so not in its document. */
const BESIDE_API = new Set(["/healthz", "/readyz", "/oauth2/token", "/oauth2/introspect", "/oauth2/revoke"]);

const MAKE_TARGETS = new Set(
  [...readFileSync(join(ROOT, "Makefile"), "utf8").matchAll(/^([a-z][a-z-]*):/gm)].map(([, name]) => name),
);
const PACKAGES: Readonly<Record<string, string>> = {
  npm: (JSON.parse(readFileSync(join(ROOT, "clients/node/package.json"), "utf8")) as { name: string }).name,
  pip: /^name = "(.*)"$/m.exec(readFileSync(join(ROOT, "clients/python/pyproject.toml"), "utf8"))?.[1] ?? "",
};
const VARIABLES = new Set(CONFIG_KEYS.map(({ variable }) => variable));

/** Checks the commands of one page, block after block: what is set, written or defined in one is known in the next. */
export class ShellPage {
  readonly #api: ApiCalls;
  readonly #variables = new Map<string, string>();
  readonly #functions = new Map<string, readonly ShellCommand[]>();
  readonly #written = new Set<string>();

  constructor(api: ApiCalls) {
    this.#api = api;
  }

  async problemsOf(block: Block): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const problem of await this.#problemsOfScript(block.text))
      problems.push(`${placeOf(block)}: ${problem}`);
    return problems;
  }

  async #problemsOfScript(text: string): Promise<readonly string[]> {
    let script;
    try {
      script = parseShell(text);
    } catch (error) {
      return [String(error)];
    }
    for (const [name, body] of script.functions) this.#functions.set(name, body);
    const problems: string[] = [];
    const inside = [...script.functions.values()].flat().filter(({ words }) => !words.includes("$@"));
    for (const { assignments, written } of script.commands) {
      for (const [name, value] of Object.entries(assignments)) {
        this.#variables.set(name, this.#expanded(value));
        if (name.startsWith("GATEHOUSE_") && !VARIABLES.has(name))
          problems.push(`no key has the variable ${name}`);
      }
      for (const file of written) this.#written.add(file);
    }
    for (const command of [...script.commands, ...inside])
      problems.push(...(await this.#problemsOfCommand(command.words)));
    return problems;
  }

  async #problemsOfCommand(words: readonly string[]): Promise<readonly string[]> {
    const [name, ...rest] = words;
    if (name === undefined) return [];
    if (PREFIXES.has(name)) {
      const from = rest.findIndex((word) => !word.startsWith("-") && !/^\w+=/.test(word));
      return from < 0 ? [] : this.#problemsOfCommand(rest.slice(from));
    }
    const inner = rest.indexOf("--");
    return [
      ...(await this.#problemsOfProgram(name, rest)),
      ...(OF_CLUSTERS.has(name) && inner >= 0 ? await this.#problemsOfCommand(rest.slice(inner + 1)) : []),
      ...this.#missingFiles(name, OF_CLUSTERS.has(name) ? filesOf(rest) : words),
    ];
  }

  async #problemsOfProgram(name: string, rest: readonly string[]): Promise<readonly string[]> {
    if (name === "npx" || /(?:^|\/)node$/.test(name)) {
      const [first = "", ...more] = rest;
      if (first === "gatehouse" || /(?:^|\/)gatehouse\.js$/.test(first)) return usageProblems(more);
      return name === "npx" && first !== "esbuild" ? [`unknown package ${first}`] : [];
    }
    if (name === "gatehouse") return usageProblems(rest);
    if (name === "make") {
      const targets = rest.filter((word) => !/^-|=/.test(word));
      return targets.filter((target) => !MAKE_TARGETS.has(target)).map((target) => `no target ${target}`);
    }
    if (name === "npm" || name === "pip") {
      const [verb, ...names] = rest;
      const installed = names.filter((word) => /^[a-z@][\w@/-]*$/.test(word));
      const ours = PACKAGES[name] ?? "";
      return verb === "install"
        ? installed
            .filter((one) => one !== ours && !rest.includes("--prefix"))
            .map((one) => `unknown package ${one}`)
        : [];
    }
    if (name === "curl") return this.#problemsOfCurl(rest);
    const body = this.#functions.get(name);
    if (body !== undefined) {
      const around = body.find(({ words }) => words.includes("$@"));
      if (around === undefined) return [];
      return this.#problemsOfCommand(around.words.flatMap((word) => (word === "$@" ? rest : [word])));
    }
    if ((name === "sh" || name === "bash") && rest[0] === "-c") return this.#problemsOfScript(rest[1] ?? "");
    return FOREIGN.has(name) ? [] : [`unknown program ${name}`];
  }

  #problemsOfCurl(words: readonly string[]): readonly string[] {
    let asked;
    try {
      asked = parseCurl(words);
    } catch (error) {
      return [String(error)];
    }
    const url = this.#expanded(asked.url);
    const [, host = "", path = "/"] = /^(?:https?:\/\/)?([^/]*)(\/.*)?$/s.exec(url) ?? [];
    if (ADMIN_HOST.test(host))
      return ADMIN_PATHS.has(path.replace(/\?.*/, "")) ? [] : [`no ${path} at the metrics' port`];
    if (API_HOST.test(host)) {
      if (BESIDE_API.has(path)) return [];
      return this.#api.problemsOf(path, asked);
    }
    return OTHER_HOST.test(host) ? [] : [`unknown host ${host}`];
  }

  #expanded(text: string): string {
    return text.replaceAll(/\$\{?(\w+)\}?/g, (whole, name: string) => this.#variables.get(name) ?? whole);
  }

  #missingFiles(name: string, words: readonly string[]): readonly string[] {
    if (name === "cp" || name === "mv") this.#written.add(words.at(-1) ?? "");
    return words
      .map((word) => word.replace(/^--?[\w-]+=/, ""))
      .filter((word) => OWN_FOLDERS.test(word) && !this.#written.has(word) && !existsSync(join(ROOT, word)))
      .map((word) => `no file ${word}`);
  }
}

/** The files among the words of `kubectl`. */
function filesOf(words: readonly string[]): readonly string[] {
  return words.filter((_, index) => ["-f", "--filename"].includes(words[index - 1] ?? ""));
}

/** What `gatehouse` would say of its arguments; no command is run. */
async function usageProblems(args: readonly string[]): Promise<readonly string[]> {
  const program = await programFor(args[0]);
  quiet(program);
  try {
    await program.parseAsync([...args], { from: "user" });
    return [];
  } catch (error) {
    return [`gatehouse ${args.join(" ")}: ${(error as Error).message}`];
  }
}

/** Commands that do nothing and print nothing. */
function quiet(command: Command): void {
  command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  if (command.commands.length === 0) command.action(() => undefined);
  for (const child of command.commands) quiet(child);
}

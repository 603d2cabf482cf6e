import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Diagnostic, PolicyFile } from "../policy/index.ts";

/** The files of one policy set as they were at one moment, or what keeps them from being read. */
export interface PolicyFolder {
  readonly files: readonly PolicyFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** sha256 over names and bytes: equal content needs no second compilation. */
  readonly fingerprint: string;
}

/** Suites of `policy test` live beside the policies and are no part of the set. */
export const SUITE_SUFFIX = ".test.yaml";

/**
 * Reads `<directory>/<name>.yaml`, or every `*.yaml` of the folder `<directory>/<name>/` in file-name order.
 * Never rejects: what cannot be read becomes a diagnostic.
 */
export async function readPolicyFolder(directory: string, name: string): Promise<PolicyFolder> {
  const single = join(directory, `${name}.yaml`);
  const folder = join(directory, name);
  const [file, entries] = await Promise.all([isFile(single), listYaml(folder)]);
  if (file && entries !== undefined) {
    return unreadable(single, `policy set \`${name}\` is both a file and a folder`, "keep one of the two");
  }
  if (file) return readAll([{ path: single, name: `${name}.yaml` }]);
  if (entries === undefined) {
    return unreadable(
      single,
      `policy set \`${name}\` is not there`,
      `make ${single}, or the folder ${folder}`,
    );
  }
  if (entries.length === 0) return unreadable(folder, `policy set \`${name}\` has no .yaml file`, undefined);
  return readAll(entries.map((entry) => ({ path: join(folder, entry), name: `${name}/${entry}` })));
}

async function readAll(paths: readonly { path: string; name: string }[]): Promise<PolicyFolder> {
  const files: PolicyFile[] = [];
  const diagnostics: Diagnostic[] = [];
  const hash = createHash("sha256");
  for (const { path, name } of paths) {
    try {
      const bytes = await readFile(path);
      hash.update(`${name.length}:${name}${bytes.length}:`).update(bytes);
      files.push({ name, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) });
    } catch (error) {
      const invalid = error instanceof TypeError;
      if (!invalid) hash.update(`${name.length}:${name}unreadable`);
      diagnostics.push(
        finding(
          name,
          invalid ? "not-utf8" : "unreadable-file",
          invalid ? "the file is not valid UTF-8" : text(error),
        ),
      );
    }
  }
  return { files, diagnostics, fingerprint: hash.digest("hex") };
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function listYaml(path: string): Promise<string[] | undefined> {
  try {
    const names = await readdir(path);
    return names
      .filter((name) => name.endsWith(".yaml") && !name.endsWith(SUITE_SUFFIX) && !name.startsWith("."))
      .sort();
  } catch {
    return undefined;
  }
}

function unreadable(file: string, message: string, hint: string | undefined): PolicyFolder {
  return { files: [], diagnostics: [finding(file, "no-policy-set", message, hint)], fingerprint: "" };
}

function finding(file: string, code: string, message: string, hint?: string): Diagnostic {
  const at = { severity: "error", code, message, file, line: 1, column: 1, length: 1 } as const;
  return hint === undefined ? at : { ...at, hint };
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

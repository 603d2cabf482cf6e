import { createHash } from "node:crypto";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { mentionedFiles, type Diagnostic, type PolicyFile } from "../../policy/evaluation.ts";
import { errorMessage } from "../../text/index.ts";

/** The files of one policy set at one point in time, or why they cannot be read. */
export interface PolicyFolder {
  readonly files: readonly PolicyFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** sha256 over names and bytes, including schemas and documents: equal content need not be compiled again. */
  readonly fingerprint: string;
}

/** Suites of `policy test` are next to the policies but not part of the set. */
export const SUITE_SUFFIX = ".test.yaml";

/** Maximum size of a schema, or of a list of documents, in bytes. */
const MAX_ATTACHED_SIZE = 5 * 1024 * 1024;
/** Maximum number of candidates for these files in a set. Only one of each is used. */
const MAX_ATTACHED = 20;

/**
 * Reads `<directory>/<name>.yaml`, or every `*.yaml` of the folder `<directory>/<name>/` in file-name order, and the
 * GraphQL schemas and documents that these files mention.
 * Never rejects: problems become diagnostics.
 */
export async function readPolicyFolder(directory: string, name: string): Promise<PolicyFolder> {
  const single = join(directory, `${name}.yaml`);
  const folder = join(directory, name);
  const [file, entries] = await Promise.all([isFile(single), listYaml(folder)]);
  if (file && entries !== undefined) {
    return unreadable(single, `policy set \`${name}\` is both a file and a folder`, "delete one of the two");
  }
  if (file) return readAll(directory, [`${name}.yaml`], directory);
  if (entries === undefined) {
    return unreadable(
      single,
      `policy set \`${name}\` not found`,
      `create ${single}, or the folder ${folder}`,
    );
  }
  if (entries.length === 0) return unreadable(folder, `policy set \`${name}\` has no .yaml file`, undefined);
  return readAll(
    directory,
    entries.map((entry) => `${name}/${entry}`),
    folder,
  );
}

/**
 * @param names - of policy files, relative to `directory`, as used in diagnostics
 * @param root - these must be in this folder or below
 */
async function readAll(directory: string, names: readonly string[], root: string): Promise<PolicyFolder> {
  const files: PolicyFile[] = [];
  const diagnostics: Diagnostic[] = [];
  const hash = createHash("sha256");
  const read = async (name: string, readBytes: (path: string) => Promise<Buffer>) => {
    try {
      const bytes = await readBytes(join(directory, name));
      hash.update(`${name.length}:${name}${bytes.length}:`).update(bytes);
      files.push({ name, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) });
    } catch (error) {
      const invalid = error instanceof TypeError;
      if (!invalid) hash.update(`${name.length}:${name}unreadable`);
      diagnostics.push(
        finding(
          name,
          invalid ? "not-utf8" : "unreadable-file",
          invalid ? "the file is not valid UTF-8" : errorMessage(error),
        ),
      );
    }
  };
  for (const name of names) await read(name, (path) => readFile(path));
  const mentioned = [...new Set(files.flatMap(mentionedFiles))].slice(0, MAX_ATTACHED);
  for (const name of mentioned) {
    // the compiler reports a file that is required but missing
    if (await isFile(join(directory, name))) await read(name, (path) => readAttached(path, root));
  }
  return { files, diagnostics, fingerprint: hash.digest("hex") };
}

/** Symbolic links must not lead out of the folder either. */
async function readAttached(path: string, root: string): Promise<Buffer> {
  const [real, inside] = await Promise.all([realpath(path), realpath(root)]);
  if (!real.startsWith(inside + sep)) throw new Error("the file is outside the policy set's folder");
  if ((await stat(real)).size > MAX_ATTACHED_SIZE) throw new Error("the file is larger than 5 MB");
  return readFile(real);
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

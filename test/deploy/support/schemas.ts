import { execFile, spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { installPythonPackages } from "../../clients/support/python-packages.ts";

/** A Kubernetes resource. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [key: string]: unknown;
}

const run = promisify(execFile);
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The resources in a file of YAML, or in the output of a program. */
export function resourcesIn(text: string): readonly Resource[] {
  return (loadAll(text) as (Resource | null | undefined)[]).filter(
    (one) => one !== null && one !== undefined,
  );
}

/**
 * Checks resources against the schemas of their kinds: Kubernetes' own, and those that are given.
 *
 * @returns what is wrong, each with its place
 */
export async function schemaErrors(
  resources: readonly Resource[],
  definitions: readonly Resource[] = [],
): Promise<readonly string[]> {
  return check("check_schemas.py", { resources, definitions });
}

/** Checks a document against a JSON schema. @returns what is wrong, each with its place */
export async function documentErrors(document: object, schema: object): Promise<readonly string[]> {
  return check("check_document.py", { document, schema });
}

async function check(script: string, asked: object): Promise<readonly string[]> {
  const packages = await installPythonPackages("kubernetes-schemas", pathOf("schemas-requirements.txt"));
  const checked = run("python3", [pathOf(script)], {
    env: { ...process.env, PYTHONPATH: packages },
    maxBuffer: 1e8,
  });
  checked.child.stdin?.end(JSON.stringify(asked));
  return JSON.parse((await checked).stdout) as string[];
}

/** The folder of a Go module, which `go` fetches; `undefined` where it cannot. */
export function goModule(module: string): string | undefined {
  const { status, stdout } = spawnSync("go", ["mod", "download", "-json", module], { cwd: tmpdir() });
  return status === 0 ? (JSON.parse(stdout.toString()) as { readonly Dir: string }).Dir : undefined;
}

/** The custom resource definitions in the files of a folder. */
export async function definitionsIn(folder: string, pattern: string): Promise<readonly Resource[]> {
  const texts = await Promise.all(
    globSync(pattern, { cwd: folder }).map((file) => readFile(join(folder, file), "utf8")),
  );
  // in templates of charts, lines of the template language stand between the definitions
  return texts
    .flatMap((text) => resourcesIn(text.replaceAll(/^ *\{\{.*\}\}$/gm, "")))
    .filter(({ kind }) => kind === "CustomResourceDefinition");
}

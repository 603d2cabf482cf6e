import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format } from "prettier";
import type { Document } from "./document.ts";
import { fakeDataOf } from "./fake-data.ts";
import { pythonOf } from "./python.ts";
import { synchronousOf } from "./synchronous.ts";
import { typescriptOf } from "./typescript.ts";

const CLIENTS = dirname(import.meta.dirname);

/** Every generated file of the libraries, by its path below `clients`. */
export async function generatedFiles(document: Document): Promise<ReadonlyMap<string, string>> {
  const python = "python/src/gatehouse_access";
  const options = { printWidth: 110, trailingComma: "all", parser: "typescript" } as const;
  const data = fakeDataOf(document);
  const dataModule = `// Generated from the OpenAPI document of the control plane: see clients/README.md.\nimport type { FakeData } from "./fake-data-types.ts";\n\nexport const DATA: FakeData = ${data};\n`;
  return new Map([
    ["node/src/api.ts", await format(typescriptOf(document), options)],
    ["node/src/testing/fake-data.ts", await format(dataModule, options)],
    [`${python}/testing/_data.json`, `${data}\n`],
    [`${python}/api.py`, pythonOf(document)],
    ...[...synchronousOf(join(CLIENTS, python, "_async"))].map(
      ([name, text]) => [`${python}/_sync/${name}`, text] as const,
    ),
  ]);
}

export function writeGenerated(files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) {
    const file = join(CLIENTS, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** @returns the files that are not what they would be if they were generated now */
export function staleFiles(files: ReadonlyMap<string, string>): readonly string[] {
  return [...files].flatMap(([name, text]) => (read(join(CLIENTS, name)) === text ? [] : [name]));
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

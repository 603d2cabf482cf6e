import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";

export interface Migration {
  /** The file name without its extension: `0001-customers`. */
  readonly name: string;
  /** SHA-256 of the source, to detect later changes. */
  readonly checksum: string;
  /** Loads the file. */
  load(): Promise<LoadedMigration>;
}

export interface LoadedMigration {
  readonly up: (trx: Knex) => Promise<void>;
  /**
   * Whether it runs in a transaction. One that exports `config = { transaction: false }`, as with knex, does not: it gets its own
   * connection, may be interrupted, and must be able to resume when it is run again.
   */
  readonly inTransaction: boolean;
  /**
   * The number of the newest migration that a program must know to work with the schema after this one: the value of
   * `export const compatibleFrom = "0105"`, or its own number with `export const breaks = true`. Without either, it only adds,
   * and every program that worked before it works after it.
   */
  readonly compatibleFrom: string | undefined;
}

/** The sources, which are two folders above both `src/storage` and `dist/storage`, and are published. */
export const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
/** Their compiled form in the published package, because Node.js does not strip types below `node_modules`. */
const COMPILED = fileURLToPath(new URL("../migrations", import.meta.url));

const FILE_NAME = /^\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/;

/**
 * Lists the migrations of a folder in the order of their names.
 *
 * @throws Error for a TypeScript file with another kind of name, which would silently be ignored.
 */
export async function listMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".ts")).sort();
  const misnamed = files.find((file) => !FILE_NAME.test(file));
  if (misnamed !== undefined) {
    throw new Error(
      `${join(folder, misnamed)} is not a valid migration name; use a name such as \`0001-customers.ts\``,
    );
  }
  return Promise.all(files.map((file) => readMigration(folder, file)));
}

async function readMigration(folder: string, file: string): Promise<Migration> {
  const source = await readFile(join(folder, file), "utf8");
  const name = file.slice(0, -".ts".length);
  return {
    name,
    // a checkout may have different line endings than the package
    checksum: createHash("sha256").update(source.replaceAll("\r\n", "\n")).digest("hex"),
    async load() {
      const { href } = pathToFileURL(moduleOf(folder, name));
      const module = (await import(href)) as Readonly<Record<string, unknown>>;
      const { up } = module;
      if (typeof up !== "function") throw new Error(`migration ${name} does not export a function \`up\``);
      return {
        up: up as LoadedMigration["up"],
        inTransaction: inTransactionOf(name, module),
        compatibleFrom: compatibleFromOf(name, module),
      };
    },
  };
}

/** The number in a migration's name, which identifies the schema version. */
export function numberOf(name: string): string {
  return name.slice(0, 4);
}

/** @throws Error for a `config` that would silently be ignored */
function inTransactionOf(name: string, { config }: Readonly<Record<string, unknown>>): boolean {
  if (config === undefined) return true;
  if (isDeepStrictEqual(config, { transaction: false })) return false;
  throw new Error(`migration ${name}: the only allowed \`config\` is \`{ transaction: false }\``);
}

/** @throws Error for a declaration that cannot be true */
function compatibleFromOf(
  name: string,
  { breaks, compatibleFrom }: Readonly<Record<string, unknown>>,
): string | undefined {
  if (breaks === undefined && compatibleFrom === undefined) return undefined;
  if (breaks === true && compatibleFrom === undefined) return numberOf(name);
  if (breaks === undefined && typeof compatibleFrom === "string" && /^\d{4}$/.test(compatibleFrom))
    if (compatibleFrom <= numberOf(name)) return compatibleFrom;
  throw new Error(
    `migration ${name} must export either \`breaks = true\`, or \`compatibleFrom\` with its own number or that of an ` +
      'earlier migration, such as `"0105"`',
  );
}

function moduleOf(folder: string, name: string): string {
  const compiled = join(COMPILED, `${name}.js`);
  return folder === MIGRATIONS && existsSync(compiled) ? compiled : join(folder, `${name}.ts`);
}

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";

export interface Migration {
  /** The file's name without its ending: `0001-customers`. */
  readonly name: string;
  /** SHA-256 of the source, by which a later change is noticed. */
  readonly checksum: string;
  /** Loads the file. */
  load(): Promise<LoadedMigration>;
}

export interface LoadedMigration {
  readonly up: (trx: Knex) => Promise<void>;
  /**
   * Whether it runs in a transaction. One that exports `config = { transaction: false }`, as with knex, does not: it is given a
   * connection of its own, may be interrupted half way, and must go on from there when it is run again.
   */
  readonly inTransaction: boolean;
  /**
   * The number of the migration that a program must know at least to work with the schema after this one:
   * `export const compatibleFrom = "0105"`, or with `export const breaks = true` its own. Without either it only adds, and
   * every program that worked before it works after it.
   */
  readonly compatibleFrom: string | undefined;
}

/** The sources; they lie two folders up from `src/storage` and from `dist/storage` alike, and are published. */
export const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
/** Their compiled form in the published package: Node strips no types below `node_modules`. */
const COMPILED = fileURLToPath(new URL("../migrations", import.meta.url));

const FILE_NAME = /^\d{4}-[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/;

/**
 * Lists the migrations of a folder in the order of their names.
 *
 * @throws Error for a TypeScript file with another kind of name, which would silently be left out.
 */
export async function listMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".ts")).sort();
  const misnamed = files.find((file) => !FILE_NAME.test(file));
  if (misnamed !== undefined) {
    throw new Error(`${join(folder, misnamed)} is not named like a migration, e.g. \`0001-customers.ts\``);
  }
  return Promise.all(files.map((file) => readMigration(folder, file)));
}

async function readMigration(folder: string, file: string): Promise<Migration> {
  const source = await readFile(join(folder, file), "utf8");
  const name = file.slice(0, -".ts".length);
  return {
    name,
    // a checkout may have other line ends than the package
    checksum: createHash("sha256").update(source.replaceAll("\r\n", "\n")).digest("hex"),
    async load() {
      const { href } = pathToFileURL(moduleOf(folder, name));
      const module = (await import(href)) as Readonly<Record<string, unknown>>;
      const { up } = module;
      if (typeof up !== "function") throw new Error(`migration ${name} exports no function \`up\``);
      return {
        up: up as LoadedMigration["up"],
        inTransaction: inTransactionOf(name, module),
        compatibleFrom: compatibleFromOf(name, module),
      };
    },
  };
}

/** The number in a migration's name, by which the schema's versions are called. */
export function numberOf(name: string): string {
  return name.slice(0, 4);
}

/** @throws Error for a `config` that would silently be ignored */
function inTransactionOf(name: string, { config }: Readonly<Record<string, unknown>>): boolean {
  if (config === undefined) return true;
  if (isDeepStrictEqual(config, { transaction: false })) return false;
  throw new Error(`migration ${name} may export only \`{ transaction: false }\` as \`config\``);
}

/** @throws Error for a declaration that says nothing that can be true */
function compatibleFromOf(
  name: string,
  { breaks, compatibleFrom }: Readonly<Record<string, unknown>>,
): string | undefined {
  if (breaks === undefined && compatibleFrom === undefined) return undefined;
  if (breaks === true && compatibleFrom === undefined) return numberOf(name);
  if (breaks === undefined && typeof compatibleFrom === "string" && /^\d{4}$/.test(compatibleFrom))
    if (compatibleFrom <= numberOf(name)) return compatibleFrom;
  throw new Error(
    `migration ${name} must export either \`breaks = true\`, or as \`compatibleFrom\` the number of itself or of an ` +
      'earlier migration, such as `"0105"`',
  );
}

function moduleOf(folder: string, name: string): string {
  const compiled = join(COMPILED, `${name}.js`);
  return folder === MIGRATIONS && existsSync(compiled) ? compiled : join(folder, `${name}.ts`);
}

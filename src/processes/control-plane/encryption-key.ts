import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { GatewayConfig } from "../../config/index.ts";
import { errorCode } from "../../runtime/error-code.ts";

const FILE = "encryption.key";

/** The keys that secrets in the databases are encrypted with. */
export interface MasterKeys {
  readonly sealing: Uint8Array;
  /** Keys that it has replaced, or that will replace it: they only decrypt. */
  readonly others: readonly Uint8Array[];
}

/**
 * The configured keys. Only with the embedded database, the key that encrypts may be generated at the first start and kept in
 * the data directory.
 *
 * @param options - `create`: whether a key may be generated (default)
 * @throws Error if there is none. With an external database a key must be configured, because the instances share no file
 */
export async function masterKeys(
  config: Pick<GatewayConfig, "api" | "database">,
  { create = true }: { readonly create?: boolean } = {},
): Promise<MasterKeys> {
  const others = config.api.previous_encryption_keys.map((key) => Buffer.from(key, "base64"));
  return { sealing: await sealingKey(config, create), others };
}

/** @returns where a generated key is kept; `undefined` if one is configured */
export function keyFileOf({ api }: Pick<GatewayConfig, "api">): string | undefined {
  return api.encryption_key === undefined ? join(api.data_directory, FILE) : undefined;
}

async function sealingKey(
  { api, database }: Pick<GatewayConfig, "api" | "database">,
  create: boolean,
): Promise<Buffer> {
  if (api.encryption_key !== undefined) return Buffer.from(api.encryption_key, "base64");
  if (database.url !== undefined || database.sandbox_url !== undefined) {
    throw new Error(
      "`api.encryption_key` is missing: with an external database, every instance needs the same key " +
        "(generate one with `openssl rand -base64 32`)",
    );
  }
  const path = join(api.data_directory, FILE);
  if (create) {
    await mkdir(api.data_directory, { recursive: true, mode: 0o700 });
    await makeOnce(path);
  }
  const key = Buffer.from((await readKey(path)).trim(), "base64");
  if (key.length !== 32) throw new Error(`\`${path}\` does not contain a key of 32 bytes in base64`);
  return key;
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new Error(
      `no encryption key in \`${path}\`: pass the data directory of the control plane, or set \`api.encryption_key\``,
      { cause: error },
    );
  }
}

/** Several processes may start at once: the first to link its file wins, and no reader sees a partial file. */
async function makeOnce(path: string): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString("base64")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
}

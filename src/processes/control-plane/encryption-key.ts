import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { GatewayConfig } from "../../config/index.ts";
import { errorCode } from "../../runtime/error-code.ts";

const FILE = "encryption.key";

/** The keys that secrets in the databases are encrypted with. */
export interface MasterKeys {
  readonly sealing: Uint8Array;
  /** Those that it has replaced, or that are about to replace it: they open, and seal nothing. */
  readonly others: readonly Uint8Array[];
}

/**
 * The keys that are configured; with the embedded database alone, the one that seals may be made at the first start and
 * kept in the data directory.
 *
 * @param options - `create`: whether one may be made (default)
 * @throws Error where there is none, and where a database of one's own has no key: a file on one machine is no place that all instances share
 */
export async function masterKeys(
  config: Pick<GatewayConfig, "api" | "database">,
  { create = true }: { readonly create?: boolean } = {},
): Promise<MasterKeys> {
  const others = config.api.previous_encryption_keys.map((key) => Buffer.from(key, "base64"));
  return { sealing: await sealingKey(config, create), others };
}

async function sealingKey(
  { api, database }: Pick<GatewayConfig, "api" | "database">,
  create: boolean,
): Promise<Buffer> {
  if (api.encryption_key !== undefined) return Buffer.from(api.encryption_key, "base64");
  if (database.url !== undefined || database.sandbox_url !== undefined) {
    throw new Error(
      "`api.encryption_key` is missing: with a database of your own, every instance needs the same key " +
        "(make one by `openssl rand -base64 32`)",
    );
  }
  const path = join(api.data_directory, FILE);
  if (create) {
    await mkdir(api.data_directory, { recursive: true, mode: 0o700 });
    await makeOnce(path);
  }
  const key = Buffer.from((await readKey(path)).trim(), "base64");
  if (key.length !== 32) throw new Error(`\`${path}\` does not hold a key of 32 bytes in base64`);
  return key;
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new Error(
      `there is no encryption key in \`${path}\`: name the data directory of the control plane, or set \`api.encryption_key\``,
      { cause: error },
    );
  }
}

/** Several processes may start at once: the first to link its file wins, and no reader ever sees half of one. */
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

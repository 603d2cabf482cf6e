import { createHmac, randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import type { ControlContext } from "../../platform/context.ts";
import type { SealedColumns } from "../../platform/sealed-columns.ts";

/** What the provider signs with. Made once an environment; instances share it. */
export interface ProviderKeys {
  readonly signing: JWK;
  readonly cookies: string;
  /** What the secrets of its clients are derived from. */
  readonly clients: string;
}

export const ALGORITHM = "ES256";
const PURPOSE = "sandbox.provider.keys";

/** The one row of the keys. */
export const SEALED_PROVIDER_KEYS: SealedColumns = {
  table: "sandbox_provider_keys",
  key: ["only_row"],
  columns: ["sealed"],
  purpose: () => PURPOSE,
};

/** Reads the keys, and makes them where there are none yet. */
export async function providerKeys({
  db,
  box,
  clock,
}: Pick<ControlContext, "db" | "box" | "clock">): Promise<ProviderKeys> {
  const known = await read();
  if (known !== undefined) return known;
  const sealed = box.seal(JSON.stringify(await makeKeys()), PURPOSE);
  // of two instances that find none, one is first
  await db("sandbox_provider_keys")
    .insert({ sealed, created_at: new Date(clock()) })
    .onConflict("only_row")
    .ignore();
  const made = await read();
  if (made === undefined) throw new Error("the sandbox provider's keys were made and are gone");
  return made;

  async function read(): Promise<ProviderKeys | undefined> {
    const row = await db("sandbox_provider_keys").first<{ sealed: string } | undefined>("sealed");
    return row && (JSON.parse(box.open(row.sealed, PURPOSE)) as ProviderKeys);
  }
}

/** Each customer is a client of its own; its secret needs no row. */
export function clientSecretOf({ clients }: ProviderKeys, customerId: string): string {
  return createHmac("sha256", clients).update(`client_secret:${customerId}`).digest("base64url");
}

async function makeKeys(): Promise<ProviderKeys> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const kid = randomBytes(12).toString("base64url");
  return {
    signing: { ...(await exportJWK(privateKey)), kid, alg: ALGORITHM, use: "sig" },
    cookies: randomBytes(32).toString("base64url"),
    clients: randomBytes(32).toString("base64url"),
  };
}

import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from "jose";
import type { Knex } from "knex";
import { lockUntilEnd } from "../../../storage/index.ts";
import type { SealedColumns } from "../../platform/sealed-columns.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import type { KeySchedule } from "./key-schedule.ts";

/** A key as stored. */
export interface KeyRow {
  readonly kid: string;
  readonly public_jwk: JWK;
  /** Encrypted. */
  readonly private_jwk: string;
  readonly activates_at: Date;
}

export const ALGORITHM = "ES256";

/** The published keys, oldest first. */
export async function readKeys(db: Knex): Promise<KeyRow[]> {
  return db("signing_keys")
    .orderBy("activates_at")
    .select<KeyRow[]>("kid", "public_jwk", "private_jwk", "activates_at");
}

export function openPrivateKey(box: SecretBox, { kid, private_jwk: sealed }: KeyRow): JWK {
  return JSON.parse(box.open(sealed, purposeOf(kid))) as JWK;
}

/** Whether keys must be created or removed now. */
export function isDue(keys: readonly KeyRow[], now: Date, schedule: KeySchedule): boolean {
  return (
    nextActivation(keys, now, schedule) !== undefined ||
    keys.some((_, index) => isOver(keys, index, now, schedule))
  );
}

/**
 * Creates the key that is due, and removes expired ones; only once, even if several instances find it due. The first
 * key signs at once, because nobody has a copy of the JWKS yet; each later one is published before it signs.
 */
export async function maintainKeys(unit: UnitOfWork, box: SecretBox, schedule: KeySchedule): Promise<void> {
  const { trx, now } = unit;
  await lockUntilEnd(trx, "signingKeys");
  const keys = await readKeys(trx);
  const activatesAt = nextActivation(keys, now, schedule);
  if (activatesAt !== undefined) await makeKey(unit, box, activatesAt);
  for (const [index, key] of keys.entries()) {
    if (!isOver(keys, index, now, schedule)) continue;
    await trx("signing_keys").where({ kid: key.kid }).delete();
    unit.record({ action: "signing_key.removed", target: { type: "signing_key", id: key.kid } });
  }
}

async function makeKey(unit: UnitOfWork, box: SecretBox, activatesAt: Date): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  await unit.trx("signing_keys").insert({
    kid,
    public_jwk: JSON.stringify({ ...jwk, kid, alg: ALGORITHM, use: "sig" }),
    private_jwk: box.seal(JSON.stringify(await exportJWK(privateKey)), purposeOf(kid)),
    created_at: unit.now,
    activates_at: activatesAt,
  });
  const after = { kid, algorithm: ALGORITHM, activates_at: activatesAt.toISOString() };
  unit.record({ action: "signing_key.created", target: { type: "signing_key", id: kid }, after });
}

/** @returns when a key created now starts to sign; `undefined` if none is due */
function nextActivation(keys: readonly KeyRow[], now: Date, schedule: KeySchedule): Date | undefined {
  const newest = keys.at(-1);
  if (newest === undefined) return now;
  const planned = newest.activates_at.getTime() + schedule.signsForMs;
  const soonest = now.getTime() + schedule.aheadMs;
  return planned <= soonest ? new Date(soonest) : undefined;
}

/** No token signed with it can still be valid. */
function isOver(keys: readonly KeyRow[], index: number, now: Date, { afterMs }: KeySchedule): boolean {
  const successor = keys[index + 1];
  return successor !== undefined && successor.activates_at.getTime() + afterMs <= now.getTime();
}

/** The private keys that sign tokens. */
export const SEALED_SIGNING_KEYS: SealedColumns = {
  table: "signing_keys",
  key: ["kid"],
  columns: ["private_jwk"],
  purpose: ({ kid = "" }) => purposeOf(kid),
};

function purposeOf(kid: string): string {
  return `signing_key:${kid}`;
}

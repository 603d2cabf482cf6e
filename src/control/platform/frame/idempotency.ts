import { createHash } from "node:crypto";
import type { Knex } from "knex";
import type { SealedColumns } from "../sealed-columns.ts";
import { ApiError } from "../errors.ts";
import type { SecretBox } from "../secret-box.ts";
import type { Route } from "./route.ts";

/** A stored response. */
export interface StoredResponse {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

/** A request that must be carried out only once, even if it is sent repeatedly. */
export interface IdempotentRequest {
  /** The calling application, whichever of its keys it uses: the same text from two callers is two keys. */
  readonly actorId: string;
  readonly key: string;
  /** The content of the request. */
  readonly fingerprint: string;
}

/**
 * SQL: when a response that is stored now expires. By the database's clock, like each comparison with it: an instance
 * whose own clock is ahead would carry out a request again.
 */
const EXPIRY = "now() + interval '24 hours'";
const NOW = "now()";

/** Whether a route supports `Idempotency-Key`. */
export function isIdempotent({ method, permission, write }: Route): boolean {
  return method === "post" && permission !== "public" && write !== undefined;
}

/** The parts in which a repeated request must be equal: method, path with query, and body. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([method, path, body ?? null]))
    .digest("hex");
}

/** @throws ApiError for an invalid key */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== "string" || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw new ApiError("INVALID_PARAMETER", {
      message: "`Idempotency-Key` must be 1 to 255 visible ASCII characters",
      details: { parameter: "Idempotency-Key" },
    });
  }
  return header;
}

/**
 * Claims the key within the transaction that carries out the request. A second request with the same key waits here
 * until the first has ended, and then gets its response.
 *
 * @returns the response, if the request was already carried out
 * @throws ApiError IDEMPOTENCY_KEY_REUSED if it was another request
 */
export async function claimKey(
  trx: Knex.Transaction,
  { actorId, key, fingerprint }: IdempotentRequest,
  box: SecretBox,
): Promise<StoredResponse | undefined> {
  const at = { actor_id: actorId, key };
  const claim = {
    // a body may contain a secret, and the bare hash of a weak one could be guessed
    fingerprint: box.seal(fingerprint, purpose(actorId, key)),
    created_at: trx.raw(NOW),
    expires_at: trx.raw(EXPIRY),
  };
  const claimed = await trx("idempotency_keys")
    .insert({ ...at, ...claim })
    .onConflict(["actor_id", "key"])
    // an expired entry counts as absent
    .merge({ ...claim, answer: null })
    .where("idempotency_keys.expires_at", "<=", trx.raw(NOW))
    .returning("key");
  if (claimed.length > 0) return undefined;
  const kept = await findAnswer(trx, { actorId, key, fingerprint }, box);
  if (kept === undefined) throw new ApiError("IDEMPOTENCY_CONFLICT");
  return kept;
}

/**
 * @returns the response of a request that was already carried out
 * @throws ApiError IDEMPOTENCY_KEY_REUSED if it was another request
 */
export async function findAnswer(
  db: Knex,
  { actorId, key, fingerprint }: IdempotentRequest,
  box: SecretBox,
): Promise<StoredResponse | undefined> {
  const kept = await db("idempotency_keys")
    .where({ actor_id: actorId, key })
    .where("expires_at", ">", db.raw(NOW))
    .first<{ fingerprint: string; answer: string | null } | undefined>("fingerprint", "answer");
  if (kept === undefined) return undefined;
  if (box.open(kept.fingerprint, purpose(actorId, key)) !== fingerprint)
    throw new ApiError("IDEMPOTENCY_KEY_REUSED");
  if (kept.answer === null) return undefined;
  return JSON.parse(box.open(kept.answer, purpose(actorId, key))) as StoredResponse;
}

/** Stores the response, encrypted, because it may contain secrets that are shown only once. */
export async function keepAnswer(
  trx: Knex.Transaction,
  { actorId, key }: IdempotentRequest,
  answer: StoredResponse,
  box: SecretBox,
): Promise<void> {
  const sealed = box.seal(JSON.stringify(answer), purpose(actorId, key));
  await trx("idempotency_keys").where({ actor_id: actorId, key }).update({ answer: sealed });
}

/** Releases a key: a refused request is evaluated again when it is repeated. */
export async function releaseKey(
  trx: Knex.Transaction,
  { actorId, key }: Pick<IdempotentRequest, "actorId" | "key">,
): Promise<void> {
  await trx("idempotency_keys").where({ actor_id: actorId, key }).delete();
}

/** Removes expired entries. */
export async function forgetExpiredKeys(db: Knex, now: Date): Promise<void> {
  await db("idempotency_keys").where("expires_at", "<=", now).delete();
}

/** The request and its response, as text. */
export const SEALED_ANSWERS: SealedColumns = {
  table: "idempotency_keys",
  key: ["actor_id", "key"],
  columns: ["fingerprint", "answer"],
  purpose: ({ actor_id = "", key = "" }) => purpose(actor_id, key),
};

function purpose(actorId: string, key: string): string {
  return `idempotency:${actorId}:${key}`;
}

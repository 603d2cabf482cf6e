import type { Knex } from "knex";
import type { Scope } from "../../platform/actor.ts";
import { requireCustomerShared } from "../../tenancy/customers.ts";
import type { Environment } from "../../platform/environment.ts";
import { ApiError, validationFailed } from "../../platform/errors.ts";
import { haveGatewaysAskAgain } from "../../platform/gateway-signal.ts";
import { readPage, type ListRequest } from "../../platform/frame/list.ts";
import { newId } from "../../platform/ids.ts";
import { namedActor, type NamedActor } from "../../platform/named-actor.ts";
import { hashSecret } from "../../platform/secret-box.ts";
import type { RowCheck, UnitOfWork } from "../../platform/unit.ts";
import { newApiKeySecret } from "./secret.ts";
import type { ApiKeyStatus } from "./schemas.ts";
import { lockRowsUntilEnd, lockRowShared } from "../../../storage/index.ts";

/** Of one transaction: PostgreSQL's table of locks has room for some 6,000 at least (64 for each of 100 connections). */
const MAX_ADVISORY_LOCKS = 1_000;

export interface ApiKeyRow {
  readonly id: string;
  readonly hint: string;
  readonly name: string;
  readonly scope: Scope;
  readonly customer_id: string | null;
  /** `user.permissions` of the caller; only for keys of the scope `caller`. */
  readonly permissions: readonly string[];
  /** Addresses and networks from which it may be used; empty: from everywhere. */
  readonly allowed_addresses: readonly string[];
  readonly created_by: NamedActor;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  readonly revision: number;
  /** The first key of the chain of rolled keys; `null`: this one. */
  readonly family_id: string | null;
  /** The key that this one replaces. */
  readonly rolled_from: string | null;
  /** The key that replaces this one, which ends when it expires or is revoked. */
  readonly rolled_to: string | null;
}

/** A key as presented by a request. */
export interface PresentedKey extends ApiKeyRow {
  /** Its customer is deleted; always false for keys of all customers. */
  readonly orphaned: boolean;
}

export interface NewApiKey {
  readonly environment: Environment;
  readonly name: string;
  readonly scope: Scope;
  readonly customerId?: string;
  readonly permissions?: readonly string[];
  readonly allowedAddresses?: readonly string[];
  readonly expiresAt?: Date;
}

const COLUMNS = [
  "id",
  "hint",
  "name",
  "scope",
  "customer_id",
  "permissions",
  "allowed_addresses",
  "created_by",
  "created_at",
  "updated_at",
  "expires_at",
  "last_used_at",
  "revoked_at",
  "revision",
  "family_id",
  "rolled_from",
  "rolled_to",
] as const;

/** The settings of a new key. */
type KeyFields = Pick<
  ApiKeyRow,
  | "name"
  | "scope"
  | "customer_id"
  | "permissions"
  | "allowed_addresses"
  | "expires_at"
  | "family_id"
  | "rolled_from"
> & { readonly environment: Environment };

/** Creates a key. Its text is only in the result. */
export async function createApiKey(
  unit: UnitOfWork,
  { environment, name, scope, customerId, permissions = [], allowedAddresses = [], expiresAt }: NewApiKey,
): Promise<{ row: ApiKeyRow; secret: string }> {
  const { trx, now, origin } = unit;
  if (expiresAt !== undefined) requireFuture(expiresAt, now);
  if (scope === "caller" && customerId === undefined)
    throw validationFailed([{ path: "customer_id", message: "is required: a caller belongs to a customer" }]);
  if (scope !== "caller" && permissions.length > 0)
    throw validationFailed([{ path: "permissions", message: "are only for keys of the scope `caller`" }]);
  requireNoCaller(scope, allowedAddresses);
  if (customerId !== undefined) {
    if (scope === "gateway")
      throw validationFailed([
        { path: "customer_id", message: "a gateway key cannot be limited to one customer" },
      ]);
    await requireCustomerShared(trx, origin.actor, customerId, "body");
  }
  return insertApiKey(unit, {
    environment,
    name,
    scope,
    customer_id: customerId ?? null,
    permissions,
    allowed_addresses: allowedAddresses,
    expires_at: expiresAt ?? null,
    family_id: null,
    rolled_from: null,
  });
}

/** Inserts a key whose fields have been checked, and records and announces it. */
export async function insertApiKey(
  unit: UnitOfWork,
  { environment, ...fields }: KeyFields,
): Promise<{ row: ApiKeyRow; secret: string }> {
  const { trx, now, origin } = unit;
  const secret = newApiKeySecret(environment);
  const row: ApiKeyRow = {
    ...fields,
    id: newId("apiKey"),
    hint: secret.slice(-4),
    created_by: await namedActor(trx, origin.actor),
    created_at: now,
    updated_at: now,
    last_used_at: null,
    revoked_at: null,
    revision: 1,
    rolled_to: null,
  };
  await trx("api_keys").insert({
    ...row,
    permissions: JSON.stringify(row.permissions),
    allowed_addresses: [...row.allowed_addresses],
    secret_hash: hashSecret(secret),
  });
  unit.record({ action: "api_key.created", ...aboutKey(row), after: recordedOf(row) });
  announceKey(unit, "api_key.created", row);
  return { row, secret };
}

/**
 * Changes the name, the expiry, or from where the key may be used.
 *
 * @throws ApiError 404; 409 for a revoked key, and for a later expiry of a rolled one; 422 for addresses of a caller
 */
export async function updateApiKey(
  unit: UnitOfWork,
  id: string,
  change: Partial<Pick<ApiKeyRow, "name" | "expires_at" | "allowed_addresses">>,
  check: RowCheck<ApiKeyRow>,
): Promise<ApiKeyRow> {
  const before = await lockApiKey(unit.trx, id);
  check(before);
  if (before.revoked_at !== null) throw new ApiError("CONFLICT", { message: "the API key is revoked" });
  if (change.expires_at !== undefined) requireNoLaterEnd(before, change.expires_at);
  if (change.expires_at instanceof Date) requireFuture(change.expires_at, unit.now);
  if (change.allowed_addresses !== undefined) {
    requireNoCaller(before.scope, change.allowed_addresses);
    // their requests may wait for a change for a long time
    await haveGatewaysAskAgain(unit.trx);
  }
  return writeApiKey(unit, "api_key.updated", before, change);
}

/**
 * Revokes a key, from the next request on; a revoked key is not changed.
 * @throws ApiError 404
 */
export async function revokeApiKey(
  unit: UnitOfWork,
  id: string,
  check: RowCheck<ApiKeyRow> = () => undefined,
): Promise<ApiKeyRow> {
  const before = await lockApiKey(unit.trx, id);
  check(before);
  return before.revoked_at === null ? revoke(unit, before) : before;
}

/**
 * Revokes the keys that are limited to a customer that is being deleted, in the same unit: those that have not ended, which may
 * be many.
 */
export async function revokeApiKeysOf(unit: UnitOfWork, customerId: string): Promise<void> {
  const { trx, now } = unit;
  const open = () =>
    trx("api_keys")
      .where({ customer_id: customerId, revoked_at: null })
      // by any other clock as well: keys of a deleted customer are refused, whether they have ended or not
      .where((or) => void or.whereNull("expires_at").orWhere("expires_at", ">", now))
      .orderBy("id");
  // those of the rows alone would do, but a fast stream of writes could keep them out
  const writing = await open().limit(MAX_ADVISORY_LOCKS).pluck<string[]>("id");
  await lockRowsUntilEnd(trx, "credentials", writing);
  const ids = await open().forUpdate().pluck<string[]>("id");
  const rows = await trx("api_keys")
    .whereRaw("id = any(?)", [ids])
    .update({ revoked_at: now, updated_at: now, revision: trx.raw("revision + 1") })
    .returning<ApiKeyRow[]>([...COLUMNS]);
  for (const row of rows) {
    recordChange(unit, "api_key.revoked", { ...row, revoked_at: null }, row);
    announceEnd(unit, row);
  }
  if (rows.length > 0) await haveGatewaysAskAgain(trx);
}

async function revoke(unit: UnitOfWork, before: ApiKeyRow): Promise<ApiKeyRow> {
  const after = await writeApiKey(unit, "api_key.revoked", before, { revoked_at: unit.now });
  await endKey(unit, after);
  return after;
}

/** How long gateways are told: longer than any of them believes what it looked up. */
const ENDED_LISTED_MS = 86_400_000;

/** Announces the end of a key, and has it refused at once: as a gateway's own key, and as a caller's. */
export async function endKey(unit: UnitOfWork, row: ApiKeyRow): Promise<void> {
  announceEnd(unit, row);
  await haveGatewaysAskAgain(unit.trx);
}

function announceEnd(unit: UnitOfWork, row: ApiKeyRow): void {
  announceKey(unit, "api_key.revoked", row);
  const until = new Date(unit.now.getTime() + ENDED_LISTED_MS).toISOString();
  if (row.scope === "caller") unit.notifyGateways({ type: "session_ended", session_id: row.id, until });
}

export async function findApiKey(db: Knex, id: string): Promise<ApiKeyRow | undefined> {
  return db("api_keys")
    .where({ id })
    .first<ApiKeyRow | undefined>(...COLUMNS);
}

/** @throws ApiError 404 */
export async function requireApiKey(db: Knex, id: string): Promise<ApiKeyRow> {
  return (await findApiKey(db, id)) ?? notFound(id);
}

/** Whether a key belongs to a family, whatever its state. */
export async function isKeyOfFamily(db: Knex, id: string, familyId: string): Promise<boolean> {
  const row = await db("api_keys")
    .where({ id })
    .first<Pick<ApiKeyRow, "id" | "family_id"> | undefined>("id", "family_id");
  return row !== undefined && familyOf(row) === familyId;
}

/** Finds a key by its text. */
export async function findPresentedKey(db: Knex, secret: string): Promise<PresentedKey | undefined> {
  const hash = hashSecret(secret);
  return (await findPresentedKeys(db, [hash])).get(hash);
}

/**
 * Finds keys by the hashes of their texts. Done for each request, so that a revocation takes effect at once and
 * everywhere.
 */
export async function findPresentedKeys(
  db: Knex,
  hashes: readonly string[],
): Promise<Map<string, PresentedKey>> {
  const rows = await db("api_keys as k")
    .leftJoin("customers as c", "c.id", "k.customer_id")
    .whereRaw("k.secret_hash = any(?)", [[...hashes]])
    .select<(PresentedKey & { readonly secret_hash: string })[]>(
      "k.secret_hash",
      ...COLUMNS.map((column) => `k.${column}`),
      db.raw("c.deleted_at is not null as orphaned"),
    );
  return new Map(rows.map(({ secret_hash: hash, ...key }) => [hash, key]));
}

export interface ApiKeyFilters {
  readonly status?: ApiKeyStatus | undefined;
  readonly scope?: Scope | undefined;
  readonly customer_id?: string | undefined;
  readonly family_id?: string | undefined;
}

export function listApiKeys(
  db: Knex,
  { status, scope, customer_id: customerId, family_id: familyId, ...request }: ListRequest & ApiKeyFilters,
  now: Date,
): Promise<{ readonly rows: readonly ApiKeyRow[]; readonly total: number }> {
  const query = db("api_keys").select(COLUMNS);
  if (scope !== undefined) void query.where({ scope });
  if (customerId !== undefined) void query.where({ customer_id: customerId });
  if (familyId !== undefined) void query.whereRaw("coalesce(family_id, id) = ?", [familyId]);
  if (status === "revoked") void query.whereNotNull("revoked_at");
  else if (status !== undefined) {
    void query.whereNull("revoked_at");
    if (status === "expired") void query.where("expires_at", "<=", now);
    else void query.where((or) => void or.whereNull("expires_at").orWhere("expires_at", ">", now));
  }
  return readPage(query, request, { created_at: "created_at", name: "name", id: "id" });
}

export function statusOfKey(row: Pick<ApiKeyRow, "revoked_at" | "expires_at">, now: Date): ApiKeyStatus {
  if (row.revoked_at !== null) return "revoked";
  return row.expires_at !== null && row.expires_at <= now ? "expired" : "active";
}

/** The part of a key that stays the same when it is rolled: the application that holds it. */
export function familyOf({ id, family_id: familyId }: Pick<ApiKeyRow, "id" | "family_id">): string {
  return familyId ?? id;
}

/** @throws ApiError 404 */
export async function lockApiKey(trx: Knex.Transaction, id: string): Promise<ApiKeyRow> {
  await lockRowsUntilEnd(trx, "credentials", [id]);
  const row = await trx("api_keys")
    .where({ id })
    .forUpdate()
    .first<ApiKeyRow | undefined>(...COLUMNS);
  return row ?? notFound(id);
}

/** Locks a key against changes until the transaction ends; a revocation waits. */
export async function lockKeyShared(trx: Knex.Transaction, id: string): Promise<void> {
  await lockRowShared(trx, "credentials", id);
  // an instance of an earlier release revokes keys by the lock of the row alone
  await trx("api_keys").where({ id }).forShare().select("id");
}

/** Changes a locked key, and records its state before and after. */
export async function writeApiKey(
  unit: UnitOfWork,
  action: string,
  before: ApiKeyRow,
  change: Partial<ApiKeyRow>,
): Promise<ApiKeyRow> {
  const after = { ...before, ...change, updated_at: unit.now, revision: before.revision + 1 };
  await unit
    .trx("api_keys")
    .where({ id: before.id })
    .update({ ...change, updated_at: after.updated_at, revision: after.revision });
  recordChange(unit, action, before, after);
  return after;
}

function recordChange(unit: UnitOfWork, action: string, before: ApiKeyRow, after: ApiKeyRow): void {
  unit.record({ action, ...aboutKey(after), before: recordedOf(before), after: recordedOf(after) });
}

/** Announces it to webhooks. */
function announceKey(unit: UnitOfWork, type: "api_key.created" | "api_key.revoked", row: ApiKeyRow): void {
  const data = { api_key: { id: row.id, name: row.name, scope: row.scope } };
  unit.emit({ type, ...(row.customer_id !== null && { customerId: row.customer_id }), data });
}

function aboutKey({ id, customer_id: customerId }: ApiKeyRow) {
  return { target: { type: "api_key", id }, ...(customerId !== null && { customerId }) };
}

function recordedOf(row: ApiKeyRow) {
  const { name, scope, customer_id, permissions, hint, expires_at, revoked_at, rolled_from, rolled_to } = row;
  const { allowed_addresses } = row;
  return {
    name,
    scope,
    customer_id,
    ...(permissions.length > 0 && { permissions }),
    ...(allowed_addresses.length > 0 && { allowed_addresses }),
    hint,
    expires_at: expires_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
    ...(rolled_from !== null && { rolled_from }),
    ...(rolled_to !== null && { rolled_to }),
  };
}

/** A replaced key must expire, at the time that was announced. */
function requireNoLaterEnd({ rolled_to: rolledTo, expires_at: end }: ApiKeyRow, asked: Date | null): void {
  if (rolledTo === null || (asked !== null && end !== null && asked <= end)) return;
  throw new ApiError("CONFLICT", {
    message: "the API key was rolled: its expiry can only be moved earlier",
    details: { rolled_to: rolledTo, expires_at: end?.toISOString() ?? null },
  });
}

/** The address from which a caller asks is known to gateways alone. */
function requireNoCaller(scope: Scope, allowed: readonly string[]): void {
  if (scope === "caller" && allowed.length > 0)
    throw validationFailed([
      {
        path: "allowed_addresses",
        message: "are not for keys of the scope `caller`: use `request.client_ip` in a condition",
      },
    ]);
}

function requireFuture(time: Date, now: Date): void {
  if (time <= now) throw validationFailed([{ path: "expires_at", message: "must be in the future" }]);
}

function notFound(id: string): never {
  throw new ApiError("API_KEY_NOT_FOUND", { details: { id } });
}

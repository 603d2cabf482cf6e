import type { Knex } from "knex";
import { requireCustomerShared } from "../../tenancy/customers.ts";
import { ApiError } from "../../platform/errors.ts";
import { readPage, type ListRequest } from "../../platform/frame/list.ts";
import { newId } from "../../platform/ids.ts";
import { namedActor, type NamedActor } from "../../platform/named-actor.ts";
import { hashSecret, newSecret, sameSecret } from "../../platform/secret-box.ts";
import type { RowCheck, UnitOfWork } from "../../platform/unit.ts";

/** A machine client: a program that requests tokens for itself. */
export interface ClientRow {
  readonly id: string;
  readonly name: string;
  /** The customer that it acts for. */
  readonly customer_id: string | null;
  readonly scopes: readonly string[];
  readonly hint: string;
  readonly previous_secret_expires_at: Date | null;
  /** The `sid` of its tokens; replaced when earlier tokens must no longer be accepted. */
  readonly session_id: string;
  readonly created_by: NamedActor;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_used_at: Date | null;
  readonly revision: number;
}

const COLUMNS = [
  "id",
  "name",
  "customer_id",
  "scopes",
  "hint",
  "previous_secret_expires_at",
  "session_id",
  "created_by",
  "created_at",
  "updated_at",
  "last_used_at",
  "revision",
] as const satisfies readonly (keyof ClientRow)[];

/** A client and its secret, which is only in this result. */
export interface ClientWithSecret {
  readonly row: ClientRow;
  readonly secret: string;
}

/** Its prefix tells scanners for leaked secrets what it is. */
const SECRET_PREFIX = "ghc_";
/** The longest token lifetime that can be configured, plus the largest tolerance of a gateway. */
const TOKENS_LIVE_MS = 86_400_000 + 300_000;

/** @throws ApiError INVALID_CUSTOMER */
export async function createClient(
  unit: UnitOfWork,
  {
    name,
    scopes,
    customerId,
  }: { readonly name: string; readonly scopes: readonly string[]; readonly customerId?: string },
): Promise<ClientWithSecret> {
  const { trx, now, origin } = unit;
  const { actor } = origin;
  if (customerId !== undefined) await requireCustomerShared(trx, actor, customerId, "body");
  const { secret, columns } = makeSecret();
  const [row] = await trx("clients")
    .insert({
      ...columns,
      id: newId("client"),
      name,
      customer_id: customerId ?? null,
      scopes,
      session_id: newId("clientSession"),
      created_by: JSON.stringify(await namedActor(trx, actor)),
      created_at: now,
      updated_at: now,
    })
    .returning<ClientRow[]>([...COLUMNS]);
  if (row === undefined) throw new Error("an insert returned no row");
  unit.record({ action: "client.created", ...about(row), after: recorded(row) });
  return { row, secret };
}

/**
 * Changes the name or the scopes; existing tokens keep theirs.
 * @throws ApiError 404
 */
export async function updateClient(
  unit: UnitOfWork,
  id: string,
  change: { readonly name?: string; readonly scopes?: readonly string[] },
  check: RowCheck<ClientRow>,
): Promise<ClientRow> {
  const before = await lockClient(unit.trx, id, check);
  return write(unit, "client.updated", before, change);
}

/**
 * Replaces the secret. Without an overlap, the old one may have leaked, and so may the tokens that it was used for:
 * gateways refuse these from then on.
 *
 * @throws ApiError 404; 409 for another overlap during one
 */
export async function rotateClientSecret(
  unit: UnitOfWork,
  id: string,
  overlapSeconds: number,
  check: RowCheck<ClientRow>,
): Promise<ClientWithSecret> {
  const before = await lockClient(unit.trx, id, check);
  const { secret, columns } = makeSecret();
  const overlaps = overlapSeconds > 0;
  if (overlaps) requireNoOverlap(before, unit.now);
  else refuseTokensOf(unit, before);
  const row = await write(unit, "client.secret_rotated", before, {
    ...columns,
    previous_secret_hash: overlaps ? unit.trx.ref("secret_hash") : null,
    previous_secret_expires_at: overlaps ? new Date(unit.now.getTime() + overlapSeconds * 1000) : null,
    ...(!overlaps && { session_id: newId("clientSession") }),
  });
  return { row, secret };
}

/** Deletes a client: it gets no more tokens, and gateways refuse its existing ones. @throws ApiError 404 */
export async function deleteClient(unit: UnitOfWork, id: string, check: RowCheck<ClientRow>): Promise<void> {
  const before = await lockClient(unit.trx, id, check);
  await unit.trx("clients").where({ id }).update({ deleted_at: unit.now });
  unit.record({ action: "client.deleted", ...about(before), before: recorded(before) });
  refuseTokensOf(unit, before);
}

/**
 * Ends the tokens of a customer's clients, just as its users' sessions end: existing tokens are no longer valid, even
 * if the customer becomes active again. The caller has locked the customer.
 */
export async function endClientTokens(unit: UnitOfWork, customerId: string): Promise<void> {
  const own = await clients(unit.trx)
    .where({ customer_id: customerId })
    .orderBy("id")
    .forUpdate()
    .select<Pick<ClientRow, "id" | "session_id">[]>("id", "session_id");
  await unit.trx.raw(
    `update clients set session_id = replaced.session_id
     from unnest(?::text[], ?::text[]) as replaced (id, session_id) where clients.id = replaced.id`,
    [own.map(({ id }) => id), own.map(() => newId("clientSession"))] as unknown as Knex.RawBinding[],
  );
  for (const client of own) refuseTokensOf(unit, client);
}

/** Tells gateways to refuse the existing tokens. */
export function refuseTokensOf(unit: UnitOfWork, { session_id }: Pick<ClientRow, "session_id">): void {
  const until = new Date(unit.now.getTime() + TOKENS_LIVE_MS).toISOString();
  unit.notifyGateways({ type: "session_ended", session_id, until });
}

/** @throws ApiError 404 */
export async function requireClient(db: Knex, id: string): Promise<ClientRow> {
  const row = await clients(db)
    .where({ id })
    .first<ClientRow | undefined>(...COLUMNS);
  return row ?? notFound(id);
}

export function listClients(
  db: Knex,
  { customer_id: customerId, ...request }: ListRequest & { readonly customer_id?: string | undefined },
): Promise<{ readonly rows: readonly ClientRow[]; readonly total: number }> {
  const query = clients(db).select(COLUMNS);
  if (customerId !== undefined) void query.where({ customer_id: customerId });
  return readPage(query, request, { created_at: "created_at", name: "name", id: "id" });
}

/** @returns the client, if it and its customer are active */
export async function findActiveClient(db: Knex, id: string): Promise<ClientRow | undefined> {
  return active(db, id).first<ClientRow | undefined>(...COLUMNS.map((column) => `clients.${column}`));
}

/** @returns the client with this secret, if it and its customer are active */
export async function authenticatedClient(
  db: Knex,
  id: string,
  secret: string,
  now: Date,
): Promise<ClientRow | undefined> {
  const found = await active(db, id).first<
    (ClientRow & { secret_hash: string; previous_secret_hash: string | null }) | undefined
  >(...COLUMNS.map((column) => `clients.${column}`), "clients.secret_hash", "clients.previous_secret_hash");
  if (found === undefined) return undefined;
  const { secret_hash: current, previous_secret_hash: previous, ...row } = found;
  const presented = hashSecret(secret);
  const { previous_secret_expires_at: until } = row;
  const overlaps = previous !== null && until !== null && now < until && sameSecret(presented, previous);
  return sameSecret(presented, current) || overlaps ? row : undefined;
}

function clients(db: Knex): Knex.QueryBuilder {
  return db("clients").whereNull("clients.deleted_at");
}

function active(db: Knex, id: string): Knex.QueryBuilder {
  return clients(db)
    .leftJoin("customers", "customers.id", "clients.customer_id")
    .where("clients.id", id)
    .where(
      (either) =>
        void either
          .whereNull("clients.customer_id")
          .orWhere((own) => void own.where("customers.status", "active").whereNull("customers.deleted_at")),
    );
}

async function lockClient(trx: Knex.Transaction, id: string, check: RowCheck<ClientRow>): Promise<ClientRow> {
  const row =
    (await clients(trx)
      .where({ id })
      .forUpdate()
      .first<ClientRow | undefined>(...COLUMNS)) ?? notFound(id);
  check(row);
  return row;
}

async function write(
  unit: UnitOfWork,
  action: string,
  before: ClientRow,
  change: Readonly<Record<string, unknown>>,
): Promise<ClientRow> {
  const [after] = await unit
    .trx("clients")
    .where({ id: before.id })
    .update({ ...change, updated_at: unit.now, revision: before.revision + 1 })
    .returning<ClientRow[]>([...COLUMNS]);
  if (after === undefined) throw new Error(`the client ${before.id} was locked and is gone`);
  unit.record({ action, ...about(after), before: recorded(before), after: recorded(after) });
  return after;
}

/** Only one secret is kept besides the current one, and its expiry was announced. */
function requireNoOverlap({ previous_secret_expires_at: until }: ClientRow, now: Date): void {
  if (until === null || until <= now) return;
  throw new ApiError("CONFLICT", {
    message:
      "the previous secret is still valid: wait until `previous_secret_expires_at`, or revoke both with `overlap_seconds: 0`",
    details: { previous_secret_expires_at: until.toISOString() },
  });
}

function makeSecret() {
  const secret = `${SECRET_PREFIX}${newSecret()}`;
  return { secret, columns: { secret_hash: hashSecret(secret), hint: secret.slice(-4) } };
}

function about({ id, customer_id: customerId }: ClientRow) {
  return { target: { type: "client", id }, ...(customerId !== null && { customerId }) };
}

function recorded({ name, scopes, customer_id, hint, previous_secret_expires_at: until }: ClientRow) {
  return { name, scopes, customer_id, hint, previous_secret_expires_at: until?.toISOString() ?? null };
}

function notFound(id: string): never {
  throw new ApiError("CLIENT_NOT_FOUND", { details: { id } });
}

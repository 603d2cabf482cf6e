import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";
import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { findIdp } from "../../tenancy/idp.ts";
import { customers, findCustomer, lockCustomerShared, requireCustomer } from "../../tenancy/customers.ts";
import type { Environment } from "../../platform/environment.ts";
import { ERASED_USER, requestErasure } from "../erasure/store.ts";
import { ApiError, invalidCustomer } from "../../platform/errors.ts";
import { etagOf, type Call } from "../../platform/frame/route.ts";
import { endSessions } from "../sessions/end.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import type { UserAttributes } from "../../tenancy/attributes.ts";
import { claimPolicyOf, claimRulesOf, NO_CLAIMS } from "../../tenancy/claim-policy.ts";
import {
  changeUser,
  effectiveAttributes,
  findUser,
  insertUser,
  lockUser,
  permittedClaims,
  USER_COLUMNS,
  users,
  type UserRow,
} from "./store.ts";
import { requireOperator } from "../../platform/require-operator.ts";

/** The part of a call that compares ETags. */
type Conditional = Pick<Call<unknown, unknown, unknown>, "ifMatch">;

/** Filters for a list. */
export interface UserFilters {
  readonly customer_id?: string | undefined;
  readonly status?: UserRow["status"] | undefined;
  readonly email?: string | undefined;
  readonly role?: string | undefined;
  /** The beginning of the name, in upper or lower case. */
  readonly name?: string | undefined;
  readonly subject?: string | undefined;
  readonly created_after?: Date | undefined;
  readonly created_before?: Date | undefined;
}

/** The users in a list; users of deleted customers are not included. */
export function selectUsers(db: Knex, filters: UserFilters): Knex.QueryBuilder {
  const { customer_id, status, email, role, name, subject, created_after, created_before } = filters;
  const query = users(db).select(USER_COLUMNS.map((column) => `users.${column}`));
  if (customer_id !== undefined) void query.where("users.customer_id", customer_id);
  else void query.whereExists(customers(db).select("id").whereRaw("customers.id = users.customer_id"));
  if (status !== undefined) void query.where("users.status", status);
  if (email !== undefined) void query.whereRaw("lower(users.email) = ?", [email]);
  if (role !== undefined) void query.where("users.role", role);
  // the database folds both sides alike
  if (name !== undefined)
    void query.whereRaw("lower(users.name) like lower(?)", [`${name.replace(/[\\%_]/g, "\\$&")}%`]);
  if (subject !== undefined) void query.where("users.subject", subject);
  if (created_after !== undefined) void query.where("users.created_at", ">", created_after);
  if (created_before !== undefined) void query.where("users.created_at", "<", created_before);
  return query;
}

/** @throws ApiError USER_NOT_FOUND, also for users of customers that the actor must not see */
export async function requireUser(db: Knex, actor: Actor, id: string): Promise<UserRow> {
  return requireVisible(db, actor, id, await findUser(db, id));
}

/** Adds a user before their first sign-in, so that their attributes apply from the first request on. */
export async function createUser(
  unit: UnitOfWork,
  customerId: string,
  input: {
    readonly subject: string;
    readonly email?: string | undefined;
    readonly name?: string | undefined;
    readonly attributes: UserAttributes;
  },
  environment: Environment,
): Promise<UserRow> {
  const { subject, email, name, attributes } = input;
  const { actor } = unit.origin;
  await requireCustomer(unit.trx, actor, customerId, "path");
  // otherwise it could be deleted meanwhile, and its users erased
  if ((await lockCustomerShared(unit.trx, customerId)) === undefined)
    throw invalidCustomer(customerId, "path");
  if (Object.keys(attributes).length > 0) requireOperator(actor);
  // nobody signs in at the configured provider in the sandbox
  const idp = environment === "sandbox" ? undefined : await findIdp(unit.trx, customerId);
  const known = await users(unit.trx)
    .where({ customer_id: customerId, subject })
    // a user of a provider that the customer no longer has is another person
    .modify((query) => {
      if (idp !== undefined)
        void query.where((either) => void either.where("issuer", idp.issuer).orWhereNull("issuer"));
    })
    .first<{ id: string } | undefined>("id");
  const row = known
    ? undefined
    : await insertUser(unit, {
        customerId,
        issuer: null,
        subject,
        ...(email !== undefined && { email }),
        ...(name !== undefined && { name }),
        claimed: null,
        profile: {},
        attributes,
        lastSignInAt: null,
      });
  if (row !== undefined) return row;
  throw new ApiError("DUPLICATE", {
    message: "the subject is already in use by a user of the customer",
    details: { customer_id: customerId, subject },
  });
}

/** Changes status or attributes. Suspending a user also ends their sessions, in the same unit. */
export async function updateUser(
  unit: UnitOfWork,
  id: string,
  change: (before: UserRow) => {
    readonly status?: UserRow["status"] | undefined;
    readonly attributes?: UserAttributes | undefined;
  },
  call: Conditional,
): Promise<UserRow> {
  const { trx, origin } = unit;
  const before = await requireVisible(trx, origin.actor, id, await lockUser(trx, id));
  call.ifMatch(etagOf(before));
  const { status = before.status, attributes = before.attributes } = change(before);
  const same = status === before.status && isDeepStrictEqual(attributes, before.attributes);
  if (same) return before;
  // a customer's own key may lock a user out, but do nothing that could let one in: attributes may refer to other
  // customers
  const shutsOut = status === "suspended" && isDeepStrictEqual(attributes, before.attributes);
  if (!shutsOut) requireOperator(origin.actor);
  const after = await changeUser(unit, before, { status, attributes });
  if (after.status === "suspended" && before.status !== "suspended")
    await endSessions(unit, { userId: id }, "user_suspended");
  return after;
}

/**
 * Deletes a user: their sessions end, their tokens are refused, and a later sign-in creates another user. Their
 * personal data are erased from the directory at once, and from everything else soon after.
 */
export async function deleteUser(unit: UnitOfWork, id: string, call: Conditional): Promise<void> {
  const { trx, origin, now } = unit;
  const before = await requireVisible(trx, origin.actor, id, await lockUser(trx, id));
  // the next sign-in would create a user without the attributes and the status that were set
  requireOperator(origin.actor);
  call.ifMatch(etagOf(before));
  await trx("users")
    .where({ id })
    .update({
      ...{ ...ERASED_USER, subject: id, erased_at: now },
      ...{ deleted_at: now, updated_at: now, revision: before.revision + 1 },
    });
  const { customer_id: customerId, subject } = before;
  await requestErasure(unit, { kind: "user", id, customerId, subject, users: 1 });
  await endSessions(unit, { userId: id }, "user_deleted");
  unit.record({ action: "user.deleted", target: { type: "user", id }, customerId });
  unit.emit({
    type: "user.deleted",
    customerId,
    userId: id,
    data: { user: { id, customer_id: customerId } },
  });
  unit.notifyGateways({ type: "user_changed", user_id: id, customer_id: before.customer_id });
}

/** As returned by the API: with the provider's claims that are accepted now. */
export async function presentUsers(
  { settings }: Pick<ControlContext, "settings">,
  db: Knex,
  rows: readonly UserRow[],
): Promise<readonly object[]> {
  const rules = await claimRulesOf(
    db,
    rows.map((row) => row.customer_id),
  );
  return rows.map((row) => {
    const policy = claimPolicyOf(settings, rules.get(row.customer_id) ?? NO_CLAIMS, row.issuer);
    const { permitted, dropped } = permittedClaims(row, policy);
    return {
      ...row,
      profile: permitted,
      dropped_claims: dropped,
      effective_attributes: effectiveAttributes(row, policy),
    };
  });
}

async function requireVisible(
  db: Knex,
  actor: Actor,
  id: string,
  row: UserRow | undefined,
): Promise<UserRow> {
  const only = onlyCustomerOf(actor);
  const visible =
    row !== undefined &&
    (only === undefined || row.customer_id === only) &&
    (await findCustomer(db, row.customer_id)) !== undefined;
  if (!visible) throw new ApiError("USER_NOT_FOUND", { details: { user_id: id } });
  return row;
}

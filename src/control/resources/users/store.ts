import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";
import { lockRowsUntilEnd, lockRowShared } from "../../../storage/index.ts";
import type { Value } from "../../../policy/index.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { isExactAttribute, RESERVED_NAMES, type UserAttributes } from "../../tenancy/attributes.ts";
import { permitClaims, type ClaimPolicy } from "../../tenancy/permit-claims.ts";

/** A user of a customer. */
export interface UserRow {
  readonly id: string;
  readonly customer_id: string;
  /** The identity provider; `null` until the first sign-in. */
  readonly issuer: string | null;
  /** The user's id there: a `sub` is unique only within its issuer (OpenID Connect Core 1.0, section 2). */
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly status: "active" | "suspended";
  /** All claims of the provider at the sign-in of `claimed_at`; read by {@link claimsOf}. */
  readonly claimed: UserAttributes | null;
  /** An instance of the previous release leaves both unchanged at a sign-in, and stores all claims in `profile`. */
  readonly claimed_at: Date | null;
  /** The claims that were accepted at that time, for searching; whenever they are read, they are filtered again. */
  readonly profile: UserAttributes;
  /** Set by administrators; they override the profile. */
  readonly attributes: UserAttributes;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_sign_in_at: Date | null;
  readonly revision: number;
}

/** Columns of a {@link UserRow}. */
export const USER_COLUMNS = [
  "id",
  "customer_id",
  "issuer",
  "subject",
  "email",
  "name",
  "status",
  "claimed",
  "claimed_at",
  "profile",
  "attributes",
  "created_at",
  "updated_at",
  "last_sign_in_at",
  "revision",
] as const satisfies readonly (keyof UserRow)[];

/** Existing users: not deleted, and of the requested customer. */
export function users(db: Knex) {
  return db("users").whereNull("users.deleted_at");
}

export async function findUser(db: Knex, id: string): Promise<UserRow | undefined> {
  return users(db)
    .where({ id })
    .first<UserRow | undefined>([...USER_COLUMNS]);
}

/** Reads a user who is about to change; others wait, except those who only refer to the row. */
export async function lockUser(trx: Knex.Transaction, id: string): Promise<UserRow | undefined> {
  await lockRowsUntilEnd(trx, "users", [id]);
  return users(trx)
    .where({ id })
    .forNoKeyUpdate()
    .first<UserRow | undefined>([...USER_COLUMNS]);
}

/** A user's identity at a customer's identity provider. */
export interface SubjectOfIssuer {
  readonly customerId: string;
  readonly issuer: string;
  readonly subject: string;
}

/** What the provider says about the user who has signed in. */
export interface SignIn extends SubjectOfIssuer {
  /** Only an address that the provider has verified. */
  readonly email?: string;
  readonly name?: string;
  /** The accepted part of the provider's claims. */
  readonly profile: UserAttributes;
  readonly claimed: UserAttributes;
}

/** Maximum number of conflicts with other transactions; more would be a defect. */
const ATTEMPTS = 5;

/**
 * Finds or creates the user who has signed in, and stores what the provider says about them. A suspended user is not
 * changed: the caller checks `status`.
 */
export async function upsertOnSignIn(unit: UnitOfWork, input: SignIn): Promise<UserRow> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const known = await lockBySubject(unit.trx, input);
    if (known !== undefined) return known.status === "suspended" ? known : takeOver(unit, known, input);
    const made = await insertUser(unit, { ...input, attributes: {}, lastSignInAt: unit.now });
    if (made !== undefined) return made;
  }
  throw new Error("a user is made and deleted again and again");
}

/** @returns `undefined` if there is already a user with that subject */
export async function insertUser(
  unit: UnitOfWork,
  input: Omit<SignIn, "issuer" | "claimed"> & {
    readonly issuer: string | null;
    readonly claimed: UserAttributes | null;
    readonly attributes: UserAttributes;
    readonly lastSignInAt: Date | null;
  },
): Promise<UserRow | undefined> {
  const row = {
    id: newId("user"),
    customer_id: input.customerId,
    issuer: input.issuer,
    subject: input.subject,
    email: input.email ?? null,
    name: input.name ?? null,
    status: "active",
    claimed: input.claimed === null ? null : JSON.stringify(input.claimed),
    claimed_at: input.claimed === null ? null : input.lastSignInAt,
    profile: JSON.stringify(input.profile),
    attributes: JSON.stringify(input.attributes),
    created_at: unit.now,
    updated_at: unit.now,
    last_sign_in_at: input.lastSignInAt,
  };
  // waits for a transaction that is creating the same user
  const [made] = await unit
    .trx("users")
    .insert(row)
    .onConflict()
    .ignore()
    .returning<UserRow[]>([...USER_COLUMNS]);
  if (made === undefined) return undefined;
  unit.record({
    action: "user.created",
    target: { type: "user", id: made.id },
    customerId: made.customer_id,
    after: recordedUser(made),
  });
  return made;
}

/**
 * Finds the user and locks the row: the user with that issuer and subject, otherwise one that was added beforehand
 * for the subject, which the first sign-in with that subject claims. The same subject of another issuer is another user.
 */
export async function lockBySubject(
  trx: Knex.Transaction,
  { customerId, issuer, subject }: SubjectOfIssuer,
): Promise<UserRow | undefined> {
  const found = () =>
    users(trx)
      .where({ customer_id: customerId, subject })
      .where((either) => void either.where({ issuer }).orWhereNull("issuer"))
      .orderByRaw("issuer nulls last");
  const known = await found().first<{ readonly id: string } | undefined>("id");
  // before the row, in the order of all transactions: one that goes on to issue tokens takes this lock, too
  if (known !== undefined) await lockRowShared(trx, "users", known.id);
  return found()
    .forUpdate()
    .first<UserRow | undefined>([...USER_COLUMNS]);
}

/** Whether attributes were set for a user who has not signed in yet: the first sign-in with that subject gets them. */
export async function attributesAwaitSomebody(db: Knex, customerId: string): Promise<boolean> {
  const row: unknown = await users(db)
    .where({ customer_id: customerId })
    .whereNull("issuer")
    .whereRaw("attributes <> '{}'")
    .first("id");
  return row !== undefined;
}

async function takeOver(
  unit: UnitOfWork,
  before: UserRow,
  { issuer, email, name, profile, claimed }: SignIn,
): Promise<UserRow> {
  if (before.issuer === null) await unit.trx("users").where({ id: before.id }).update({ issuer });
  const now = { email: email ?? null, name: name ?? null, profile, claimed };
  const old = {
    email: before.email,
    name: before.name,
    profile: before.profile,
    claimed: claimedLast(before),
  };
  const at = { claimed_at: unit.now, last_sign_in_at: unit.now };
  // a sign-in that changes nothing does not change the revision
  if (isDeepStrictEqual(now, old)) {
    await unit.trx("users").where({ id: before.id }).update(at);
    return { ...before, ...at };
  }
  return changeUser(unit, before, { ...now, ...at });
}

/** The members of a user that change. */
export type UserChange = Partial<
  Pick<
    UserRow,
    "email" | "name" | "status" | "claimed" | "claimed_at" | "profile" | "attributes" | "last_sign_in_at"
  >
>;

/** Writes a change of a user that this transaction has locked, and announces it. */
export async function changeUser(unit: UnitOfWork, before: UserRow, change: UserChange): Promise<UserRow> {
  const { claimed, profile, attributes, ...plain } = change;
  const [after] = await unit
    .trx("users")
    .where({ id: before.id })
    .update({
      ...plain,
      ...(claimed !== undefined && { claimed: JSON.stringify(claimed) }),
      ...(profile !== undefined && { profile: JSON.stringify(profile) }),
      ...(attributes !== undefined && { attributes: JSON.stringify(attributes) }),
      updated_at: unit.now,
      revision: before.revision + 1,
    })
    .returning<UserRow[]>([...USER_COLUMNS]);
  if (after === undefined) throw new Error(`user ${before.id} was locked and is gone`);
  unit.record({
    action: "user.updated",
    target: { type: "user", id: after.id },
    customerId: after.customer_id,
    before: recordedUser(before),
    after: recordedUser(after),
  });
  unit.notifyGateways({ type: "user_changed", user_id: after.id, customer_id: after.customer_id });
  return after;
}

type Claims = Pick<UserRow, "claimed" | "claimed_at" | "last_sign_in_at" | "profile">;

/** All claims of the provider at the last sign-in; `null` if they are in `profile`. */
function claimedLast({ claimed, claimed_at: at, last_sign_in_at: last }: Claims): UserAttributes | null {
  return at !== null && at.getTime() === last?.getTime() ? claimed : null;
}

/** The provider's claims at the last sign-in, as far as they are known. */
function claimsOf(row: Claims): UserAttributes {
  return claimedLast(row) ?? row.profile;
}

/** The provider's claims about a user that are accepted by the current rules, and those that are not. */
export function permittedClaims(row: Claims, policy: ClaimPolicy) {
  return permitClaims(claimsOf(row), policy);
}

/**
 * The user as policies and tokens see it: the accepted claims, overridden by the attributes set by administrators,
 * overridden by the user's own members. An attribute with a number that may be rounded is left out, together with
 * whatever it would override.
 */
export function effectiveAttributes(row: UserRow, policy: ClaimPolicy): Record<string, Value> {
  const given = Object.entries({ ...permittedClaims(row, policy).permitted, ...row.attributes });
  return {
    ...Object.fromEntries(
      given.filter(([name, value]) => !RESERVED_NAMES.includes(name) && isExactAttribute(value)),
    ),
    id: row.id,
    ...(row.email !== null && { email: row.email }),
    ...(row.name !== null && { name: row.name }),
    customer_id: row.customer_id,
  };
}

/** The user as recorded in the audit trail, with all of the provider's claims only if not all of them were accepted. */
export function recordedUser(row: UserRow): Record<string, unknown> {
  const { subject, email, name, status, profile, attributes } = row;
  const written = { subject, email, name, status, profile, attributes };
  const claimed = claimsOf(row);
  return isDeepStrictEqual(claimed, profile) ? written : { ...written, claimed };
}

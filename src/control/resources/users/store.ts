import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";
import type { Value } from "../../../policy/index.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { isExactAttribute, RESERVED_NAMES, type UserAttributes } from "../../tenancy/attributes.ts";
import { permitClaims, type ClaimPolicy } from "../../tenancy/permit-claims.ts";

/** A user of a customer. */
export interface UserRow {
  readonly id: string;
  readonly customer_id: string;
  /** The identity provider; `null` for whom nobody has signed in as yet. */
  readonly issuer: string | null;
  /** Who it is there: a `sub` is unique within its issuer alone (OpenID Connect Core 1.0, section 2). */
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly status: "active" | "suspended";
  /** All that the provider claimed at the sign-in of `claimed_at`; read by {@link claimsOf}. */
  readonly claimed: UserAttributes | null;
  /** An instance of the release before leaves both as they are at a sign-in, and puts all that was claimed into `profile`. */
  readonly claimed_at: Date | null;
  /** Of that, what was permitted then: for searching; what counts is permitted again whenever it is read. */
  readonly profile: UserAttributes;
  /** Set by administrators; they win over the profile. */
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

/** Users that exist: neither deleted, nor of another customer than asked for. */
export function users(db: Knex) {
  return db("users").whereNull("users.deleted_at");
}

export async function findUser(db: Knex, id: string): Promise<UserRow | undefined> {
  return users(db)
    .where({ id })
    .first<UserRow | undefined>([...USER_COLUMNS]);
}

/** Reads a user who is about to be changed; others wait, but for those who only refer to the row. */
export async function lockUser(trx: Knex.Transaction, id: string): Promise<UserRow | undefined> {
  return users(trx)
    .where({ id })
    .forNoKeyUpdate()
    .first<UserRow | undefined>([...USER_COLUMNS]);
}

/** Who somebody is to a customer's identity provider. */
export interface SubjectOfIssuer {
  readonly customerId: string;
  readonly issuer: string;
  readonly subject: string;
}

/** What the provider says of who has signed in. */
export interface SignIn extends SubjectOfIssuer {
  /** Only one that the provider has verified. */
  readonly email?: string;
  readonly name?: string;
  /** Of what the provider claimed, what is permitted. */
  readonly profile: UserAttributes;
  readonly claimed: UserAttributes;
}

/** How often another transaction may come between before it is a defect. */
const ATTEMPTS = 5;

/**
 * Finds or makes the user who has signed in, and takes over what the provider says of them. One who is suspended stays
 * as they are: the caller checks `status`.
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

/** @returns `undefined` where there is one of that subject already */
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
  // waits for a transaction that is just making the same one
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
 * Finds who somebody is, and locks the row: the user of that issuer and subject, else one that was added beforehand, who
 * is whoever signs in with the subject first. A user of another issuer is somebody else.
 */
export async function lockBySubject(
  trx: Knex.Transaction,
  { customerId, issuer, subject }: SubjectOfIssuer,
): Promise<UserRow | undefined> {
  return users(trx)
    .where({ customer_id: customerId, subject })
    .where((either) => void either.where({ issuer }).orWhereNull("issuer"))
    .orderByRaw("issuer nulls last")
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
  // a sign-in that brings nothing new changes no revision
  if (isDeepStrictEqual(now, old)) {
    await unit.trx("users").where({ id: before.id }).update(at);
    return { ...before, ...at };
  }
  return changeUser(unit, before, { ...now, ...at });
}

/** Members of a user that change. */
export type UserChange = Partial<
  Pick<
    UserRow,
    "email" | "name" | "status" | "claimed" | "claimed_at" | "profile" | "attributes" | "last_sign_in_at"
  >
>;

/** Writes a change of a user that this transaction has locked, and tells of it. */
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

/** All that the provider claimed at the last sign-in; `null` where `profile` has it. */
function claimedLast({ claimed, claimed_at: at, last_sign_in_at: last }: Claims): UserAttributes | null {
  return at !== null && at.getTime() === last?.getTime() ? claimed : null;
}

/** What the provider claimed at the last sign-in, as far as it is known. */
function claimsOf(row: Claims): UserAttributes {
  return claimedLast(row) ?? row.profile;
}

/** What of the provider's claims about a user counts by the rules of this moment, and what does not. */
export function permittedClaims(row: Claims, policy: ClaimPolicy) {
  return permitClaims(claimsOf(row), policy);
}

/**
 * What policies and tokens know of a user: what the provider may say, over it what administrators set, over both what the
 * user is. An attribute whose number may be rounded is not there, and nor is what it would win over.
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

/** What the audit trail keeps of a user; all that the provider claimed only where not all of it counted. */
export function recordedUser(row: UserRow): Record<string, unknown> {
  const { subject, email, name, status, profile, attributes } = row;
  const written = { subject, email, name, status, profile, attributes };
  const claimed = claimsOf(row);
  return isDeepStrictEqual(claimed, profile) ? written : { ...written, claimed };
}

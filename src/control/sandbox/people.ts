import type { Knex } from "knex";
import { onlyCustomerOf, type Actor } from "../platform/actor.ts";
import { ApiError } from "../platform/errors.ts";
import { erasePersonChanges } from "../resources/erasure/person-changes.ts";
import { newId } from "../platform/ids.ts";
import type { UnitOfWork } from "../platform/unit.ts";
import type { UserAttributes } from "../tenancy/attributes.ts";
import { isUniqueViolation } from "../../storage/index.ts";

/** A row of `sandbox_people`: somebody whom one can sign in as. */
export interface PersonRow {
  readonly id: string;
  /** `null`: at every customer. */
  readonly customer_id: string | null;
  /** What they are picked by; in lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: string | null;
  readonly department: string | null;
  readonly permissions: readonly string[];
  readonly attributes: UserAttributes;
  /** How they prove who they are (RFC 8176). */
  readonly amr: readonly string[];
  readonly created_at: Date;
}

export type NewPerson = Omit<PersonRow, "id" | "created_at">;

/** People whom the actor may see: of its customer, and those of all customers. */
export function peopleFor(db: Knex, actor: Actor): Knex.QueryBuilder {
  return peopleOf(db, onlyCustomerOf(actor));
}

/** People who can sign in at a customer; without a customer, everybody. */
export function peopleOf(db: Knex, customerId: string | undefined): Knex.QueryBuilder {
  const query: Knex.QueryBuilder = db("sandbox_people");
  if (customerId !== undefined)
    void query.where((either) => void either.where("customer_id", customerId).orWhereNull("customer_id"));
  return query;
}

export async function findPerson(db: Knex, customerId: string, id: string): Promise<PersonRow | undefined> {
  return peopleOf(db, customerId).where({ id }).first<PersonRow | undefined>();
}

/** By e-mail address; the customer's own before one of all customers. */
export async function findPersonByEmail(
  db: Knex,
  customerId: string,
  email: string,
): Promise<PersonRow | undefined> {
  return peopleOf(db, customerId)
    .where({ email: email.trim().toLowerCase() })
    .orderByRaw("customer_id nulls last")
    .first<PersonRow | undefined>();
}

/** @throws ApiError DUPLICATE */
export async function insertPerson(unit: UnitOfWork, person: NewPerson): Promise<PersonRow> {
  const row: PersonRow = { ...person, id: newId("person"), created_at: unit.now };
  const { permissions, attributes, amr } = row;
  try {
    await unit.trx("sandbox_people").insert({
      ...row,
      permissions: JSON.stringify(permissions),
      attributes: JSON.stringify(attributes),
      amr: JSON.stringify(amr),
    });
  } catch (error) {
    if (!isUniqueViolation(error, "sandbox_people_email")) throw error;
    throw new ApiError("DUPLICATE", {
      message: "the e-mail address is already in use by a person of the customer",
      details: { email: row.email, customer_id: row.customer_id },
    });
  }
  unit.record({ action: "sandbox_person.created", ...aboutPerson(row), after: recordedOf(row) });
  return row;
}

/** @throws ApiError PERSON_NOT_FOUND, for those whom the actor's key must not touch too */
export async function deletePerson(unit: UnitOfWork, actor: Actor, id: string): Promise<PersonRow> {
  const query = unit.trx("sandbox_people").where({ id });
  const only = onlyCustomerOf(actor);
  if (only !== undefined) void query.where({ customer_id: only });
  const [row] = await query.delete().returning<PersonRow[]>("*");
  if (row === undefined) throw new ApiError("PERSON_NOT_FOUND", { details: { person_id: id } });
  await erasePersonChanges(unit.trx, id);
  unit.record({ action: "sandbox_person.deleted", ...aboutPerson(row) });
  return row;
}

function aboutPerson({ id, customer_id: customerId }: PersonRow) {
  return {
    target: { type: "sandbox_person", id },
    ...(customerId !== null && { customerId }),
  };
}

function recordedOf({ email, name, role, department, permissions, attributes, amr }: PersonRow) {
  return { email, name, role, department, permissions, attributes, amr };
}

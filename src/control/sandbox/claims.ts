import type { Knex } from "knex";
import { peopleOf, type PersonRow } from "./people.ts";

/** What a provider says of a person, besides who it is. */
export type Described = Pick<
  PersonRow,
  "email" | "name" | "role" | "department" | "permissions" | "attributes"
>;

/** Attributes that are claims by themselves; every other one is a member of the claim `attributes`. */
const OWN_CLAIMS: readonly string[] = ["roles", "groups", "assigned_customers"];

/** Which claims a scope brings (OpenID Connect Core 1.0, section 5.4). */
export const CLAIMS_OF_SCOPES = {
  openid: ["sub", "amr", "acr"],
  profile: ["name", "role", "roles", "department", "permissions", "assigned_customers", "attributes"],
  email: ["email", "email_verified"],
  groups: ["groups"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The claims of a person. */
export function claimsOf({ email, name, role, department, permissions, attributes }: Described) {
  const given = Object.entries(attributes);
  return {
    name,
    email,
    email_verified: true,
    ...(role !== null && { role }),
    ...(department !== null && { department }),
    permissions: [...permissions],
    ...Object.fromEntries(given.filter(([attribute]) => OWN_CLAIMS.includes(attribute))),
    attributes: Object.fromEntries(given.filter(([attribute]) => !OWN_CLAIMS.includes(attribute))),
  };
}

/** Where attributes of these names are among the claims: a configuration of `claims`, as customers' providers have. */
export function mappingOf(attributes: readonly string[]): Record<string, string> {
  const free = attributes.filter((name) => !OWN_CLAIMS.includes(name));
  return {
    ...Object.fromEntries(free.map((name) => [name, `attributes.${name}`])),
    assigned_customers: "assigned_customers",
  };
}

/** Names of the attributes that people of a customer have. */
export async function attributeNames(db: Knex, customerId: string): Promise<string[]> {
  const names = peopleOf(db, customerId).select(db.raw("jsonb_object_keys(attributes) as name"));
  return db.from(names.as("names")).distinct("name").orderBy("name").pluck<string[]>("name");
}

import type { Knex } from "knex";
import { findIdp, type IdpRow } from "../tenancy/idp.ts";
import type { CustomerRow } from "../tenancy/customers.ts";

/** The provider at which the users of a customer sign in; `undefined` if there is none. */
export type ResolveProvider = (
  db: Knex,
  customer: Pick<CustomerRow, "id" | "created_at">,
) => Promise<IdpRow | undefined>;

/** The provider that the customer has configured. */
export const configuredProvider: ResolveProvider = (db, { id }) => findIdp(db, id);

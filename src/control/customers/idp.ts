import type { Knex } from "knex";
import type { SecretBox } from "../secret-box.ts";

export const IDP_TYPES = ["oidc", "okta", "auth0", "entra", "google", "keycloak"] as const;
export type IdpType = (typeof IDP_TYPES)[number];

/** A row of `customer_idps`. */
export interface IdpRow {
  readonly customer_id: string;
  readonly type: IdpType;
  readonly domain: string;
  /** Exactly as the provider writes it in its ID tokens. */
  readonly issuer: string;
  readonly tenant: string | null;
  readonly realm: string | null;
  readonly client_id: string;
  /** Sealed. */
  readonly client_secret: string;
  readonly scopes: string[];
  /** Our claim to the provider's claim. */
  readonly claims: Record<string, string>;
  /** When discovery confirmed it; null where it was switched off. */
  readonly verified_at: Date | null;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** @returns the identity provider of a customer. */
export async function findIdp(db: Knex, customerId: string): Promise<IdpRow | undefined> {
  return db("customer_idps").where({ customer_id: customerId }).first<IdpRow | undefined>();
}

export function sealClientSecret(box: SecretBox, customerId: string, secret: string): string {
  return box.seal(secret, purpose(customerId));
}

/** The client secret in the clear, for the provider alone. */
export function openClientSecret(box: SecretBox, idp: Pick<IdpRow, "customer_id" | "client_secret">): string {
  return box.open(idp.client_secret, purpose(idp.customer_id));
}

function purpose(customerId: string): string {
  return `idp.client_secret:${customerId}`;
}

import type { Knex } from "knex";
import type { SealedColumns } from "../platform/sealed-columns.ts";
import type { SecretBox } from "../platform/secret-box.ts";

export const IDP_TYPES = ["oidc", "okta", "auth0", "entra", "google", "keycloak"] as const;
export type IdpType = (typeof IDP_TYPES)[number];

/** The evidence that a provider can give, according to its metadata; `null` if they do not say. */
export interface IdpCapabilities {
  /** Whether its ID tokens can contain the time of authentication. */
  readonly auth_time: boolean | null;
  /** Whether they can contain the methods of authentication. */
  readonly amr: boolean | null;
  /** The classes of authentication that it knows. */
  readonly acr_values: readonly string[] | null;
  /** Whether it can be asked to authenticate the user again (`prompt=login`). */
  readonly prompt_login: boolean | null;
}

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
  /** Encrypted. */
  readonly client_secret: string;
  readonly scopes: string[];
  /** Our claim to the provider's claim. */
  readonly claims: Record<string, string>;
  /** Values of `acr` that count as multi-factor authentication; null: the documented ones of its type. */
  readonly mfa_acr_values: readonly string[] | null;
  /** When discovery verified it; null if that was switched off, and in the sandbox. */
  readonly verified_at: Date | null;
  /** Its announcements at that time. */
  readonly capabilities: IdpCapabilities | null;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Claims that are accepted under the same name, unless the configuration maps them. */
export const DEFAULT_CLAIMS = ["role", "roles", "department", "permissions", "groups"] as const;

/** @returns the identity provider of a customer. */
export async function findIdp(db: Knex, customerId: string): Promise<IdpRow | undefined> {
  return db("customer_idps").where({ customer_id: customerId }).first<IdpRow | undefined>();
}

/** Whether more than one customer has its own identity provider. */
export async function haveSeveralProviders(db: Knex): Promise<boolean> {
  const rows: readonly unknown[] = await db("customer_idps").limit(2).select("customer_id");
  return rows.length > 1;
}

export function sealClientSecret(box: SecretBox, customerId: string, secret: string): string {
  return box.seal(secret, purpose(customerId));
}

/** The client secret in clear text, only for the provider. */
export function openClientSecret(box: SecretBox, idp: Pick<IdpRow, "customer_id" | "client_secret">): string {
  return box.open(idp.client_secret, purpose(idp.customer_id));
}

/** Client secrets of identity providers. */
export const SEALED_IDP: SealedColumns = {
  table: "customer_idps",
  key: ["customer_id"],
  columns: ["client_secret"],
  purpose: ({ customer_id = "" }) => purpose(customer_id),
};

function purpose(customerId: string): string {
  return `idp.client_secret:${customerId}`;
}

import type { Knex } from "knex";
import type { SealedColumns } from "../platform/sealed-columns.ts";
import type { SecretBox } from "../platform/secret-box.ts";

export const IDP_TYPES = ["oidc", "okta", "auth0", "entra", "google", "keycloak"] as const;
export type IdpType = (typeof IDP_TYPES)[number];

/** What a provider's metadata tell of the evidence that it can give; `null`: they do not say. */
export interface IdpCapabilities {
  /** Whether its ID tokens can hold the time of authentication. */
  readonly auth_time: boolean | null;
  /** Whether they can hold the methods of authentication. */
  readonly amr: boolean | null;
  /** Which classes of authentication it knows. */
  readonly acr_values: readonly string[] | null;
  /** Whether it can be asked to have the user prove again who they are (`prompt=login`). */
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
  /** Sealed. */
  readonly client_secret: string;
  readonly scopes: string[];
  /** Our claim to the provider's claim. */
  readonly claims: Record<string, string>;
  /** Values of `acr` that count as multi-factor authentication; null: those of its type. */
  readonly mfa_acr_values: readonly string[] | null;
  /** When discovery confirmed it; null where it was switched off, and in the sandbox. */
  readonly verified_at: Date | null;
  /** What it said of itself then. */
  readonly capabilities: IdpCapabilities | null;
  readonly revision: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Claims that are taken over under the same name, unless the configuration maps them. */
export const DEFAULT_CLAIMS = ["role", "roles", "department", "permissions", "groups"] as const;

/** @returns the identity provider of a customer. */
export async function findIdp(db: Knex, customerId: string): Promise<IdpRow | undefined> {
  return db("customer_idps").where({ customer_id: customerId }).first<IdpRow | undefined>();
}

/** Whether customers have identity providers of their own, and more than one of them has. */
export async function haveSeveralProviders(db: Knex): Promise<boolean> {
  const rows: readonly unknown[] = await db("customer_idps").limit(2).select("customer_id");
  return rows.length > 1;
}

export function sealClientSecret(box: SecretBox, customerId: string, secret: string): string {
  return box.seal(secret, purpose(customerId));
}

/** The client secret in the clear, for the provider alone. */
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

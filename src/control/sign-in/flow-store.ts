import type { Knex } from "knex";
import type { SealedColumns } from "../platform/sealed-columns.ts";

/** A sign-in in progress: from `authorize` until the provider sends the browser back. */
export interface FlowRow {
  readonly id: string;
  readonly state_hash: string;
  readonly customer_id: string;
  readonly client_id: string;
  readonly return_url: string;
  /** The provider to which the browser was sent. */
  readonly issuer: string;
  readonly idp_client_id: string;
  /** Encrypted: {@link FlowSecrets}. */
  readonly secrets: string;
  /** Sent to the provider, and to nobody else. */
  readonly scope: string;
  /** As requested by the application. */
  readonly max_age: number | null;
  /**
   * The provider never reports the time of authentication, and was asked to authenticate the user again, so the sign-in
   * here counts.
   */
  readonly asked_fresh: boolean;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** Secrets with which each side of a flow verifies that the other one is the same as before. */
export interface FlowSecrets {
  readonly verifier: string;
  readonly nonce: string;
}

/** Stores the secrets of flows, encrypted. */
export const SEALED_FLOWS: SealedColumns = {
  table: "sign_in_flows",
  key: ["id"],
  columns: ["secrets"],
  purpose: ({ id = "" }) => flowSecretsPurpose(id),
};

export function flowSecretsPurpose(flowId: string): string {
  return `sign_in_flow.secrets:${flowId}`;
}

export async function insertFlow(trx: Knex.Transaction, row: FlowRow): Promise<void> {
  await trx("sign_in_flows").insert(row);
}

/** @returns the flow, if it can be consumed */
export function findFlow(db: Knex, stateHash: string, now: Date): Promise<FlowRow | undefined> {
  return unused(db, stateHash, now).first<FlowRow | undefined>();
}

/**
 * Consumes a flow permanently: of two callbacks with one state, the second finds nothing, whatever happens to the
 * first.
 */
export async function claimFlow(db: Knex, stateHash: string, now: Date): Promise<FlowRow | undefined> {
  const [row] = await unused(db, stateHash, now).update({ used_at: now }).returning<FlowRow[]>("*");
  return row;
}

function unused(db: Knex, stateHash: string, now: Date): Knex.QueryBuilder {
  return db("sign_in_flows")
    .where({ state_hash: stateHash })
    .whereNull("used_at")
    .where("expires_at", ">", now);
}

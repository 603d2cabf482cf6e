import type { Knex } from "knex";
import type { SealedColumns } from "../platform/sealed-columns.ts";

/** A sign-in under way: from `authorize` until the provider sends the browser back. */
export interface FlowRow {
  readonly id: string;
  readonly state_hash: string;
  readonly customer_id: string;
  readonly client_id: string;
  readonly return_url: string;
  /** The provider that the browser was sent to. */
  readonly issuer: string;
  readonly idp_client_id: string;
  /** Sealed: {@link FlowSecrets}. */
  readonly secrets: string;
  /** What the provider is asked for, and nobody else is told. */
  readonly scope: string;
  /** As the application asked for it. */
  readonly max_age: number | null;
  /** The provider never says when, and was asked to have the user prove again who they are: the sign-in here counts. */
  readonly asked_fresh: boolean;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** What proves to the provider, and by the provider, that both ends of a flow are one. */
export interface FlowSecrets {
  readonly verifier: string;
  readonly nonce: string;
}

/** What proves the flows under way. */
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

/**
 * Takes a flow, for good: of two answers with one state the second finds nothing, whatever becomes of the first.
 */
export async function claimFlow(db: Knex, stateHash: string, now: Date): Promise<FlowRow | undefined> {
  const [row] = await db("sign_in_flows")
    .where({ state_hash: stateHash })
    .whereNull("used_at")
    .where("expires_at", ">", now)
    .update({ used_at: now })
    .returning<FlowRow[]>("*");
  return row;
}

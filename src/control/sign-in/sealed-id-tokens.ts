import type { SealedColumns } from "../platform/sealed-columns.ts";

/** ID tokens, used as hints for the provider's logout. */
export const SEALED_ID_TOKENS: SealedColumns = {
  table: "sessions",
  key: ["id"],
  columns: ["id_token"],
  purpose: ({ id = "" }) => idTokenPurpose(id),
};

export function idTokenPurpose(sessionId: string): string {
  return `session.id_token:${sessionId}`;
}

import type { Knex } from "knex";
import { hashSecret, newSecret } from "../secret-box.ts";

/** What a session's first tokens, and later ones, are asked for with. Both are stored as hashes. */
export interface CodeRow {
  readonly code_hash: string;
  readonly session_id: string;
  readonly state_hash: string;
  readonly return_url: string;
  readonly expires_at: Date;
  readonly used_at: Date | null;
}

export interface RefreshTokenRow {
  readonly token_hash: string;
  readonly session_id: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used_at: Date | null;
}

/** Makes a one-time code. */
export async function makeCode(
  trx: Knex.Transaction,
  row: Omit<CodeRow, "code_hash" | "used_at">,
): Promise<string> {
  const code = newSecret();
  await trx("sign_in_codes").insert({ ...row, code_hash: hashSecret(code) });
  return code;
}

export async function findCode(db: Knex, code: string): Promise<CodeRow | undefined> {
  return db("sign_in_codes")
    .where({ code_hash: hashSecret(code) })
    .first<CodeRow | undefined>();
}

export async function useCode(trx: Knex.Transaction, code: string, now: Date): Promise<void> {
  await trx("sign_in_codes")
    .where({ code_hash: hashSecret(code) })
    .update({ used_at: now });
}

/** Its beginning tells scanners for leaked secrets what it is. */
const REFRESH_TOKEN_PREFIX = "ghr_";

export async function makeRefreshToken(
  trx: Knex.Transaction,
  row: Omit<RefreshTokenRow, "token_hash" | "used_at">,
): Promise<string> {
  const token = `${REFRESH_TOKEN_PREFIX}${newSecret()}`;
  await trx("refresh_tokens").insert({ ...row, token_hash: hashSecret(token) });
  return token;
}

export async function findRefreshToken(db: Knex, token: string): Promise<RefreshTokenRow | undefined> {
  return db("refresh_tokens")
    .where({ token_hash: hashSecret(token) })
    .first<RefreshTokenRow | undefined>();
}

export async function useRefreshToken(trx: Knex.Transaction, token: string, now: Date): Promise<void> {
  await trx("refresh_tokens")
    .where({ token_hash: hashSecret(token) })
    .update({ used_at: now });
}

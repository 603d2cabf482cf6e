import type { Knex } from "knex";
import { hashSecret, newSecret, type SecretBox } from "../platform/secret-box.ts";

/** One-time codes for the first tokens of a session, and refresh tokens for later ones. Both are stored as hashes. */
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
  /** The application that first used it. */
  readonly used_by: string | null;
}

/** Creates a one-time code. */
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

/** Its prefix tells scanners for leaked secrets what it is. */
const REFRESH_TOKEN_PREFIX = "ghr_";

/** The first refresh token of a session. */
export function firstRefreshToken(): string {
  return `${REFRESH_TOKEN_PREFIX}${newSecret()}`;
}

/**
 * The successor of a refresh token. It is derived, so that a repeated refresh can get the same answer although only
 * hashes are stored, and so that there is never more than one successor.
 *
 * @returns the one to give out, followed by those that an instance with another encryption key may have given out
 */
export function nextRefreshTokens(box: SecretBox, token: string): readonly [string, ...string[]] {
  const [first, ...others] = box.derive(token, "next refresh token");
  return [`${REFRESH_TOKEN_PREFIX}${first}`, ...others.map((text) => `${REFRESH_TOKEN_PREFIX}${text}`)];
}

export async function insertRefreshToken(
  trx: Knex.Transaction,
  token: string,
  row: Omit<RefreshTokenRow, "token_hash" | "used_at" | "used_by">,
): Promise<void> {
  await trx("refresh_tokens").insert({ ...row, token_hash: hashSecret(token) });
}

export async function findRefreshToken(db: Knex, token: string): Promise<RefreshTokenRow | undefined> {
  return db("refresh_tokens")
    .where({ token_hash: hashSecret(token) })
    .first<RefreshTokenRow | undefined>();
}

/** @returns the one of them that was given out */
export async function findGivenOut(
  db: Knex,
  tokens: readonly string[],
): Promise<(RefreshTokenRow & { readonly text: string }) | undefined> {
  for (const text of tokens) {
    const row = await findRefreshToken(db, text);
    if (row !== undefined) return { ...row, text };
  }
  return undefined;
}

export async function shortenRefreshToken(
  trx: Knex.Transaction,
  token: string,
  expiresAt: Date,
): Promise<void> {
  await trx("refresh_tokens")
    .where({ token_hash: hashSecret(token) })
    .update({ expires_at: expiresAt });
}

export async function useRefreshToken(
  trx: Knex.Transaction,
  token: string,
  use: { readonly used_at: Date; readonly used_by: string },
): Promise<void> {
  await trx("refresh_tokens")
    .where({ token_hash: hashSecret(token) })
    .update(use);
}

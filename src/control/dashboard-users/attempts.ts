import type { Knex } from "knex";
import { hashSecret } from "../secret-box.ts";

/** Failures in a row, after each such number of which no password is looked at for a while. */
const FAILURES = 5;
const FIRST_LOCK_MS = 15 * 60_000;
const LONGEST_LOCK_MS = 24 * 3_600_000;
const FORGET_MS = 24 * 3_600_000;

interface AttemptsRow {
  readonly email_hash: string;
  readonly failures: number;
  readonly locked_until: Date | null;
  readonly forget_at: Date;
}

/** What may be done with a password that somebody sends. */
export interface Attempt {
  /** Otherwise the address is locked: whatever the password is, the answer is no. */
  readonly allowed: boolean;
  /** This one, unless it succeeds, locks the address for so long. */
  readonly lockedUntil?: Date;
}

/**
 * Counts an attempt to sign in as failed, before its password is looked at: however many come at once, only so many are
 * tried. Kept by address, whether anybody has it or not, so that nothing tells who does.
 */
export async function beginAttempt(db: Knex, email: string, now: Date): Promise<Attempt> {
  const forgetAt = new Date(now.getTime() + FORGET_MS);
  return db.transaction(async (trx): Promise<Attempt> => {
    const [row] = await trx<AttemptsRow>("dashboard_attempts")
      .insert({ email_hash: hashSecret(email), failures: 0, locked_until: null, forget_at: forgetAt })
      // changes nothing, and locks the row that is there
      .onConflict("email_hash")
      .merge(["email_hash"])
      .returning("*");
    if (row === undefined) throw new Error("an upsert has returned nothing");
    if (row.locked_until !== null && row.locked_until > now) return { allowed: false };
    const failures = row.forget_at <= now ? 1 : row.failures + 1;
    const lockedUntil = failures % FAILURES === 0 ? new Date(now.getTime() + lockMs(failures)) : null;
    await trx("dashboard_attempts")
      .where({ email_hash: row.email_hash })
      .update({
        failures,
        locked_until: lockedUntil,
        forget_at: lockedUntil === null ? forgetAt : new Date(lockedUntil.getTime() + FORGET_MS),
      });
    return { allowed: true, ...(lockedUntil !== null && { lockedUntil }) };
  });
}

/** The attempt has succeeded, or the password was set anew: what failed before counts no more. */
export async function forgetAttempts(db: Knex, email: string): Promise<void> {
  await db("dashboard_attempts")
    .where({ email_hash: hashSecret(email) })
    .delete();
}

/** 15 minutes, then twice as long each time. */
function lockMs(failures: number): number {
  return Math.min(FIRST_LOCK_MS * 2 ** (failures / FAILURES - 1), LONGEST_LOCK_MS);
}

import type { Knex } from "knex";
import { transaction } from "../../../storage/index.ts";
import { countedSubject } from "../../platform/rate-limits/subject.ts";
import { hashSecret } from "../../platform/secret-box.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const FORGET_MS = 24 * HOUR;

interface Limit {
  /** After this many failures, passwords are not checked for a while. */
  readonly failures: number;
  readonly firstLockMs: number;
  /** Each lock is twice as long as the previous one, up to this limit. */
  readonly longestLockMs: number;
}

/**
 * What failures are counted by. A device that has signed in to the account before has its own counter, so that
 * strangers cannot lock it out (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"). Every other attempt
 * counts for its address, for the account, and for the combination. The account's counter is lenient: anyone can
 * increase it, so it slows strangers down but never locks them out for long.
 */
const LIMITS = {
  device: { failures: 5, firstLockMs: 15 * MINUTE, longestLockMs: 24 * HOUR },
  account_address: { failures: 5, firstLockMs: 15 * MINUTE, longestLockMs: 24 * HOUR },
  address: { failures: 50, firstLockMs: 15 * MINUTE, longestLockMs: HOUR },
  account: { failures: 20, firstLockMs: MINUTE, longestLockMs: HOUR },
} as const satisfies Record<string, Limit>;
export type CounterKind = keyof typeof LIMITS;

interface Counter {
  readonly kind: CounterKind;
  readonly subject_hash: string;
  readonly account_hash: string | null;
}

interface CounterRow extends Counter {
  readonly failures: number;
  readonly locked_until: Date | null;
  readonly forget_at: Date;
}

/** The account, and the origin of the attempt. */
export interface AttemptOrigin {
  /** As typed, in lower case; used whether the account exists or not, so that nothing reveals which accounts exist. */
  readonly email: string;
  readonly clientIp: string;
  /** The device that has signed in to this account before. */
  readonly device: string | undefined;
}

/** Whether a password may be checked. */
export interface Attempt {
  /** Otherwise a counter is locked: the sign-in fails whatever the password is. */
  readonly allowed: boolean;
  /** If this attempt fails, these counters are locked, the last of them until `until`. */
  readonly locks?: { readonly counts: readonly CounterKind[]; readonly until: Date };
}

/**
 * @returns whether the address, or the device if it is known, is locked, whatever the account: this reveals nothing
 *   about accounts
 */
export async function isOwnCountLocked(db: Knex, origin: AttemptOrigin, now: Date): Promise<boolean> {
  const [{ kind, subject_hash }] = countersOf(origin);
  const row = await db("dashboard_throttles")
    .where({ kind, subject_hash })
    .where("locked_until", ">", now)
    .first<object | undefined>("kind");
  return row !== undefined;
}

/** Counts an attempt as failed before its password is checked, so that concurrent attempts cannot exceed the limit. */
export async function beginAttempt(db: Knex, origin: AttemptOrigin, now: Date): Promise<Attempt> {
  return transaction(db, async (trx): Promise<Attempt> => {
    const rows: CounterRow[] = [];
    // always in this order, to prevent deadlocks
    for (const counter of countersOf(origin)) {
      const row = await lockCounter(trx, counter, now);
      if (row.locked_until !== null && row.locked_until > now) return { allowed: false };
      rows.push(row);
    }
    const locked: { readonly kind: CounterKind; readonly until: Date }[] = [];
    for (const row of rows) {
      const until = await countFailure(trx, row, now);
      if (until !== undefined) locked.push({ kind: row.kind, until });
    }
    if (locked.length === 0) return { allowed: true };
    const until = new Date(Math.max(...locked.map((lock) => lock.until.getTime())));
    return { allowed: true, locks: { counts: locked.map(({ kind }) => kind), until } };
  });
}

/**
 * The attempt has succeeded, so earlier failures from there no longer count. Shared counters are reduced by this
 * attempt only; otherwise anyone with an account could reset the address's counter and continue guessing.
 */
export async function succeedAttempt(db: Knex, origin: AttemptOrigin): Promise<void> {
  await transaction(db, async (trx) => {
    for (const { kind, subject_hash } of countersOf(origin)) {
      const row = trx("dashboard_throttles").where({ kind, subject_hash });
      if (kind === "device" || kind === "account_address") await row.delete();
      else
        await row.update({
          failures: trx.raw("greatest(failures - 1, 0)"),
          // the lock that this attempt set
          locked_until: trx.raw("case when failures % ? = 0 then null else locked_until end", [
            LIMITS[kind].failures,
          ]),
        });
    }
  });
}

/** The password has been reset, or is about to be: earlier failures no longer count against the account. */
export async function forgetAttempts(db: Knex, email: string): Promise<void> {
  await db("dashboard_throttles")
    .where({ account_hash: hashOf(email) })
    .delete();
}

/** The first counter is determined by the sender alone. */
function countersOf({ email, clientIp, device }: AttemptOrigin): readonly [Counter, ...Counter[]] {
  const account_hash = hashOf(email);
  if (device !== undefined) return [{ kind: "device", subject_hash: device, account_hash }];
  const address = countedSubject(`ip:${clientIp}`);
  return [
    { kind: "address", subject_hash: hashOf(address), account_hash: null },
    { kind: "account", subject_hash: account_hash, account_hash },
    { kind: "account_address", subject_hash: hashOf(`${address} ${email}`), account_hash },
  ];
}

/** The counter, locked until the transaction ends. */
async function lockCounter(trx: Knex.Transaction, counter: Counter, now: Date): Promise<CounterRow> {
  const [row] = await trx("dashboard_throttles")
    .insert({ ...counter, failures: 0, forget_at: new Date(now.getTime() + FORGET_MS) })
    // changes nothing, but locks an existing row
    .onConflict(["kind", "subject_hash"])
    .merge(["subject_hash"])
    .returning<CounterRow[]>("*");
  if (row === undefined) throw new Error("an upsert has returned nothing");
  return row;
}

/** @returns until when this failure locks the counter */
async function countFailure(
  trx: Knex.Transaction,
  { kind, subject_hash, failures: before, forget_at }: CounterRow,
  now: Date,
): Promise<Date | undefined> {
  const failures = forget_at <= now ? 1 : before + 1;
  const limit = LIMITS[kind];
  const until =
    failures % limit.failures === 0 ? new Date(now.getTime() + lockMs(failures, limit)) : undefined;
  await trx("dashboard_throttles")
    .where({ kind, subject_hash })
    .update({
      failures,
      locked_until: until ?? null,
      forget_at: new Date((until ?? now).getTime() + FORGET_MS),
    });
  return until;
}

function lockMs(failures: number, { failures: each, firstLockMs, longestLockMs }: Limit): number {
  return Math.min(firstLockMs * 2 ** (failures / each - 1), longestLockMs);
}

function hashOf(text: string): string {
  return hashSecret(text);
}

import { hash, verify, type Options } from "@node-rs/argon2";
import { ApiError } from "../../platform/errors.ts";

/**
 * argon2id, the library's default algorithm, with the cost that OWASP's Password Storage Cheat Sheet recommends: 19
 * MiB, 2 passes, 1 lane.
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const satisfies Options;

/** Maximum number computed at once per process, because memory and libuv's four threads are shared. */
const AT_ONCE = 2;
/**
 * Maximum number of waiting computations. Strangers have a queue of their own, which delays nobody else: callers with a
 * link, with a password that was just verified, or in a known browser come first.
 */
const MAX_WAITING = { known: 16, stranger: 64 } as const;
/**
 * Maximum number waiting there for one account, so that an account holder cannot block the others. It does not apply to
 * strangers, because the account that they name is not theirs.
 */
const MAX_WAITING_OF_ACCOUNT = 2;

/** The queue in which an attempt waits. */
export type Queue =
  | { readonly of: "stranger" }
  /** `account` identifies the owner of the password: an e-mail address. */
  | { readonly of: "known"; readonly account: string };

interface Waiting {
  readonly account?: string;
  readonly goOn: () => void;
}

let running = 0;
const waiting: Readonly<Record<Queue["of"], Waiting[]>> = { known: [], stranger: [] };
let noPassword: Promise<string> | undefined;

/**
 * Called only for somebody with a link or with the password that is to be replaced.
 *
 * @param account - the owner of the password: an e-mail address
 * @throws ApiError 503 if too many are waiting
 */
export function hashPassword(password: string, account: string): Promise<string> {
  return bounded({ of: "known", account }, () => hash(normalize(password), COST));
}

/**
 * Compares a password with a hash. Without a hash, the answer is false, after the same work.
 *
 * @param findHash - called when it is this password's turn: a caller that was rejected with 503 has not made an attempt
 * @throws ApiError 503 if too many are waiting
 */
export async function verifyPassword(
  findHash: () => Promise<string | null | undefined>,
  password: string,
  queue: Queue,
): Promise<boolean> {
  return bounded(queue, async () => {
    // computed before either comparison; otherwise the first one without a hash would take twice as long
    const dummy = await (noPassword ??= hash("nobody has this password", COST));
    const stored = await findHash();
    const same = await verify(stored ?? dummy, normalize(password));
    return same && typeof stored === "string";
  });
}

/** One text for input that looks the same but comes from different keyboards (NIST SP 800-63B-4, section 3.1.1.2). */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

async function bounded<T>(queue: Queue, work: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running += 1;
  else {
    if (isFull(queue)) throw new ApiError("SERVICE_UNAVAILABLE", { headers: { "retry-after": "1" } });
    const { of, ...whose } = queue;
    await new Promise<void>((goOn) => waiting[of].push({ ...whose, goOn }));
  }
  try {
    return await work();
  } finally {
    // the slot goes to the longest-waiting attempt, strangers last
    const next = waiting.known.shift() ?? waiting.stranger.shift();
    if (next === undefined) running -= 1;
    else next.goOn();
  }
}

function isFull(queue: Queue): boolean {
  const before = waiting[queue.of];
  if (before.length >= MAX_WAITING[queue.of]) return true;
  if (queue.of === "stranger") return false;
  return before.filter(({ account }) => account === queue.account).length >= MAX_WAITING_OF_ACCOUNT;
}

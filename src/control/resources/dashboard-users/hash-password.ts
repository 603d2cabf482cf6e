import { hash, verify, type Options } from "@node-rs/argon2";
import { ApiError } from "../../platform/errors.ts";

/**
 * argon2id, the library's default algorithm, at the cost that OWASP's Password Storage Cheat Sheet names: 19 MiB, 2
 * passes, 1 lane.
 */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const satisfies Options;

/** How many are computed at once, by one process: memory and libuv's four threads are for others too. */
const AT_ONCE = 2;
/**
 * How many may wait. Strangers, whom nobody has let in yet, have a queue of their own, which they cannot make longer for
 * anybody else: who holds a link, has just given the right password, or comes in a known browser, goes first.
 */
const MAX_WAITING = { known: 16, stranger: 64 } as const;
/**
 * How many of one account may wait there, so that nobody who has one keeps the others out. Not of strangers: whoever they name
 * is somebody else.
 */
const MAX_WAITING_OF_ACCOUNT = 2;

/** Where an attempt waits. */
export type Queue =
  | { readonly of: "stranger" }
  /** `account` is whose password it is: an e-mail address. */
  | { readonly of: "known"; readonly account: string };

interface Waiting {
  readonly account?: string;
  readonly goOn: () => void;
}

let running = 0;
const waiting: Readonly<Record<Queue["of"], Waiting[]>> = { known: [], stranger: [] };
let noPassword: Promise<string> | undefined;

/**
 * Called for nobody without a link, or the password that is to be replaced.
 *
 * @param account - whose password it is: an e-mail address
 * @throws ApiError 503, when too many are waiting
 */
export function hashPassword(password: string, account: string): Promise<string> {
  return bounded({ of: "known", account }, () => hash(normalize(password), COST));
}

/**
 * Compares a password with a hash. Without a hash the answer is false, after the same work.
 *
 * @param findHash - called once it is this password's turn: who is sent away with 503 has not tried
 * @throws ApiError 503, when too many are waiting
 */
export async function verifyPassword(
  findHash: () => Promise<string | null | undefined>,
  password: string,
  queue: Queue,
): Promise<boolean> {
  return bounded(queue, async () => {
    // made before either comparison, or the first one without a hash would take twice as long
    const dummy = await (noPassword ??= hash("nobody has this password", COST));
    const stored = await findHash();
    const same = await verify(stored ?? dummy, normalize(password));
    return same && typeof stored === "string";
  });
}

/** One text for what looks the same and comes from different keyboards (NIST SP 800-63B-4, section 3.1.1.2). */
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

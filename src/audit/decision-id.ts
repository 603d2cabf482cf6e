import { randomFillSync } from "node:crypto";

/** Crockford's base32 in lower case, which preserves the order of the bytes. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const PAIRS = Array.from(
  { length: 1024 },
  (_, bits) => ALPHABET.charAt(bits >> 5) + ALPHABET.charAt(bits & 31),
);

const HALF = 2 ** 40;
/** Random bytes are drawn at once for this many milliseconds in which a decision is made. */
const POOLED = 256;

/**
 * Generates decision ids: `dec_` and 26 characters, which are 48 bits of Unix milliseconds followed by 80 bits that are
 * random for the first id of a millisecond and count up from there. The ids of one process sort in the order of their
 * creation, even if the clock goes back, and those of different processes do not collide.
 *
 * @param clock - Unix milliseconds
 */
export function createDecisionIds(clock: () => number = Date.now): () => string {
  const pool = new Uint8Array(10 * POOLED);
  const view = new DataView(pool.buffer);
  let used = pool.length;
  let time = -1;
  let high = 0;
  let low = 0;
  let prefix = "";

  function start(now: number): void {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    time = now;
    high = view.getUint32(used) * 256 + view.getUint8(used + 4);
    low = view.getUint32(used + 5) * 256 + view.getUint8(used + 9);
    used += 10;
    prefix = `dec_${encode(now, 5)}${encode(high, 4)}`;
  }

  return () => {
    const now = Math.floor(clock());
    if (now > time) start(now);
    else if (++low === HALF) {
      low = 0;
      high = (high + 1) % HALF;
      prefix = `dec_${encode(time, 5)}${encode(high, 4)}`;
    }
    return prefix + encode(low, 4);
  };
}

/** The low `pairs` * 10 bits of a non-negative integer. */
function encode(value: number, pairs: number): string {
  let text = "";
  let rest = value;
  for (let i = 0; i < pairs; i++) {
    text = (PAIRS[rest % 1024] ?? "") + text;
    rest = Math.floor(rest / 1024);
  }
  return text;
}

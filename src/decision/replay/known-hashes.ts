import type { InputHash } from "../inputs/input-hash.ts";

/** More than the policy sets that are compared have literals. */
const MOST_KNOWN = 10_000;

/**
 * @returns the same hashes. Each value is hashed once: a condition compares the same few literals with what every record
 *   holds
 */
export function rememberHashes(hash: InputHash): InputHash {
  const known = new Map<string | number | boolean, string>();
  return {
    keyId: hash.keyId,
    of(value) {
      let hashed = known.get(value);
      if (hashed === undefined) {
        hashed = hash.of(value);
        // values that records hold may be compared as well, without end
        if (known.size >= MOST_KNOWN) known.clear();
        known.set(value, hashed);
      }
      return hashed;
    },
  };
}

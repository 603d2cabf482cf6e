import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** What the decision code takes of `node:crypto`: a browser's own digests are asynchronous. */
export function createHash(algorithm: "sha256") {
  if (algorithm !== ("sha256" as string)) throw new Error(`no ${algorithm as string} in the page`);
  return {
    update: (text: string) => ({
      digest: (encoding: "hex") => {
        if (encoding !== ("hex" as string)) throw new Error(`no ${encoding as string} in the page`);
        return bytesToHex(sha256(utf8ToBytes(text)));
      },
    }),
  };
}

import type { webcrypto } from "node:crypto";
import { importJWK, type JWK } from "jose";
import { forAllCallers } from "../../../storage/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { keySchedule } from "./key-schedule.ts";
import { ALGORITHM, isDue, maintainKeys, openPrivateKey, readKeys, type KeyRow } from "./key-store.ts";

/** A key that signs tokens. */
export interface SigningKey {
  readonly kid: string;
  readonly key: webcrypto.CryptoKey;
}

/**
 * The keys for this environment's tokens. Reads them from the database periodically, and rotates them when it is time.
 */
export interface Keyring {
  /** The key that signs now. Call it outside of transactions: it may need its own connection. */
  signingKey(): Promise<SigningKey>;
  /** The JWKS: every key that signs, has signed tokens that are still valid, or will sign next. */
  published(): Promise<readonly JWK[]>;
}

interface Loaded {
  readonly at: number;
  readonly keys: readonly KeyRow[];
}

const ROTATION = { kind: "system", id: "system", name: "key rotation" } as const;

/** The keyring of an environment; instances on one database share their keys. */
export function createKeyring({ settings, db, units, box, clock }: ControlContext): Keyring {
  const schedule = keySchedule(settings);
  let known: Loaded | undefined;
  let loading: Promise<Loaded> | undefined;
  let imported: SigningKey | undefined;

  async function load(): Promise<Loaded> {
    const at = clock();
    let keys = await readKeys(db);
    if (isDue(keys, new Date(at), schedule)) {
      const origin = { actor: ROTATION, requestId: newId("request"), clientIp: "127.0.0.1" };
      await units(origin, (unit) => maintainKeys(unit, box, schedule));
      keys = await readKeys(db);
    }
    return { at, keys };
  }

  async function current(): Promise<readonly KeyRow[]> {
    const age = known === undefined ? Infinity : clock() - known.at;
    // a clock that was set back must not make cached keys younger
    if (known !== undefined && age >= 0 && age < schedule.cachedMs) return known.keys;
    loading ??= forAllCallers(load).finally(() => {
      loading = undefined;
    });
    known = await loading;
    return known.keys;
  }

  return {
    async signingKey() {
      const now = clock();
      const keys = await current();
      // the first key started by the clock of the instance that created it, which may be ahead of this one's
      const row = keys.findLast(({ activates_at: at }) => at.getTime() <= now) ?? keys[0];
      if (row === undefined) throw new Error("there is no signing key");
      if (imported?.kid !== row.kid) {
        const key = await importJWK(openPrivateKey(box, row), ALGORITHM);
        if (key instanceof Uint8Array) throw new Error(`signing key ${row.kid} is not a key pair`);
        imported = { kid: row.kid, key };
      }
      return imported;
    },
    async published() {
      return (await current()).map(({ public_jwk: jwk }) => jwk);
    },
  };
}

import type { Metrics } from "../telemetry/metrics.ts";
import { selectKeys } from "./key-set.ts";
import type { JobLog } from "../runtime/every.ts";
import { createKeySource } from "./key-source.ts";
import { KeyStore, type KeySnapshot, type KeyStoreStatus } from "./key-store.ts";
import { resolveOptions, type IdentityOptions, type ResolvedOptions } from "./options.ts";
import { TokenCache, type CachedResult } from "./token-cache.ts";
import { readTokenHeader, reject, type TokenRejection, type TokenHeader } from "./token-header.ts";
import type { IdentityFailure, IdentityResult, TokenVerifier } from "./types.ts";
import { verifyToken } from "./verify-token.ts";

export interface VerifierDependencies {
  readonly metrics: Metrics;
  readonly log: JobLog;
  /** Unix ms; default: the system clock. */
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
}

/** A verifier with the keys that it maintains. */
export interface RunningTokenVerifier extends TokenVerifier {
  /** Loads the keys and keeps refreshing them until {@link close}. Never rejects; see {@link ready}. */
  start(): Promise<void>;
  /** Stops refreshing and aborts current fetches. */
  close(): void;
  /** For `/readyz`. */
  status(): KeyStoreStatus;
  /** Calls `listener` whenever {@link ready} changes. @returns a function that removes it. */
  onReadyChange(listener: (ready: boolean) => void): () => void;
}

/** How long a rejected token is cached. */
const REFUSED_TTL_MS = 10_000;

/** A result and its validity; not cached if that is absent. */
interface Outcome {
  readonly result: IdentityResult;
  readonly remember?: Omit<CachedResult, "result">;
}

/**
 * Creates a verifier of the issuer's tokens. `README.md` beside this file lists its checks in order.
 *
 * @throws TypeError if an option is not acceptable.
 */
export function createTokenVerifier(
  options: IdentityOptions,
  { metrics, log, clock = Date.now, fetch = globalThis.fetch }: VerifierDependencies,
): RunningTokenVerifier {
  const resolved = resolveOptions(options);
  const source = createKeySource(resolved, { timeoutMs: resolved.requestTimeoutMs, fetch });
  const store = new KeyStore(source, resolved, { clock, log, metrics });
  const cache = new TokenCache(resolved.cacheSize, metrics);
  const misses = metrics.cacheMisses.labels({ cache: "tokens" });
  const verifying = new Map<string, Promise<IdentityResult>>();

  const cached = (token: string): IdentityResult | undefined => {
    const snapshot = store.current;
    return snapshot && cache.get(token, snapshot.generation, clock());
  };

  const verifyAnew = async (token: string): Promise<IdentityResult> => {
    try {
      const { result, remember } = await check(token, resolved, store, clock);
      if (remember !== undefined) cache.set(token, { result, ...remember });
      return result;
    } catch (error) {
      log.error({ err: error }, "unexpected error while verifying a token");
      return reject("TOKEN_SIGNATURE_INVALID", "the verification failed");
    } finally {
      verifying.delete(token);
    }
  };

  return {
    cached,
    verify: (token) => {
      const known = cached(token);
      if (known !== undefined) return Promise.resolve(known);
      misses.inc();
      let result = verifying.get(token);
      if (result === undefined) {
        result = verifyAnew(token);
        verifying.set(token, result);
      }
      return result;
    },
    ready: () => store.current !== undefined,
    start: () => store.start(),
    close: () => {
      store.close();
    },
    status: () => store.status(),
    onReadyChange: (listener) => store.onReadyChange(listener),
  };
}

/** All checks of one token: header, key, signature and claims. */
async function check(
  token: string,
  options: ResolvedOptions,
  store: KeyStore,
  clock: () => number,
): Promise<Outcome> {
  const reading = readTokenHeader(token, options);
  if (!reading.ok) return refused(reading, store.current, clock());

  const snapshot = await snapshotFor(reading.header, store);
  if (snapshot === undefined) {
    return refused(reject("IDENTITY_NOT_READY", "no key of the issuer is available"), undefined, clock());
  }
  const { generation, keySet } = snapshot;
  const keys = selectKeys(keySet, reading.header);
  if (keys.length === 0) {
    const unknown = reject("TOKEN_KEY_UNKNOWN", "no key of the issuer, or more than one, matches the token");
    return { result: unknown, remember: { generation, from: 0, until: store.blockedUntil } };
  }

  const verified = await verifyToken(token, keys, options, clock());
  // the keys have changed in the meantime: results of the former ones may no longer be valid
  if (store.current?.generation !== generation) return check(token, options, store, clock);
  if (!verified.ok) return refused(verified, snapshot, clock());
  const { identity, validFrom, validUntil } = verified;
  const until = Math.min(validUntil, clock() + options.cacheTtlMs);
  return { result: Object.freeze({ ok: true, identity }), remember: { generation, from: validFrom, until } };
}

/** The keys to search: the current ones if one of them matches, otherwise those after a reload. */
async function snapshotFor(header: TokenHeader, store: KeyStore): Promise<KeySnapshot | undefined> {
  const atHand = store.current;
  if (atHand === undefined || selectKeys(atHand.keySet, header).length > 0) return atHand;
  await store.reloadForUnknownKey();
  return store.current;
}

function refused(result: TokenRejection, snapshot: KeySnapshot | undefined, now: number): Outcome {
  if (snapshot === undefined || !isLasting(result.reason)) return { result };
  return { result, remember: { generation: snapshot.generation, from: 0, until: now + REFUSED_TTL_MS } };
}

/** Whether the same token would be rejected for the same reason a little later, with the same keys. */
function isLasting(reason: IdentityFailure): boolean {
  switch (reason) {
    case "TOKEN_MALFORMED":
    case "TOKEN_ALGORITHM_NOT_ALLOWED":
    case "TOKEN_SIGNATURE_INVALID":
    case "TOKEN_ISSUER_MISMATCH":
    case "TOKEN_AUDIENCE_MISMATCH":
    case "TOKEN_TYPE_NOT_ALLOWED":
    case "TOKEN_CLAIMS_INVALID":
    case "TOKEN_EXPIRED":
    case "TOKEN_PROOF_REQUIRED":
      return true;
    case "TOKEN_TOO_LARGE": // costs more to cache than to reject
    case "TOKEN_NOT_YET_VALID":
    case "TOKEN_KEY_UNKNOWN":
    case "TOKEN_FOREIGN":
    case "API_KEY_INVALID":
    case "API_KEY_NOT_CHECKED":
    case "IDENTITY_REQUIRED":
    case "IDENTITY_NOT_READY":
      return false;
  }
}

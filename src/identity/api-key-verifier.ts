import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ValueObject } from "../policy/value.ts";
import { RateBudget } from "../runtime/rate-budget.ts";
import { API_KEY } from "./claims.ts";
import { reject } from "./token-header.ts";
import type { Identity, IdentityResult, TokenVerifier } from "./types.ts";

/** An active API key, as the control plane knows it. */
export interface KeyOfCaller {
  readonly id: string;
  readonly name: string;
  readonly customer_id: string;
  readonly permissions: readonly string[];
  /** ISO 8601; `null` for a key that does not expire. */
  readonly expires_at: string | null;
}

export interface ApiKeyVerifierOptions {
  /** Looks a key up by the SHA-256 of its text. @returns `undefined` if there is no such key; rejects on failure */
  readonly lookup: (hash: string) => Promise<KeyOfCaller | undefined>;
  /** Unix ms. */
  readonly clock?: () => number;
}

/** Until when a result is used without another look-up. Revocations arrive by the state feed, sooner. */
const ACCEPTED_MS = 60_000;
const REFUSED_MS = 5_000;
const SIZE = 10_000;
/** Look-ups per second of keys that were never valid here: made-up ones must not use up the control plane's limits. */
const UNKNOWN_PER_SECOND = 20;

const FORM = /^gh_(?:live|test)_[0-9A-Za-z]{38}$/;
const PREFIX = /^gh_(?:live|test)_/;

/** Whether a token is an API key of ours, well-formed or not. */
export function isApiKey(token: string): boolean {
  return PREFIX.test(token);
}

interface Entry {
  readonly result: IdentityResult;
  readonly until: number;
}

/**
 * Creates a verifier of our API keys (scope `caller`). The text of a key is neither kept nor sent: only its hash is. The
 * caller is the key itself, at the key's customer.
 */
export function createApiKeyVerifier({ lookup, clock = Date.now }: ApiKeyVerifierOptions): TokenVerifier {
  const accepted = new LRUCache<string, Entry>({ max: SIZE });
  const refused = new LRUCache<string, Entry>({ max: SIZE });
  const underWay = new Map<string, Promise<IdentityResult>>();
  const unknown = new RateBudget({ perSecond: UNKNOWN_PER_SECOND, burst: UNKNOWN_PER_SECOND, clock });

  const known = (hash: string): IdentityResult | undefined => {
    const entry = accepted.get(hash) ?? refused.get(hash);
    return entry !== undefined && clock() < entry.until ? entry.result : undefined;
  };

  const lookUp = async (hash: string): Promise<IdentityResult> => {
    if (!accepted.has(hash) && !unknown.take())
      return reject("API_KEY_NOT_CHECKED", "too many unknown API keys");
    const asked = clock();
    try {
      const result = resultOf(await lookup(hash), clock());
      if (result.ok) {
        const until = Math.min(asked + ACCEPTED_MS, result.identity.expiresAt * 1000);
        accepted.set(hash, { result, until });
        refused.delete(hash);
      } else {
        accepted.delete(hash);
        refused.set(hash, { result, until: asked + REFUSED_MS });
      }
      return result;
    } catch {
      // the look-up itself logs and counts its failures
      return reject("API_KEY_NOT_CHECKED", "the control plane did not answer");
    }
  };

  return {
    cached: (token) => (FORM.test(token) ? known(hashOf(token)) : undefined),
    verify(token) {
      if (!FORM.test(token)) return Promise.resolve(INVALID);
      const hash = hashOf(token);
      const found = known(hash);
      if (found !== undefined) return Promise.resolve(found);
      let result = underWay.get(hash);
      if (result === undefined) {
        result = lookUp(hash).finally(() => underWay.delete(hash));
        underWay.set(hash, result);
      }
      return result;
    },
    ready: () => true,
  };
}

const INVALID = reject("API_KEY_INVALID", "there is no such API key, or it has expired or was revoked");

/** As in the control plane's table of keys. */
function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function resultOf(key: KeyOfCaller | undefined, now: number): IdentityResult {
  if (key === undefined) return INVALID;
  const { id, name, customer_id, permissions, expires_at } = key;
  const expiresAt = expires_at === null ? Infinity : Math.floor(Date.parse(expires_at) / 1000);
  if (!(now < expiresAt * 1000)) return INVALID;
  const user = { id, name, type: API_KEY, permissions: Object.freeze([...permissions]), customer_id };
  const identity: Identity = {
    user: frozen(user),
    customer: frozen({ id: customer_id }),
    userId: id,
    // the end of a key is announced to gateways like that of a session
    session: Object.freeze({ subject: id, id, amr: [], machine: true as const, apiKey: true as const }),
    expiresAt,
  };
  return Object.freeze({ ok: true as const, identity: Object.freeze(identity) });
}

/** Without a prototype, like the attributes of a token. */
function frozen(attributes: ValueObject): ValueObject {
  return Object.freeze(Object.assign(Object.create(null) as ValueObject, attributes));
}

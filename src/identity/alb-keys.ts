import { createPublicKey, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { JobLog } from "../runtime/every.ts";
import { SharedBudget } from "../runtime/shared-budget.ts";
import { errorMessage } from "../text/index.ts";
import { getText, StatusError, type HttpJsonOptions } from "./http-json.ts";

/** Why a key could not be had: there is none, or nobody can tell now. */
export type MissingKey = "unknown" | "unavailable";

export interface AlbKeysOptions {
  readonly http: Omit<HttpJsonOptions, "signal">;
  readonly clock: () => number;
  readonly log: JobLog;
}

/** Load balancers of a region share few keys at a time. */
const MAX_KEYS = 100;
const KEY_TTL_MS = 24 * 3_600_000;
/**
 * Anyone can make up a key's name. The requests of one client's network are limited, so that it cannot delay the look-up of a
 * new key for everybody else, and so are all of them together.
 */
const OF_ONE = 10;
const OF_ALL = 100;
const SECONDS = 30;
/** How long a name without a key is remembered. */
const MISSING_MS = 30_000;

/** The public keys of load balancers, fetched one by one when a token names them. */
export class AlbKeys {
  readonly #options: AlbKeysOptions;
  readonly #keys: LRUCache<string, KeyObject>;
  readonly #missing: LRUCache<string, MissingKey>;
  readonly #underWay = new Map<string, Promise<KeyObject | MissingKey>>();
  readonly #closing = new AbortController();
  readonly #requests: SharedBudget;

  constructor(options: AlbKeysOptions) {
    this.#options = options;
    const timing = { max: MAX_KEYS, perf: { now: options.clock }, ttlResolution: 0 };
    this.#keys = new LRUCache({ ...timing, ttl: KEY_TTL_MS });
    this.#missing = new LRUCache({ ...timing, ttl: MISSING_MS });
    const budget = (burst: number) => ({ perSecond: burst / SECONDS, burst, clock: options.clock });
    this.#requests = new SharedBudget({ total: budget(OF_ALL), perSource: budget(OF_ONE) });
  }

  /**
   * @param url - of the key; built from the configuration and a name in the form of a UUID
   * @param source - the network of the client that presented the token
   */
  find(url: URL, source: string): Promise<KeyObject | MissingKey> {
    const { href } = url;
    const known = this.#keys.get(href) ?? this.#missing.get(href);
    if (known !== undefined) return Promise.resolve(known);
    let found = this.#underWay.get(href);
    if (found === undefined) {
      if (!this.#requests.take(source)) return Promise.resolve("unavailable");
      found = this.#fetch(url).finally(() => this.#underWay.delete(href));
      this.#underWay.set(href, found);
    }
    return found;
  }

  close(): void {
    this.#closing.abort();
  }

  async #fetch(url: URL): Promise<KeyObject | MissingKey> {
    const { http, log } = this.#options;
    try {
      const key = readKey(await getText(url, { ...http, signal: this.#closing.signal }));
      this.#keys.set(url.href, key);
      return key;
    } catch (error) {
      const isUnknown = error instanceof StatusError && [403, 404].includes(error.status);
      const missing = isUnknown ? "unknown" : "unavailable";
      // an outage is over when it is over
      if (isUnknown) this.#missing.set(url.href, missing);
      else
        log.warn(
          { source: url.origin, problem: errorMessage(error) },
          "could not load a load balancer's key",
        );
      return missing;
    }
  }
}

/** @throws if it is not a public P-256 key: with any other, ES256 would mean something else */
function readKey(pem: string): KeyObject {
  if (!/^\s*-----BEGIN PUBLIC KEY-----/.test(pem)) throw new Error("the response is not a public key in PEM");
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== "ec" || key.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new Error("the key is not on the curve P-256");
  return key;
}

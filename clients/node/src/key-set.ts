import { readText } from "./read-text.ts";

export interface KeySetSettings<K> {
  readonly url: string;
  readonly cacheMs: number;
  readonly cooldownMs: number;
  readonly fetch: typeof fetch;
  /** Milliseconds of a clock that nobody sets. */
  readonly clock: () => number;
  /** @returns undefined for keys that are not used */
  readonly read: (jwk: Record<string, unknown>) => K | undefined;
}

/** Keys outlive what they were fetched for by so much while the issuer does not answer. */
const STALE_MS = 3_600_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_000_000;

/**
 * The published keys of an issuer (RFC 7517). They are fetched when they are needed: first, when they are old, and for an
 * unknown key id; but never twice within the cooldown, so that tokens with made-up key ids cost the issuer nothing. After
 * a fetch that failed, the cooldown is 1 to 2 seconds.
 */
export class KeySet<K> {
  readonly #settings: KeySetSettings<K>;
  #keys: ReadonlyMap<string, K> | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #nextAt = Number.NEGATIVE_INFINITY;
  /** Of the last fetch. */
  #failure: unknown;
  #pending: Promise<void> | undefined;

  constructor(settings: KeySetSettings<K>) {
    this.#settings = settings;
  }

  /**
   * @returns undefined for a key that the issuer does not publish
   * @throws if there are no keys to look it up in, or only those from before a new one
   */
  async find(kid: string): Promise<K | undefined> {
    const known = this.#usable()?.get(kid);
    if (known !== undefined) {
      // nobody waits for what is not needed yet
      if (this.#isOld()) void this.#refresh();
      return known;
    }
    await this.#refresh();
    const found = this.#usable()?.get(kid);
    if (found === undefined && (this.#usable() === undefined || this.#failure !== undefined))
      throw this.#unavailable();
    return found;
  }

  /** @throws if there are no keys */
  async load(): Promise<void> {
    if (this.#usable() === undefined || this.#isOld()) await this.#refresh();
    if (this.#usable() === undefined) throw this.#unavailable();
  }

  #usable(): ReadonlyMap<string, K> | undefined {
    return this.#age() <= STALE_MS + this.#settings.cacheMs ? this.#keys : undefined;
  }

  #isOld(): boolean {
    return !(this.#age() <= this.#settings.cacheMs);
  }

  #age(): number {
    return this.#settings.clock() - this.#fetchedAt;
  }

  #unavailable(): Error {
    return new Error(`no keys from ${this.#settings.url}`, { cause: this.#failure });
  }

  async #refresh(): Promise<void> {
    if (this.#pending === undefined && this.#settings.clock() < this.#nextAt) return;
    this.#pending ??= this.#fetch().finally(() => (this.#pending = undefined));
    await this.#pending;
  }

  async #fetch(): Promise<void> {
    try {
      const response = await this.#settings.fetch(this.#settings.url, {
        headers: { accept: "application/jwk-set+json, application/json" },
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const { keys } = JSON.parse(await readText(response, MAX_BYTES)) as { keys: Record<string, unknown>[] };
      const read = keys.flatMap((jwk) => {
        const key = this.#settings.read(jwk);
        return key !== undefined && typeof jwk["kid"] === "string" ? [[jwk["kid"], key] as const] : [];
      });
      this.#keys = new Map(read);
      this.#fetchedAt = this.#settings.clock();
      this.#nextAt = this.#fetchedAt + this.#settings.cooldownMs;
      this.#failure = undefined;
    } catch (failure) {
      // those from before are used meanwhile
      this.#failure = failure;
      this.#nextAt = this.#settings.clock() + 1_000 + 1_000 * Math.random();
    }
  }
}

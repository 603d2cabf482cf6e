export interface KeySetSettings<K> {
  readonly url: string;
  readonly cacheMs: number;
  readonly cooldownMs: number;
  readonly fetch: typeof fetch;
  readonly clock: () => number;
  /** @returns undefined for keys that are not used */
  readonly read: (jwk: Record<string, unknown>) => K | undefined;
}

/** Keys outlive what they were fetched for by so much while the issuer does not answer. */
const STALE_MS = 3_600_000;
const TIMEOUT_MS = 5_000;

/**
 * The published keys of an issuer (RFC 7517). They are fetched when they are needed: first, when they are old, and for an
 * unknown key id; but never twice within the cooldown, so that tokens with made-up key ids cost the issuer nothing.
 */
export class KeySet<K> {
  readonly #settings: KeySetSettings<K>;
  #keys: ReadonlyMap<string, K> | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #pending: Promise<void> | undefined;

  constructor(settings: KeySetSettings<K>) {
    this.#settings = settings;
  }

  /**
   * @returns undefined for a key that the issuer does not publish
   * @throws if there are no keys to look it up in
   */
  async find(kid: string): Promise<K | undefined> {
    const age = () => this.#settings.clock() - this.#fetchedAt;
    if (age() > this.#settings.cacheMs || this.#keys?.has(kid) !== true) await this.#refresh();
    if (this.#keys === undefined || age() > STALE_MS + this.#settings.cacheMs)
      throw new Error(`no keys from ${this.#settings.url}`, { cause: this.#failure });
    return this.#keys.get(kid);
  }

  async #refresh(): Promise<void> {
    if (this.#pending === undefined && this.#settings.clock() - this.#triedAt < this.#settings.cooldownMs)
      return;
    this.#pending ??= this.#fetch().finally(() => (this.#pending = undefined));
    await this.#pending;
  }

  async #fetch(): Promise<void> {
    this.#triedAt = this.#settings.clock();
    try {
      const response = await this.#settings.fetch(this.#settings.url, {
        headers: { accept: "application/jwk-set+json, application/json" },
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const { keys } = (await response.json()) as { keys: Record<string, unknown>[] };
      const read = keys.flatMap((jwk) => {
        const key = this.#settings.read(jwk);
        return key !== undefined && typeof jwk["kid"] === "string" ? [[jwk["kid"], key] as const] : [];
      });
      this.#keys = new Map(read);
      this.#fetchedAt = this.#settings.clock();
      this.#failure = undefined;
    } catch (failure) {
      // those from before are used meanwhile
      this.#failure = failure;
    }
  }
}

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

/** Encrypts secrets that must be read back: client secrets, webhook secrets, private keys. */
export interface SecretBox {
  /** The id of the key that encrypts, followed by those of the other keys that decrypt. */
  readonly keyIds: readonly [sealing: string, ...others: string[]];
  /**
   * @param purpose - where it belongs, e.g. `idp.client_secret:cus_...`; a secret moved elsewhere cannot be decrypted
   */
  seal(plain: string, purpose: string): string;
  /** @throws Error if it was not encrypted with one of the keys for this purpose */
  open(sealed: string, purpose: string): string;
  /**
   * Derives a secret from another one: deterministic, impossible without the master key, and revealing nothing about
   * the other one. 32 bytes, base64url.
   *
   * @param purpose - for another purpose, the same secret gives another result
   * @returns the result with the key that encrypts, which is the one to give out, followed by those with the other
   *   keys, which may have been given out
   */
  derive(secret: string, purpose: string): readonly [sealing: string, ...others: string[]];
}

const VERSION = "v1";
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface MasterKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * AES-256-GCM (NIST SP 800-38D) with a random nonce and the purpose as associated data. The key of each value is
 * derived from the master key and its own salt (HKDF, RFC 5869), so that no number of values wears out a key.
 *
 * An encrypted text is `v1.<bytes>.<id of the master key>`. Versions that did not name the key wrote and read only the
 * first two parts, so they can decrypt what this version encrypts.
 *
 * @param sealing - the master key that encrypts, 32 bytes
 * @param others - master keys that decrypt what was encrypted with them
 */
export function createSecretBox(sealing: Uint8Array, others: readonly Uint8Array[] = []): SecretBox {
  const first = masterKey(sealing);
  const rest = others.map(masterKey).filter(({ id }) => id !== first.id);
  const keys = [first, ...rest];
  return {
    keyIds: [first.id, ...rest.map(({ id }) => id)],
    seal(plain, purpose) {
      const salt = randomBytes(SALT_BYTES);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keyOf(first, salt), nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      const bytes = Buffer.concat([salt, nonce, cipher.getAuthTag(), body]);
      return `${VERSION}.${bytes.toString("base64url")}.${first.id}`;
    },
    open(sealed, purpose) {
      const [version, text, id, ...more] = sealed.split(".");
      if (version !== VERSION || text === undefined || more.length > 0)
        throw new Error("a sealed secret is malformed");
      const bytes = Buffer.from(text, "base64url");
      if (id !== undefined) {
        const named = keys.find((key) => key.id === id);
        if (named === undefined)
          throw new Error(`a secret is encrypted with the key \`${id}\`, which is not configured`);
        return decrypt(named, bytes, purpose);
      }
      for (const key of rest) {
        try {
          return decrypt(key, bytes, purpose);
        } catch {
          // another one is its key
        }
      }
      return decrypt(first, bytes, purpose);
    },
    derive: (secret, purpose) => [
      deriveWith(first, secret, purpose),
      ...rest.map((key) => deriveWith(key, secret, purpose)),
    ],
  };
}

/** The id of a master key: it distinguishes keys, and reveals nothing about them. */
function masterKey(bytes: Uint8Array): MasterKey {
  if (bytes.length !== 32) throw new TypeError("the encryption key must be 32 bytes");
  const id = createHash("sha256").update("gatehouse master key id").update(bytes).digest("hex").slice(0, 16);
  return { id, bytes };
}

function keyOf({ bytes }: MasterKey, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", bytes, salt, "gatehouse secret box", 32));
}

function deriveWith({ bytes }: MasterKey, secret: string, purpose: string): string {
  const key = hkdfSync("sha256", bytes, Buffer.alloc(0), `gatehouse derived secret: ${purpose}`, 32);
  return createHmac("sha256", Buffer.from(key)).update(secret).digest("base64url");
}

/** @throws Error if it was not encrypted with this key for this purpose */
function decrypt(key: MasterKey, bytes: Buffer, purpose: string): string {
  const salt = bytes.subarray(0, SALT_BYTES);
  const nonce = bytes.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES);
  const tag = bytes.subarray(SALT_BYTES + NONCE_BYTES, SALT_BYTES + NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", keyOf(key, salt), nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(purpose))
    .setAuthTag(tag);
  const body = bytes.subarray(SALT_BYTES + NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
}

/** The stored form of a secret that has enough entropy: keys, codes, refresh tokens. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** A new secret: 32 random bytes, base64url. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Compares in constant time. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());
}

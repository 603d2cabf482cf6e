import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

/** Encrypts what has to be read back: client secrets, webhook secrets, private keys. */
export interface SecretBox {
  /**
   * @param purpose - where it belongs, e.g. `idp.client_secret:cus_...`; a secret moved elsewhere does not open
   */
  seal(plain: string, purpose: string): string;
  /** @throws Error when it was not sealed with this key for this purpose */
  open(sealed: string, purpose: string): string;
}

const VERSION = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM (NIST SP 800-38D) with a random nonce and the purpose as associated data. The key of each value is
 * derived from the master key and a salt of its own (HKDF, RFC 5869), so that no number of values wears a key out.
 *
 * @param masterKey - 32 bytes
 */
export function createSecretBox(masterKey: Uint8Array): SecretBox {
  if (masterKey.length !== 32) throw new TypeError("the encryption key must be 32 bytes");
  const keyFor = (salt: Uint8Array) =>
    Buffer.from(hkdfSync("sha256", masterKey, salt, "gatehouse secret box", 32));
  return {
    seal(plain, purpose) {
      const salt = randomBytes(16);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keyFor(salt), nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return `${VERSION}.${Buffer.concat([salt, nonce, cipher.getAuthTag(), body]).toString("base64url")}`;
    },
    open(sealed, purpose) {
      const [version, text] = sealed.split(".");
      if (version !== VERSION || text === undefined) throw new Error("a sealed secret has another form");
      const bytes = Buffer.from(text, "base64url");
      const salt = bytes.subarray(0, 16);
      const nonce = bytes.subarray(16, 16 + NONCE_BYTES);
      const tag = bytes.subarray(16 + NONCE_BYTES, 16 + NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", keyFor(salt), nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(tag);
      const body = bytes.subarray(16 + NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
    },
  };
}

/** What is stored of a secret with enough entropy of its own: keys, codes, refresh tokens. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** A new secret: 32 random bytes, base64url. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Compares without telling by its time where the difference is. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());
}

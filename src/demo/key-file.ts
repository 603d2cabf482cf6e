import { randomUUID } from "node:crypto";
import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import { z } from "zod";

/** A private ES256 key as RFC 7518 section 6.2 writes it. */
const PrivateKey = z.object({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
});
export type PrivateKey = z.infer<typeof PrivateKey>;

/**
 * Reads the key at `path`, which is made when there is none. The first of several processes wins: a complete file
 * appears under the name at once, or not at all.
 *
 * @throws when the file is there and does not hold such a key.
 */
export async function loadOrCreateKey(path: string): Promise<PrivateKey> {
  const existing = await readKey(path);
  if (existing !== undefined) return existing;

  const draft = await writeDraft(path, JSON.stringify(await generateKey()), 0o600);
  try {
    await link(draft, path); // unlike rename, link never replaces the key that another process has put there
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  const created = await readKey(path);
  if (created === undefined) throw new Error(`\`${path}\` was removed while it was being made`);
  return created;
}

/** Everything of the key that others may know. */
export function publicPart({ kty, crv, x, y, kid }: PrivateKey) {
  return { kty, crv, x, y, kid, alg: "ES256", use: "sig" };
}

/** Readers see the old content or the new, never a part of it. */
export async function writeFileAtomically(path: string, text: string, mode: number): Promise<void> {
  await rename(await writeDraft(path, text, mode), path);
}

async function readKey(path: string): Promise<PrivateKey | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const parsed = PrivateKey.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Error(`\`${path}\` does not hold a private ES256 key; delete it and a new one is made`);
}

async function generateKey(): Promise<object> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}

async function writeDraft(path: string, text: string, mode: number): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text, { mode, flag: "wx" });
  return draft;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

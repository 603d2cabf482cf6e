import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "../runtime/error-code.ts";
import { syncPath, writeDurably } from "./backup-files.ts";

/**
 * Whether there is no key yet.
 *
 * @throws Error that says what to do, if there is another one
 */
export async function isKeyMissing(keyFile: string, key: Buffer): Promise<boolean> {
  const known = await readFile(keyFile).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (known === undefined) return true;
  if (!known.equals(key))
    throw new Error(`\`${keyFile}\` is another encryption key than the backup's: move it away`);
  return false;
}

/**
 * Puts the key in its place, whole and never over another one: a control plane that has started meanwhile may have made one, and
 * what it has encrypted would be lost.
 *
 * @returns whether it was missing
 * @throws Error that says what to do, if there is another one
 */
export async function placeKey(keyFile: string, key: Buffer): Promise<boolean> {
  const draft = `${keyFile}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await writeDurably(draft, key);
    await link(draft, keyFile);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    return await isKeyMissing(keyFile, key);
  } finally {
    await rm(draft, { force: true });
  }
  await syncPath(dirname(keyFile));
  return true;
}

/**
 * Takes the key away again that {@link placeKey} has put there, unless a control plane uses it: one that starts reads the key when
 * it has its databases, so the key is away before anybody looks for those.
 *
 * @param isInUse - whether there are databases
 */
export async function takeKeyAway(keyFile: string, isInUse: () => Promise<boolean>): Promise<void> {
  const aside = `${keyFile}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    await rename(keyFile, aside);
    if (await isInUse()) await link(aside, keyFile);
  } catch (error) {
    // the control plane has made one of its own meanwhile, or somebody has removed it
    if (!GONE_OR_THERE.includes(errorCode(error))) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

const GONE_OR_THERE: readonly (string | undefined)[] = ["ENOENT", "EEXIST"];

import { readFile, writeFile } from "node:fs/promises";
import type { Actor, Scope } from "../control/platform/actor.ts";
import { createApiKey, findPresentedKey, statusOfKey } from "../control/resources/api-keys/store.ts";
import type { ControlContext } from "../control/platform/context.ts";
import { newId } from "../control/platform/ids.ts";

const UP: Actor = { kind: "system", id: "up", name: "gatehouse up" };

/**
 * An API key in a file that only its owner can read: the one of an earlier start if it is still valid, otherwise a new one.
 *
 * @returns its text
 */
export async function keyInFile(context: ControlContext, path: string, scope: Scope): Promise<string> {
  const before = await readFile(path, "utf8").catch(() => "");
  const known = before === "" ? undefined : await findPresentedKey(context.db, before.trim());
  const good = known?.scope === scope && statusOfKey(known, new Date(context.clock())) === "active";
  if (good) return before.trim();
  const origin = { actor: UP, requestId: newId("request"), clientIp: "127.0.0.1" };
  const { environment } = context.settings;
  const { secret } = await context.units(origin, (unit) =>
    createApiKey(unit, { environment, name: `gatehouse up: ${scope}`, scope }),
  );
  await writeFile(path, `${secret}\n`, { mode: 0o600 });
  return secret;
}

import type { CheckStatus } from "../telemetry/check-status.ts";
import { counted } from "../text/index.ts";
import type { KeyStoreStatus } from "./key-store.ts";

/** @returns the state of the issuer's keys, for `/readyz` */
export function keysCheck({ ready, keys, loadedAt, staleAt, lastError }: KeyStoreStatus): CheckStatus {
  if (loadedAt === undefined || staleAt === undefined)
    return { ok: false, detail: lastError ?? "not fetched yet" };
  const problem = lastError === undefined ? "" : `: ${lastError}`;
  if (!ready) return { ok: false, detail: `expired at ${staleAt}${problem}` };
  const there = counted(keys, "key");
  if (lastError === undefined) return { ok: true, detail: there };
  return { ok: true, detail: `${there}, valid until ${staleAt}, last refresh failed${problem}` };
}

import { lockCustomerShared } from "../../tenancy/customers.ts";
import type { Environment } from "../../platform/environment.ts";
import { ApiError, invalidCustomer } from "../../platform/errors.ts";
import type { RowCheck, UnitOfWork } from "../../platform/unit.ts";
import {
  requireApiKey,
  endKey,
  familyOf,
  insertApiKey,
  lockApiKey,
  statusOfKey,
  writeApiKey,
  type ApiKeyRow,
} from "./store.ts";

/** The end of the year 9999, Unix ms. */
const LATEST = 253_402_300_799_999;

export interface Roll {
  readonly environment: Environment;
  readonly id: string;
  /** Seconds for which the rolled key stays valid; with 0 it is refused from the next request on. */
  readonly overlap: number;
}

export interface RolledKey {
  readonly row: ApiKeyRow;
  /** The text of the new key, which is not stored. */
  readonly secret: string;
  /** The rolled key, with its expiry. */
  readonly previous: ApiKeyRow;
}

/**
 * Creates a key that replaces another one, with the same family, name, scope and customer, and the same lifetime. The
 * other one expires at the end of the overlap, or at its own earlier expiry; without an overlap it is revoked.
 *
 * @throws ApiError 404; 409 for a key that is revoked, has expired or was already rolled
 */
export async function rollApiKey(
  unit: UnitOfWork,
  { environment, id, overlap }: Roll,
  check: RowCheck<ApiKeyRow> = () => undefined,
): Promise<RolledKey> {
  const { trx, now } = unit;
  // lock the customer first, as its deletion does
  const { customer_id: customerId } = await requireApiKey(trx, id);
  const customer = customerId === null ? null : await lockCustomerShared(trx, customerId);
  // of two concurrent calls, the second one finds the result of the first
  const before = await lockApiKey(trx, id);
  check(before);
  requireRollable(before, now);
  if (customerId !== null && customer === undefined) throw invalidCustomer(customerId, "path");
  const { name, scope, permissions, allowed_addresses } = before;
  const { row, secret } = await insertApiKey(unit, {
    environment,
    name,
    scope,
    customer_id: customerId,
    permissions,
    allowed_addresses,
    expires_at: expiryAfter(before, now),
    family_id: familyOf(before),
    rolled_from: before.id,
  });
  const end = new Date(now.getTime() + overlap * 1000);
  const previous = await writeApiKey(unit, "api_key.rolled", before, {
    expires_at: before.expires_at !== null && before.expires_at < end ? before.expires_at : end,
    rolled_to: row.id,
    // "from the next request on" must not depend on a clock: another instance's may be behind
    ...(overlap === 0 && { revoked_at: now }),
  });
  if (overlap === 0) await endKey(unit, previous);
  return { row, secret, previous };
}

function requireRollable(key: ApiKeyRow, now: Date): void {
  if (key.rolled_to !== null)
    throw new ApiError("CONFLICT", {
      message: "the API key was already rolled: roll the new key instead",
      details: { rolled_to: key.rolled_to },
    });
  const status = statusOfKey(key, now);
  if (status === "revoked") throw new ApiError("CONFLICT", { message: "the API key is revoked" });
  if (status === "expired") throw new ApiError("CONFLICT", { message: "the API key has expired" });
}

/** The key's lifetime since its creation, counted from now. */
function expiryAfter({ created_at: createdAt, expires_at: expiresAt }: ApiKeyRow, now: Date): Date | null {
  if (expiresAt === null) return null;
  return new Date(Math.min(now.getTime() + expiresAt.getTime() - createdAt.getTime(), LATEST));
}

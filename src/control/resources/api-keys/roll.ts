import { lockCustomerShared } from "../../tenancy/customers.ts";
import type { Environment } from "../../platform/environment.ts";
import { ApiError, invalidCustomer } from "../../platform/errors.ts";
import { haveGatewaysAskAgain } from "../../platform/gateway-signal.ts";
import type { RowCheck, UnitOfWork } from "../../platform/unit.ts";
import {
  requireApiKey,
  announceKey,
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
  /** Seconds for which the key that is rolled goes on being good; with 0 it is refused from the next request on. */
  readonly overlap: number;
}

export interface RolledKey {
  readonly row: ApiKeyRow;
  /** The text of the new key, which is here and nowhere else. */
  readonly secret: string;
  /** The key that was rolled, with its end. */
  readonly previous: ApiKeyRow;
}

/**
 * Makes a key that takes the place of another: of the same family, name, scope and customer, and with as long a life as the
 * other was given. The other ends with the overlap, or before, where it would have expired; without one it is revoked.
 *
 * @throws ApiError 404; 409 for a key that is revoked, has expired or was rolled already
 */
export async function rollApiKey(
  unit: UnitOfWork,
  { environment, id, overlap }: Roll,
  check: RowCheck<ApiKeyRow> = () => undefined,
): Promise<RolledKey> {
  const { trx, now } = unit;
  // the customer first, as who deletes it does
  const { customer_id: customerId } = await requireApiKey(trx, id);
  const isThere = customerId === null || (await lockCustomerShared(trx, customerId));
  // of two at once the second finds what the first has done
  const before = await lockApiKey(trx, id);
  check(before);
  requireRollable(before, now);
  if (customerId !== null && !isThere) throw invalidCustomer(customerId, "path");
  const { name, scope } = before;
  const { row, secret } = await insertApiKey(unit, {
    environment,
    name,
    scope,
    customer_id: customerId,
    expires_at: expiryAfter(before, now),
    family_id: familyOf(before),
    rolled_from: before.id,
  });
  const end = new Date(now.getTime() + overlap * 1000);
  const previous = await writeApiKey(unit, "api_key.rolled", before, {
    expires_at: before.expires_at !== null && before.expires_at < end ? before.expires_at : end,
    rolled_to: row.id,
    // "from the next request on" is by no clock: another instance's may be behind
    ...(overlap === 0 && { revoked_at: now }),
  });
  if (overlap === 0) {
    announceKey(unit, "api_key.revoked", previous);
    await haveGatewaysAskAgain(trx);
  }
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

/** As long from now on as the key was given from its creation on. */
function expiryAfter({ created_at: createdAt, expires_at: expiresAt }: ApiKeyRow, now: Date): Date | null {
  if (expiresAt === null) return null;
  return new Date(Math.min(now.getTime() + expiresAt.getTime() - createdAt.getTime(), LATEST));
}

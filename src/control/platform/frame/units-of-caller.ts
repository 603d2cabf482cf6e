import type { Units } from "../unit.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Authority } from "./authority.ts";

/**
 * Units of work for a caller with credentials. The work and its writers may wait for others: if the caller has lost
 * permission by then, nothing is committed (decision 46).
 */
export function unitsOfCaller(
  units: Units,
  authenticator: Pick<Authenticator, "lockCredentials">,
  authority: Pick<Authority, "checkNow">,
): Units {
  return (origin, work) =>
    units(origin, (unit) => {
      unit.beforeCommit(async () => {
        await authenticator.lockCredentials(unit.trx, origin.actor);
        // as others see it: a session that this unit itself has ended, as in a logout, is valid until its end
        await authority.checkNow();
      });
      return work(unit);
    });
}

import type { Knex } from "knex";
import type { StateData } from "../../../protocol/index.ts";
import { rolloutTermsOf } from "./rollout-service.ts";
import { runningRollouts } from "./rollout-store.ts";
import { activePolicySets } from "./store.ts";

/**
 * What gateways need to know of policy sets: the active version, and the rollout beside it, as of one moment.
 *
 * @param names - of all sets, if absent
 */
export async function policySetStates(
  trx: Knex,
  names?: readonly string[],
): Promise<StateData["policy_sets"]> {
  const running = new Map((await runningRollouts(trx, names)).map((row) => [row.policy_set, row]));
  return (await activePolicySets(trx, names)).map((active) => {
    const rollout = running.get(active.name);
    return { ...active, ...(rollout && { rollout: rolloutTermsOf(rollout) }) };
  });
}

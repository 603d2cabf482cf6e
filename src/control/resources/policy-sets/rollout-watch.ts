import { databaseNow } from "../../../storage/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { compareReports } from "./rollout-progress.ts";
import { abortRunning, stepUp } from "./rollout-service.ts";
import {
  comparedReports,
  findRunningRollout,
  findTakenBack,
  runningRollouts,
  type RolloutRow,
} from "./rollout-store.ts";
import { lockPolicySet } from "./store.ts";

/**
 * Takes candidates back that do worse than the active version, at all gateways together or at one, and lets the others
 * go up when their time has come. Any number of instances may do so at the same time. Call it every second.
 */
export async function watchRollouts({ db, units }: Pick<ControlContext, "db" | "units">): Promise<void> {
  const failures: unknown[] = [];
  for (const rollout of await runningRollouts(db)) {
    try {
      if ((await nextMove(rollout, db)) === undefined) continue;
      const origin = {
        actor: { kind: "system", id: "rollouts", name: "rollouts" },
        requestId: newId("request"),
        clientIp: "",
      } as const;
      await units(origin, (unit) => move(unit, rollout));
    } catch (error) {
      // the others must not wait for it
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

type Move =
  | { readonly kind: "abort"; readonly cause: "denials" | "errors" | "slow"; readonly detail: string }
  | { readonly kind: "step" };

/** Decides again under the lock: the rollout, or the reports, may have changed. */
async function move(unit: UnitOfWork, seen: RolloutRow): Promise<void> {
  await lockPolicySet(unit.trx, seen.policy_set);
  const rollout = await findRunningRollout(unit.trx, seen.policy_set);
  if (rollout?.id !== seen.id) return;
  const next = await nextMove(rollout, unit.trx);
  if (next === undefined) return;
  if (next.kind === "abort") await abortRunning(unit, rollout, next);
  else await stepUp(unit, rollout);
}

async function nextMove(rollout: RolloutRow, db: ControlContext["db"]): Promise<Move | undefined> {
  const found = await findTakenBack(db, rollout.id);
  if (found !== undefined) {
    const { cause, detail } = found.taken_back;
    return { kind: "abort", cause, detail: `gateway ${found.gateway}: ${detail}` };
  }
  if (rollout.mode !== "enforce") return undefined;
  const reports = await comparedReports(db, rollout);
  const now = await databaseNow(db);
  const compared = compareReports(rollout, reports, now) ?? { outcome: "ok" };
  if (compared.outcome === "worse") return { kind: "abort", cause: compared.cause, detail: compared.detail };
  const isLast = rollout.step + 1 >= rollout.steps.length;
  const isDue = now.getTime() - rollout.changed_at.getTime() >= Number(rollout.step_pause_ms);
  return compared.outcome === "ok" && !isLast && isDue ? { kind: "step" } : undefined;
}

import type { Knex } from "knex";
import {
  GATEWAY_ROUTES,
  policySetParams,
  rolloutReportBody,
  rolloutReportTaken,
} from "../../../protocol/index.ts";
import { databaseNow } from "../../../storage/index.ts";
import { clientOf } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { readPage } from "../../platform/frame/list.ts";
import {
  created,
  ok,
  page,
  readRoute,
  writeRoute,
  type Answer,
  type Route,
} from "../../platform/frame/route.ts";
import { presentProgress } from "./rollout-progress.ts";
import { abortBody, rolloutBody, rolloutData, rolloutProgress, rolloutsQuery } from "./rollout-schemas.ts";
import {
  abort,
  presentRollout,
  promote,
  requireNewestRollout,
  rolloutEtag,
  startOrChange,
} from "./rollout-service.ts";
import {
  countReporters,
  reportsOf,
  rollouts,
  shadowCountsOf,
  storeReport,
  type RolloutRow,
} from "./rollout-store.ts";
import { requirePolicySet } from "./service.ts";

const common = { tag: "Rollouts", group: "management", tenancy: "all" } as const;

const COLUMNS = { id: "id", started_at: "started_at" };
/** A report of one gateway takes the database about a millisecond; together they must leave it time for others. */
const REPORT_MS_PER_GATEWAY = 10;
const LEAST_REPORT_MS = 1_000;
const LONGEST_REPORT_MS = 20_000;

/** Rollouts of policy sets: a candidate beside the active version, in shadow or for a part of the callers. */
export function rolloutRoutes({ db, units }: ControlContext): Route[] {
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/policy-sets/{name}/rollout",
      operation: "getRollout",
      summary: "Read the rollout of a policy set, with what gateways report about it",
      description: "The one that runs, or else the last one.",
      permission: "read",
      params: policySetParams,
      answers: { 200: rolloutProgress },
      etag: true,
      errors: ["POLICY_SET_NOT_FOUND", "ROLLOUT_NOT_FOUND"],
      async read({ params: { name } }) {
        await requirePolicySet(db, name);
        const rollout = await requireNewestRollout(db, name);
        const { id } = rollout;
        const shadow = await shadowCountsOf(db, id);
        const progress = presentProgress(rollout, await reportsOf(db, id), shadow, await databaseNow(db));
        return ok({ ...presentRollout(rollout), ...progress }, { etag: rolloutEtag(rollout) });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/policy-sets/{name}/rollouts",
      operation: "listRollouts",
      summary: "List the rollouts of a policy set",
      permission: "read",
      params: policySetParams,
      query: rolloutsQuery,
      answers: { 200: rolloutData.array() },
      paginated: true,
      errors: ["POLICY_SET_NOT_FOUND"],
      async read({ params: { name }, query }) {
        await requirePolicySet(db, name);
        const { rows, total } = await readPage<RolloutRow>(rollouts(db, name), query, COLUMNS);
        return page(rows.map(presentRollout), { ...query, total });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/policy-sets/{name}/rollout",
      operation: "startRollout",
      summary: "Start a rollout, or change the terms of the one that runs",
      description:
        "The candidate is a published version (`activate: false`). In mode `shadow` it is evaluated beside the active version and decides nothing; in mode `enforce` it decides for a part of the callers. All terms are replaced: a member that is left out has its default. While a rollout runs, no other version can be activated. Gateways whose own set it is (`policies.policy_set`) follow; where customers' policies name the set, they keep the active version.",
      permission: "configure",
      params: policySetParams,
      body: rolloutBody,
      answers: { 200: rolloutData, 201: rolloutData },
      ifMatch: true,
      etag: true,
      errors: ["POLICY_SET_NOT_FOUND", "CONFLICT"],
      async write(call, unit) {
        const { name } = call.params;
        const { rollout, isNew } = await startOrChange(unit, name, call.body, call);
        if (!isNew) return answer(rollout);
        return created(presentRollout(rollout), {
          location: `/v1/policy-sets/${name}/rollout`,
          etag: rolloutEtag(rollout),
        });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/policy-sets/{name}/rollout/promote",
      operation: "promoteRollout",
      summary: "Make the candidate the active version",
      description: "Ends the rollout. `POST /policy-sets/{name}/rollback` undoes it.",
      permission: "configure",
      params: policySetParams,
      answers: { 200: rolloutData },
      ifMatch: true,
      etag: true,
      errors: ["POLICY_SET_NOT_FOUND", "CONFLICT"],
      write: async (call, unit) => answer(await promote(unit, call.params.name, call)),
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/policy-sets/{name}/rollout/abort",
      operation: "abortRollout",
      summary: "Take the candidate back",
      description: "Ends the rollout: the active version decides for everybody again.",
      permission: "configure",
      params: policySetParams,
      body: abortBody,
      answers: { 200: rolloutData },
      ifMatch: true,
      etag: true,
      errors: ["POLICY_SET_NOT_FOUND", "CONFLICT"],
      write: async (call, unit) => answer(await abort(unit, call.params.name, call, call.body.detail)),
    }),
    writeRoute({
      method: "post",
      path: GATEWAY_ROUTES.rolloutReports,
      operation: "reportRollout",
      summary: "Report what a gateway has seen of a rollout",
      description: "Repeated at the interval that the answer names. The last report of a gateway counts.",
      tag: "Gateway",
      group: "gateway",
      permission: "gateway",
      tenancy: "all",
      body: rolloutReportBody,
      answers: { 200: rolloutReportTaken },
      errors: ["CONFLICT"],
      units,
      async write({ body, actor }, unit) {
        const running = await storeReport(unit.trx, clientOf(actor), body);
        return ok({ running, report_after_ms: await reportAfter(unit.trx, body.rollout) });
      },
    }),
  ];
}

function answer(rollout: RolloutRow): Answer {
  return ok(presentRollout(rollout), { etag: rolloutEtag(rollout) });
}

async function reportAfter(db: Knex, rollout: string): Promise<number> {
  const ms = (await countReporters(db, rollout)) * REPORT_MS_PER_GATEWAY;
  return Math.min(LONGEST_REPORT_MS, Math.max(LEAST_REPORT_MS, ms));
}

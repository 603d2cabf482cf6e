import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";
import { databaseNow } from "../../../storage/index.ts";
import type { RolloutTermsData } from "../../../protocol/index.ts";
import { ApiError } from "../../platform/errors.ts";
import { etagOf, type Call } from "../../platform/frame/route.ts";
import { newId } from "../../platform/ids.ts";
import { namedActor } from "../../platform/named-actor.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import type { AbortCause, RolloutBody } from "./rollout-schemas.ts";
import {
  endRollout,
  findNewestRollout,
  findRunningRollout,
  insertRollout,
  percentageOf,
  updateTerms,
  type RolloutChangeable,
  type RolloutRow,
} from "./rollout-store.ts";
import { requireLocked, requireVersion, setActive } from "./service.ts";
import { findActiveVersion } from "./store.ts";

type Conditional = Pick<Call<unknown, unknown, unknown>, "ifMatch">;

/**
 * Starts a rollout of a published version, or changes the terms of the one that runs.
 *
 * @returns the rollout, and whether it is new
 * @throws ApiError POLICY_SET_NOT_FOUND; CONFLICT if the set has no active version, the version is the active one, or
 *   a rollout of another version runs
 */
export async function startOrChange(
  unit: UnitOfWork,
  name: string,
  body: RolloutBody,
  call: Conditional,
): Promise<{ readonly rollout: RolloutRow; readonly isNew: boolean }> {
  // of two calls at once, and of a call and an activation, one waits here
  await requireLocked(unit, name);
  const running = await findRunningRollout(unit.trx, name);
  call.ifMatch(running && rolloutEtag(running));
  const rollout = running === undefined ? await start(unit, name, body) : await change(unit, running, body);
  return { rollout, isNew: running === undefined };
}

async function start(unit: UnitOfWork, name: string, body: RolloutBody): Promise<RolloutRow> {
  const { trx } = unit;
  const candidate = await requireVersion(trx, name, body.version);
  const active = await findActiveVersion(trx, name);
  if (active === undefined)
    throw conflict("the set has no active version to fall back to: activate one first", { name });
  if (active.digest === candidate.digest)
    throw conflict("the version has the content of the active one", { name, version: body.version });
  const now = await databaseNow(trx);
  const rollout: RolloutRow = {
    ...{ id: newId("rollout"), policy_set: name, state: "running", revision: 1 },
    ...{ stable_version: active.version, stable_digest: active.digest },
    ...{ candidate_version: candidate.version, candidate_digest: candidate.digest },
    ...termsOf(body),
    ...{ step: 0, sticky_by: body.sticky_by, started_at: now, changed_at: now },
    started_by: await namedActor(trx, unit.origin.actor),
    ...{ ended_at: null, ended_by: null, cause: null, detail: null },
  };
  await insertRollout(trx, rollout);
  announce(unit, "policy_set.rollout_started", undefined, rollout);
  return rollout;
}

async function change(unit: UnitOfWork, running: RolloutRow, body: RolloutBody): Promise<RolloutRow> {
  const { policy_set: name, candidate_version: version, sticky_by: stickyBy } = running;
  if (body.version !== version)
    throw conflict(`a rollout of \`${version}\` runs: promote or abort it first`, { name, version });
  // another key would move callers back to the active version
  if (body.sticky_by !== stickyBy)
    throw conflict("`sticky_by` cannot change during a rollout", { name, sticky_by: stickyBy });
  const next = termsOf(body);
  const sameCourse = next.mode === running.mode && isDeepStrictEqual(next.steps, running.steps);
  const terms = { ...next, step: sameCourse ? running.step : 0 };
  if (isDeepStrictEqual(terms, changeableOf(running))) return running;
  return changeTerms(unit, running, terms);
}

/** Changes the terms of a running rollout whose set is locked. */
export async function changeTerms(
  unit: UnitOfWork,
  running: RolloutRow,
  terms: RolloutChangeable,
): Promise<RolloutRow> {
  const after = await updateTerms(unit.trx, running, terms);
  announce(unit, "policy_set.rollout_changed", running, after);
  return after;
}

/** Goes up one step. */
export function stepUp(unit: UnitOfWork, running: RolloutRow): Promise<RolloutRow> {
  return changeTerms(unit, running, { ...changeableOf(running), step: running.step + 1 });
}

/**
 * Makes the candidate the active version, and ends the rollout.
 * @throws ApiError POLICY_SET_NOT_FOUND; CONFLICT if no rollout runs
 */
export async function promote(unit: UnitOfWork, name: string, call: Conditional): Promise<RolloutRow> {
  const row = await requireLocked(unit, name);
  const running = await requireRunning(unit, name);
  call.ifMatch(rolloutEtag(running));
  const ended = await endRollout(unit.trx, running, {
    ...{ state: "promoted", cause: null, detail: null },
    ended_by: await namedActor(unit.trx, unit.origin.actor),
  });
  await setActive(unit, row, [...row.activated, running.candidate_version], "policy_set.activated");
  announce(unit, "policy_set.rollout_promoted", running, ended);
  return ended;
}

/**
 * Ends the rollout: the active version decides for everybody again.
 * @throws ApiError POLICY_SET_NOT_FOUND; CONFLICT if no rollout runs
 */
export async function abort(
  unit: UnitOfWork,
  name: string,
  call: Conditional,
  detail: string | undefined,
): Promise<RolloutRow> {
  await requireLocked(unit, name);
  const running = await requireRunning(unit, name);
  call.ifMatch(rolloutEtag(running));
  return abortRunning(unit, running, { cause: "operator", detail: detail ?? null });
}

/** Aborts a running rollout whose set is locked. */
export async function abortRunning(
  unit: UnitOfWork,
  running: RolloutRow,
  why: { readonly cause: AbortCause; readonly detail: string | null },
): Promise<RolloutRow> {
  const ended_by = await namedActor(unit.trx, unit.origin.actor);
  const { cause, detail } = why;
  const ended = await endRollout(unit.trx, running, { state: "aborted", ended_by, cause, detail });
  announce(unit, "policy_set.rollout_aborted", running, ended);
  return ended;
}

/** @throws ApiError POLICY_SET_NOT_FOUND, also if the set has had no rollout */
export async function requireNewestRollout(db: Knex, name: string): Promise<RolloutRow> {
  const rollout = await findNewestRollout(db, name);
  if (rollout === undefined) throw new ApiError("ROLLOUT_NOT_FOUND", { details: { name } });
  return rollout;
}

export function rolloutEtag({ id, revision, state }: RolloutRow): string {
  return etagOf({ id: `${id}.${state}`, revision });
}

/** A running rollout, for gateways. */
export function rolloutTermsOf(row: RolloutRow): RolloutTermsData {
  const { id, revision, candidate_version: version, candidate_digest: digest, mode, sticky_by, guard } = row;
  return { id, revision, version, digest, mode, percentage: percentageOf(row), sticky_by, guard };
}

/** As returned by the API. */
export function presentRollout(row: RolloutRow): object {
  const { stable_version, stable_digest, candidate_version, candidate_digest, step_pause_ms, guard } = row;
  const { window_ms = 0, ...limits } = guard ?? {};
  return {
    ...row,
    stable: { version: stable_version, digest: stable_digest },
    candidate: { version: candidate_version, digest: candidate_digest },
    percentage: percentageOf(row),
    step_pause_seconds: Number(step_pause_ms) / 1000,
    guard: guard && { window_seconds: window_ms / 1000, ...limits },
  };
}

async function requireRunning(unit: UnitOfWork, name: string): Promise<RolloutRow> {
  const running = await findRunningRollout(unit.trx, name);
  if (running === undefined) throw conflict("no rollout of the set is running", { name });
  return running;
}

function termsOf({ mode, percentage = 0, steps, step_pause_seconds: pause, guard }: RolloutBody) {
  const { window_seconds: window = 0, ...limits } = guard ?? {};
  return {
    ...{ mode, percentage, steps, step_pause_ms: pause * 1000 },
    guard: guard && { window_ms: window * 1000, ...limits },
  } as Omit<RolloutChangeable, "step">;
}

function changeableOf({
  mode,
  percentage,
  steps,
  step,
  step_pause_ms,
  guard,
}: RolloutRow): RolloutChangeable {
  return { mode, percentage, steps, step, step_pause_ms: Number(step_pause_ms), guard };
}

function announce(
  unit: UnitOfWork,
  type:
    | "policy_set.rollout_started"
    | "policy_set.rollout_changed"
    | "policy_set.rollout_promoted"
    | "policy_set.rollout_aborted",
  before: RolloutRow | undefined,
  after: RolloutRow,
): void {
  const { id, policy_set: name, mode, candidate_version: version, candidate_digest: digest } = after;
  const { cause, detail } = after;
  unit.record({
    action: type,
    target: { type: "policy_set", id: name },
    ...(before && { before: recorded(before) }),
    after: { rollout: id, version, digest, ...recorded(after) },
  });
  const why = { ...(cause !== null && { cause }), ...(detail !== null && { detail }) };
  unit.emit({
    type,
    data: {
      policy_set: { name, version, digest },
      rollout: { id, mode, percentage: percentageOf(after), ...why },
    },
  });
  unit.notifyGateways({ type: "policy_set_activated", name });
}

/** What a change of a rollout can change. */
function recorded(row: RolloutRow): Readonly<Record<string, unknown>> {
  const { state, mode, steps, step_pause_ms: pause, guard, cause, detail, sticky_by } = row;
  return {
    ...{ state, mode, percentage: percentageOf(row), sticky_by, steps },
    ...{ step_pause_seconds: Number(pause) / 1000, guard },
    ...(cause !== null && { cause }),
    ...(detail !== null && { detail }),
  };
}

function conflict(message: string, details: Readonly<Record<string, unknown>>): ApiError {
  return new ApiError("CONFLICT", { message, details });
}

import type { Knex } from "knex";
import type { PolicyFile } from "../../../policy/index.ts";
import { ApiError } from "../../platform/errors.ts";
import { etagOf, type Call } from "../../platform/frame/route.ts";
import { namedActor } from "../../platform/named-actor.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import type { CompiledPolicySet } from "./compile-thread.ts";
import { findRunningRollout, percentageOf } from "./rollout-store.ts";
import {
  findActiveVersion,
  findPolicySet,
  findVersion,
  insertVersion,
  lockOrMakePolicySet,
  lockPolicySet,
  updatePolicySet,
  type PolicySetOverview,
  type PolicySetRow,
  type VersionRow,
} from "./store.ts";

/** Maximum number of activations that a rollback can undo. */
const MAX_ACTIVATED = 100;

/** The part of a call that compares ETags. */
type Conditional = Pick<Call<unknown, unknown, unknown>, "ifMatch">;

/** A set that compiled, and its source. */
export interface PublishableSet {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
  readonly rules: number;
  readonly files: readonly PolicyFile[];
  readonly diagnostics: CompiledPolicySet["diagnostics"];
}

/** @throws ApiError POLICY_SET_INVALID with the diagnostics that the CLI would print */
export function requireValid(
  { set, diagnostics, rendered }: CompiledPolicySet,
  files: readonly PolicyFile[],
): PublishableSet {
  if (set === undefined) throw new ApiError("POLICY_SET_INVALID", { details: { diagnostics, rendered } });
  return { ...set, files, diagnostics };
}

/**
 * Publishes a version, and activates it if requested. Publishing the same content again changes nothing, including
 * which version is active.
 *
 * @returns whether it is new
 * @throws ApiError VERSION_IMMUTABLE if the version has other content
 */
export async function publish(
  unit: UnitOfWork,
  set: PublishableSet,
  options: { readonly activate: boolean },
): Promise<boolean> {
  const { name, version, digest } = set;
  // of two concurrent calls, the second one waits here
  const row = await lockOrMakePolicySet(unit.trx, name, unit.now);
  const known = await findVersion(unit.trx, name, version);
  if (known !== undefined) {
    if (known.digest === digest) return false;
    throw new ApiError("VERSION_IMMUTABLE", {
      message: `\`${name}@${version}\` was published with different content; change the set's version`,
      details: { name, version, published_digest: known.digest, digest },
    });
  }
  await addVersion(unit, set);
  const touched = await updatePolicySet(unit.trx, row, {}, unit.now);
  if (options.activate)
    await setActive(unit, touched, [...touched.activated, version], "policy_set.activated");
  return true;
}

/** Writes a new version of the locked set. */
export async function addVersion(unit: UnitOfWork, set: PublishableSet): Promise<void> {
  const { name, version, digest, rules, files, diagnostics } = set;
  await insertVersion(unit.trx, {
    name,
    version,
    digest,
    rules,
    files,
    diagnostics,
    published_at: unit.now,
    published_by: await namedActor(unit.trx, unit.origin.actor),
  });
  unit.record({
    action: "policy_set.published",
    target: { type: "policy_set", id: name },
    after: { version, digest, rules },
  });
  unit.emit({ type: "policy_set.published", data: { policy_set: { name, version, digest } } });
}

/** Puts a version in force; nothing changes if it already is. */
export async function activate(
  unit: UnitOfWork,
  name: string,
  version: string,
  call: Conditional,
): Promise<void> {
  const row = await requireLocked(unit, name);
  call.ifMatch(policySetEtag(row));
  await requireVersion(unit.trx, name, version);
  if (row.activated.at(-1) !== version)
    await setActive(unit, row, [...row.activated, version], "policy_set.activated");
}

/**
 * Activates the version that was active before the current one; if repeated, the one before that. Undoes activations
 * one after the other, and is itself undone by an activation.
 */
export async function rollBack(unit: UnitOfWork, name: string, call: Conditional): Promise<void> {
  const row = await requireLocked(unit, name);
  call.ifMatch(policySetEtag(row));
  if (row.activated.length < 2) {
    throw new ApiError("CONFLICT", {
      message: "no other version was active before",
      details: { name, active_version: row.activated.at(-1) ?? null },
    });
  }
  await setActive(unit, row, row.activated.slice(0, -1), "policy_set.rolled_back");
}

/**
 * @param activated - the history of activations, ending with the version that is in force from now on
 * @throws ApiError CONFLICT if a rollout runs: its candidate was compared with the version that is active now
 */
export async function setActive(
  unit: UnitOfWork,
  row: PolicySetRow,
  activated: readonly string[],
  action: "policy_set.activated" | "policy_set.rolled_back",
): Promise<PolicySetRow> {
  const rollout = await findRunningRollout(unit.trx, row.name);
  if (rollout !== undefined)
    throw new ApiError("CONFLICT", {
      message: "a rollout of the set runs: promote or abort it first",
      details: { name: row.name, rollout: rollout.id, version: rollout.candidate_version },
    });
  const after = await updatePolicySet(
    unit.trx,
    row,
    { activated: activated.slice(-MAX_ACTIVATED), activated_at: unit.now },
    unit.now,
  );
  unit.record({
    action,
    target: { type: "policy_set", id: row.name },
    before: { active_version: row.activated.at(-1) ?? null },
    after: { active_version: activated.at(-1) ?? null },
  });
  unit.notifyGateways({ type: "policy_set_activated", name: row.name });
  return after;
}

/** @throws ApiError POLICY_SET_NOT_FOUND */
export async function requirePolicySet(db: Knex, name: string): Promise<PolicySetOverview> {
  const row = await findPolicySet(db, name);
  if (row === undefined) throw unknownSet({ name });
  return row;
}

/** @throws ApiError POLICY_SET_NOT_FOUND */
export async function requireVersion(db: Knex, name: string, version: string): Promise<VersionRow> {
  const row = await findVersion(db, name, version);
  if (row === undefined) throw unknownSet({ name, version });
  return row;
}

/** @throws ApiError POLICY_SET_NOT_FOUND, also if no version is in force */
export async function requireActiveVersion(db: Knex, name: string): Promise<VersionRow> {
  const row = await findActiveVersion(db, name);
  if (row === undefined) throw unknownSet({ name });
  return row;
}

export function policySetEtag({ name, revision }: PolicySetRow): string {
  return etagOf({ id: name, revision });
}

/** As returned by the API. */
export function presentPolicySet(row: PolicySetOverview): object {
  return {
    ...row,
    active_version: row.activated.at(-1) ?? null,
    previous_version: row.activated.at(-2) ?? null,
    rollout: row.rollout && {
      id: row.rollout.id,
      version: row.rollout.candidate_version,
      mode: row.rollout.mode,
      percentage: percentageOf(row.rollout),
    },
  };
}

/** Locks a set that is about to change. @throws ApiError POLICY_SET_NOT_FOUND */
export async function requireLocked(unit: UnitOfWork, name: string): Promise<PolicySetRow> {
  const row = await lockPolicySet(unit.trx, name);
  if (row === undefined) throw unknownSet({ name });
  return row;
}

function unknownSet(details: { readonly name: string; readonly version?: string }): ApiError {
  return new ApiError("POLICY_SET_NOT_FOUND", { details });
}

import type { Knex } from "knex";
import type { PolicyFile } from "../../../policy/index.ts";
import { ApiError } from "../../platform/errors.ts";
import { etagOf, type Call } from "../../platform/frame/route.ts";
import { namedActor } from "../../platform/named-actor.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import type { CompiledPolicySet } from "./compile-thread.ts";
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

/** How far back a rollback can lead. */
const MAX_ACTIVATED = 100;

/** The part of a call that compares ETags. */
type Conditional = Pick<Call<unknown, unknown, unknown>, "ifMatch">;

/** A set that compiled, with what it was compiled from. */
export interface PublishableSet {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
  readonly rules: number;
  readonly files: readonly PolicyFile[];
  readonly diagnostics: CompiledPolicySet["diagnostics"];
}

/** @throws ApiError POLICY_SET_INVALID, with what the CLI would report */
export function requireValid(
  { set, diagnostics, rendered }: CompiledPolicySet,
  files: readonly PolicyFile[],
): PublishableSet {
  if (set === undefined) throw new ApiError("POLICY_SET_INVALID", { details: { diagnostics, rendered } });
  return { ...set, files, diagnostics };
}

/**
 * Publishes a version, and activates it if so wanted. The same content again changes nothing: not what is active, either.
 *
 * @returns whether it is new
 * @throws ApiError VERSION_IMMUTABLE where the version has other content
 */
export async function publish(
  unit: UnitOfWork,
  set: PublishableSet,
  options: { readonly activate: boolean },
): Promise<boolean> {
  const { name, version, digest } = set;
  // of two who publish at once the second waits here
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

/** Writes a version that the locked set has not. */
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

/** Puts a version in force. One that is, stays: nothing changes. */
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
 * Puts the version in force that was before the one that is; again, the one before that. It undoes activations one after
 * the other, and is itself undone by activating.
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

/** @param activated - with the version last that is in force from now on */
export async function setActive(
  unit: UnitOfWork,
  row: PolicySetRow,
  activated: readonly string[],
  action: "policy_set.activated" | "policy_set.rolled_back",
): Promise<PolicySetRow> {
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

/** @throws ApiError POLICY_SET_NOT_FOUND, where no version is in force too */
export async function requireActiveVersion(db: Knex, name: string): Promise<VersionRow> {
  const row = await findActiveVersion(db, name);
  if (row === undefined) throw unknownSet({ name });
  return row;
}

export function policySetEtag({ name, revision }: PolicySetRow): string {
  return etagOf({ id: name, revision });
}

/** As it is answered. */
export function presentPolicySet(row: PolicySetOverview): object {
  return {
    ...row,
    active_version: row.activated.at(-1) ?? null,
    previous_version: row.activated.at(-2) ?? null,
  };
}

async function requireLocked(unit: UnitOfWork, name: string): Promise<PolicySetRow> {
  const row = await lockPolicySet(unit.trx, name);
  if (row === undefined) throw unknownSet({ name });
  return row;
}

function unknownSet(details: { readonly name: string; readonly version?: string }): ApiError {
  return new ApiError("POLICY_SET_NOT_FOUND", { details });
}

import type { Knex } from "knex";
import type { Diagnostic, PolicyFile } from "../../../policy/index.ts";
import type { RolloutRow } from "./rollout-store.ts";

/** A policy set, by its name. */
export interface PolicySetRow {
  readonly name: string;
  /** Versions in the order of their activation; the last one is active. */
  readonly activated: readonly string[];
  readonly activated_at: Date | null;
  /** The digest that was last published from a folder. */
  readonly folder_digest: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly revision: number;
}

/** A set with the data shown with it. */
export interface PolicySetOverview extends PolicySetRow {
  readonly active_digest: string | null;
  readonly versions: number;
  /** The rollout that runs. */
  readonly rollout: Pick<
    RolloutRow,
    "id" | "mode" | "percentage" | "steps" | "step" | "candidate_version"
  > | null;
}

/** A version, which never changes. */
export interface VersionRow {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
  readonly files: readonly PolicyFile[];
  readonly rules: number;
  /** Its warnings. */
  readonly diagnostics: readonly Diagnostic[];
  readonly published_at: Date;
  readonly published_by: { readonly kind: string; readonly id: string; readonly name?: string };
}

/** The version of a set that gateways enforce. */
export interface ActivePolicySet {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
}

const ACTIVE_VERSION = "sets.activated[cardinality(sets.activated)]";
const OF_ACTIVE = `left join policy_set_versions as active on active.name = sets.name and active.version = ${ACTIVE_VERSION}`;

/** All sets, for lists. */
export function policySets(db: Knex): Knex.QueryBuilder {
  return db("policy_sets as sets")
    .joinRaw(OF_ACTIVE)
    .select(
      "sets.*",
      "active.digest as active_digest",
      db.raw("(select count(*)::int from policy_set_versions as v where v.name = sets.name) as versions"),
      db.raw(
        `(select json_build_object('id', r.id, 'mode', r.mode, 'percentage', r.percentage, 'steps', r.steps,
                                   'step', r.step, 'candidate_version', r.candidate_version)
            from policy_rollouts as r where r.policy_set = sets.name and r.state = 'running') as rollout`,
      ),
    );
}

export async function findPolicySet(db: Knex, name: string): Promise<PolicySetOverview | undefined> {
  return (await policySets(db).where("sets.name", name).first()) as PolicySetOverview | undefined;
}

/** Reads a set that is about to change; others wait. */
export async function lockPolicySet(trx: Knex.Transaction, name: string): Promise<PolicySetRow | undefined> {
  return trx("policy_sets").where({ name }).forUpdate().first<PolicySetRow | undefined>();
}

/** The same, creating the set if it does not exist. */
export async function lockOrMakePolicySet(
  trx: Knex.Transaction,
  name: string,
  now: Date,
): Promise<PolicySetRow> {
  await trx("policy_sets").insert({ name, created_at: now, updated_at: now }).onConflict("name").ignore();
  const row = await lockPolicySet(trx, name);
  if (row === undefined) throw new Error(`policy set ${name} was made and is gone`);
  return row;
}

/** @returns the digest that was last published from a folder */
export async function folderDigest(db: Knex, policySet: string, source: string): Promise<string | undefined> {
  const found = await db("policy_folders")
    .where({ policy_set: policySet, source })
    .first<{ digest: string } | undefined>("digest");
  return found?.digest;
}

/** Stores the digest of a folder, under the lock of its policy set. */
export async function keepFolderDigest(
  trx: Knex,
  policySet: string,
  source: string,
  digest: string,
): Promise<void> {
  await trx("policy_folders")
    .insert({ policy_set: policySet, source, digest })
    .onConflict(["policy_set", "source"])
    .merge();
}

/** Writes the changes to a set that this transaction has locked. */
export async function updatePolicySet(
  trx: Knex.Transaction,
  { name, revision }: PolicySetRow,
  change: Partial<Pick<PolicySetRow, "activated" | "activated_at" | "folder_digest">>,
  now: Date,
): Promise<PolicySetRow> {
  const [after] = (await trx("policy_sets")
    .where({ name })
    .update({ ...change, updated_at: now, revision: revision + 1 })
    .returning("*")) as PolicySetRow[];
  if (after === undefined) throw new Error(`policy set ${name} was locked and is gone`);
  return after;
}

export async function findVersion(db: Knex, name: string, version: string): Promise<VersionRow | undefined> {
  return db("policy_set_versions").where({ name, version }).first<VersionRow | undefined>();
}

export async function insertVersion(trx: Knex.Transaction, row: VersionRow): Promise<void> {
  const { files, diagnostics, published_by } = row;
  await trx("policy_set_versions").insert({
    ...row,
    files: JSON.stringify(files),
    diagnostics: JSON.stringify(diagnostics),
    published_by: JSON.stringify(published_by),
  });
}

/** Active versions: of all sets, or of those named sets that have one. */
export async function activePolicySets(db: Knex, names?: readonly string[]): Promise<ActivePolicySet[]> {
  const query = db("policy_sets as sets")
    .joinRaw(OF_ACTIVE.replace("left join", "join"))
    .orderBy("sets.name")
    .select<ActivePolicySet[]>("active.name", "active.version", "active.digest");
  if (names !== undefined) void query.whereRaw("sets.name = any(?)", [[...names]]);
  return query;
}

/** The active version of a set, with its files. */
export async function findActiveVersion(db: Knex, name: string): Promise<VersionRow | undefined> {
  return db("policy_sets as sets")
    .joinRaw(OF_ACTIVE.replace("left join", "join"))
    .where("sets.name", name)
    .first<VersionRow | undefined>("active.*");
}

import type { Knex } from "knex";
import { readPolicyFolder } from "../../decision/policies/policy-folder.ts";
import { lockUntilEndWithin } from "../../storage/index.ts";
import type { ControlContext } from "../platform/context.ts";
import { ApiError } from "../platform/errors.ts";
import { newId } from "../platform/ids.ts";
import type { Keyring } from "../sign-in/issuer/keyring.ts";
import { failed } from "../resources/policy-sets/compile-thread.ts";
import type { PolicySetCompiler } from "../resources/policy-sets/compiler.ts";
import { sourceOf } from "../resources/policy-sets/publish-folder.ts";
import { makePartition, startOfDay } from "../analytics/records/partitions.ts";
import type { UnitOfWork } from "../platform/unit.ts";
import type { Seeded } from "./schemas.ts";
import { HISTORY_DAYS, insertSeed, type Prepared } from "./seed/insert-seed.ts";
import type { SandboxSeed } from "./seed/types.ts";
import { isEmpty, wipe } from "./wipe.ts";

const WAIT_MS = 120_000;
const DAY_MS = 86_400_000;

/** What a sandbox is filled by. */
export interface FillingParts {
  readonly seed: SandboxSeed;
  readonly keyring: Keyring;
  readonly compile: PolicySetCompiler;
}

/** What cannot be done within the transaction: keys, partitions, and compiling the policy set. */
export async function prepareReset(context: ControlContext, parts: FillingParts): Promise<Prepared> {
  const { db, clock } = context;
  const today = startOfDay(clock());
  for (const table of ["audit_records", "events"] as const)
    for (let day = -HISTORY_DAYS; day <= 0; day += 1) await makePartition(db, table, today + day * DAY_MS);
  return {
    seed: parts.seed,
    key: await parts.keyring.signingKey(),
    ...(await compiled(context, parts)),
  };
}

/** What is in force by then, another instance may have published; from here on it waits for the end of the transaction. */
async function upToDate(context: ControlContext, parts: FillingParts, prepared: Prepared): Promise<Prepared> {
  const { seed, fingerprint } = prepared;
  if (seed.policies === undefined) return prepared;
  const { directory, policySet } = seed.policies;
  const now = await readPolicyFolder(directory, policySet);
  return now.fingerprint === fingerprint ? prepared : { ...prepared, ...(await compiled(context, parts)) };
}

/** Empties the sandbox and seeds it again, in the unit's transaction. A concurrent reset waits. */
export async function reset(
  context: ControlContext,
  parts: FillingParts,
  unit: UnitOfWork,
  prepared: Prepared,
): Promise<Seeded> {
  await lock(unit.trx);
  await wipe(unit);
  return fill(context, unit, await upToDate(context, parts, prepared), "sandbox.reset");
}

/** Fills a sandbox at its first start; one that was ever used stays as it is. */
export async function seedSandbox(context: ControlContext, parts: FillingParts): Promise<void> {
  if (!(await isEmpty(context.db))) return;
  const prepared = await prepareReset(context, parts);
  const origin = {
    actor: { kind: "system", id: "sandbox", name: "sandbox" },
    requestId: newId("request"),
    clientIp: "127.0.0.1",
  } as const;
  await context.units(origin, async (unit) => {
    await lock(unit.trx);
    // another instance may have been first
    if (await isEmpty(unit.trx)) await fill(context, unit, prepared, "sandbox.filled");
  });
}

/** The statement waits for another reset to finish completely. */
async function lock(trx: Knex.Transaction): Promise<void> {
  if (!(await lockUntilEndWithin(trx, "sandboxFilling", WAIT_MS)))
    throw new ApiError("SERVICE_UNAVAILABLE", { headers: { "retry-after": "1" } });
}

async function fill(
  context: ControlContext,
  unit: UnitOfWork,
  prepared: Prepared,
  action: string,
): Promise<Seeded> {
  await insertSeed(context, unit.trx, prepared);
  const counts = await count(unit.trx);
  unit.record({ action, target: { type: "sandbox", id: "sandbox" }, after: counts });
  return counts;
}

/** A set with errors is left out: the sandbox works without. */
async function compiled(
  { log }: ControlContext,
  { seed: { policies }, compile }: FillingParts,
): Promise<Pick<Prepared, "policySet" | "fingerprint">> {
  if (policies === undefined) return { policySet: undefined, fingerprint: undefined };
  const { directory, policySet: name } = policies;
  const { files, diagnostics, fingerprint } = await readPolicyFolder(directory, name);
  const { set, ...found } =
    diagnostics.length > 0 ? failed(diagnostics, files) : await compile({ name, files });
  if (set !== undefined) {
    const policySet = { ...set, files, diagnostics: found.diagnostics, source: sourceOf(directory) };
    return { policySet, fingerprint };
  }
  log.warn(
    { policy_set: name, report: found.rendered },
    "the policy folder has errors; seeding the sandbox without it",
  );
  return { policySet: undefined, fingerprint };
}

async function count(trx: Knex.Transaction): Promise<Seeded> {
  const rowsOf = async (table: string): Promise<number> => {
    const row = await trx(table).count({ total: "*" }).first<{ total: number | string }>();
    return Number(row.total);
  };
  const decisions = await trx("audit_records")
    .where({ kind: "decision" })
    .count({ total: "*" })
    .first<{ total: number | string }>();
  return {
    customers: await rowsOf("customers"),
    people: await rowsOf("sandbox_people"),
    users: await rowsOf("users"),
    sessions: await rowsOf("sessions"),
    policies: await rowsOf("policies"),
    policy_sets: await rowsOf("policy_sets"),
    webhooks: await rowsOf("webhooks"),
    api_keys: await rowsOf("api_keys"),
    decisions: Number(decisions.total),
    events: await rowsOf("events"),
  };
}

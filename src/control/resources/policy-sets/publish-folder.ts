import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { readPolicyFolder, type PolicyFolder } from "../../../decision/policies/policy-folder.ts";
import type { ControlContext } from "../../platform/context.ts";
import { haveSeveralProviders } from "../../tenancy/idp.ts";
import { newId } from "../../platform/ids.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { failed } from "./compile-thread.ts";
import type { PolicySetCompiler } from "./compiler.ts";
import { findRunningRollout } from "./rollout-store.ts";
import { addVersion, setActive, type PublishableSet } from "./service.ts";
import {
  findActiveVersion,
  findVersion,
  folderDigest,
  keepFolderDigest,
  lockOrMakePolicySet,
  updatePolicySet,
} from "./store.ts";

/** The result of publishing a folder. */
export type FolderOutcome =
  | {
      readonly kind: "published";
      readonly version: string;
      readonly digest: string;
      /**
       * The version that somebody had activated since the folder was last published, and that is no longer in force.
       */
      readonly replaced?: string;
    }
  /** It is what was last published from this folder, or from any; the active version is not changed. */
  | { readonly kind: "unchanged"; readonly digest: string }
  /** A rollout of another version runs. Nothing has changed; the folder is to be published when it has ended. */
  | { readonly kind: "waiting"; readonly version: string }
  /** Nothing has changed. */
  | { readonly kind: "invalid"; readonly report: string };

export interface PublishFolderDependencies {
  readonly context: Pick<ControlContext, "db" | "units" | "log">;
  readonly compile: PolicySetCompiler;
}

/**
 * Publishes and activates the set of a policy folder if it has changed since it was last published. So a restart does
 * not undo an activation or rollback since then, nor what another instance has published from its own folder. Errors in
 * the set are logged and change nothing.
 */
export async function publishFolder(
  { context, compile }: PublishFolderDependencies,
  directory: string,
  name: string,
): Promise<FolderOutcome> {
  const folder = await readPolicyFolder(directory, name);
  return publishFiles({ context, compile }, folder, name, sourceOf(directory));
}

/** @returns a name for a folder of this machine that is the same after a restart */
export function sourceOf(directory: string): string {
  return createHash("sha256")
    .update(JSON.stringify([hostname(), resolve(directory)]))
    .digest("base64url");
}

/** The same, for a folder that was read. */
export async function publishFiles(
  { context, compile }: PublishFolderDependencies,
  { files, diagnostics }: PolicyFolder,
  name: string,
  source: string,
): Promise<FolderOutcome> {
  const compiled =
    diagnostics.length > 0
      ? failed(diagnostics, files)
      : await compile({ name, files, severalProviders: await haveSeveralProviders(context.db) });
  if (compiled.set === undefined) {
    const report = compiled.rendered;
    context.log.error(
      { policy_set: name, report },
      "the policy folder has errors and was not published; the earlier version stays in force",
    );
    return { kind: "invalid", report };
  }
  const set: PublishableSet = { ...compiled.set, files, diagnostics: compiled.diagnostics };
  const origin = {
    actor: { kind: "system", id: "policy-folder", name: "policy folder" },
    requestId: newId("request"),
    clientIp: "",
  } as const;
  const outcome = await context.units(origin, (unit) => publishAndActivate(unit, set, source));
  if (outcome.kind === "published") {
    const { version, digest, replaced } = outcome;
    const report = compiled.rendered === "" ? {} : { report: compiled.rendered };
    const fields = { policy_set: `${name}@${version}`, digest, ...report };
    if (replaced === undefined) context.log.info(fields, "published the policy folder");
    else
      context.log.warn(
        { ...fields, replaced: `${name}@${replaced}` },
        "published the changed policy folder, which replaces a version that was activated through the API",
      );
  }
  return outcome;
}

/** Within a unit: {@link publishFolder} for a set that compiled. */
export async function publishAndActivate(
  unit: UnitOfWork,
  set: PublishableSet,
  source: string,
): Promise<Exclude<FolderOutcome, { kind: "invalid" }>> {
  const { name, digest } = set;
  const row = await lockOrMakePolicySet(unit.trx, name, unit.now);
  const known = [await folderDigest(unit.trx, name, source), row.folder_digest];
  const rollout = known.includes(digest) ? undefined : await findRunningRollout(unit.trx, name);
  if (rollout !== undefined) return { kind: "waiting", version: rollout.candidate_version };
  await keepFolderDigest(unit.trx, name, source, digest);
  if (known.includes(digest)) return { kind: "unchanged", digest };
  const before = await findActiveVersion(unit.trx, name);
  const version = await keepVersion(unit, set);
  const kept = await updatePolicySet(unit.trx, row, { folder_digest: digest }, unit.now);
  if (before?.version === version) return { kind: "published", version, digest };
  await setActive(unit, kept, [...kept.activated, version], "policy_set.activated");
  const ofSomebody = before !== undefined && before.digest !== row.folder_digest;
  return { kind: "published", version, digest, ...(ofSomebody && { replaced: before.version }) };
}

/**
 * @returns the version under which the content is published: the one in its head, or, if that already has other content
 *   (people rarely change the version when they edit a folder), the same with a part of the digest
 */
async function keepVersion(unit: UnitOfWork, set: PublishableSet): Promise<string> {
  const { name, digest } = set;
  for (const version of [set.version, `${set.version}+${digest.slice(0, 8)}`, `${set.version}+${digest}`]) {
    const known = await findVersion(unit.trx, name, version);
    if (known?.digest === digest) return version;
    if (known !== undefined) continue;
    await addVersion(unit, { ...set, version });
    return version;
  }
  throw new Error(`every version of ${name} for the digest ${digest} has different content`);
}

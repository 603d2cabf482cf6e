import { strict as assert } from "node:assert";
import { serializeRecord } from "../../../src/audit/serialize.ts";
import { createInputHash, createInputProtection } from "../../../src/decision/inputs/index.ts";
import { auditRecord } from "../../../src/decision/point/record.ts";
import {
  readDecisionRecord,
  replayRecord,
  type DecisionRecord,
  type ReplayedSets,
} from "../../../src/decision/replay/index.ts";
import type { Candidate, PolicyRelease } from "../../../src/decision/policies/release.ts";
import type { Snapshot } from "../../../src/decision/policies/snapshot.ts";
import { parseAttributePath, type ValueObject } from "../../../src/policy/index.ts";
import { accessOf, deciderOf, snapshotOf, UNUSED_VERIFIER, type RequestParts } from "../support.ts";

export const KEY = "0123456789abcdef0123456789abcdef";
export const HASH = createInputHash(KEY);

interface Keeping {
  readonly keep?: readonly string[];
  readonly hashed?: true;
  /** A candidate beside the set. */
  readonly candidate?: Pick<Candidate, "set" | "percentage" | "mode">;
}

export function decidesFor(release: PolicyRelease, user: ValueObject | undefined, keepInputs: boolean) {
  const identity = user && {
    user,
    userId: typeof user["id"] === "string" ? user["id"] : "",
    session: { amr: [] },
    expiresAt: 9e15,
  };
  return deciderOf(undefined, {
    verifier: UNUSED_VERIFIER,
    policies: () => release,
    identify: () => (identity ? { identity } : {}),
    tokens: { connectionParams: [["authorization"]] },
    keepInputs,
  });
}

/** The record of a decision, as it is written: one line of JSON. */
export async function lineOf(
  snapshot: Snapshot,
  parts: RequestParts & { readonly user?: ValueObject },
  { keep = [], hashed, candidate }: Keeping = {},
): Promise<string> {
  const { user } = parts;
  const release: PolicyRelease = {
    ...{ main: snapshot, customers: new Map() },
    ...(candidate && { candidate: { ...candidate, stickyBy: "user" } }),
  };
  const decide = decidesFor(release, user, true);
  const access = accessOf(parts);
  const protection = createInputProtection({
    keep: keep.map((text) => parseAttributePath(text) ?? assert.fail(text)),
    ...(hashed && { hash: HASH }),
  });
  const decision = await decide(access);
  return serializeRecord(auditRecord(decision, { access, at: Date.now() }, 1, false, protection), false);
}

/** The same as a replay reads it. */
export async function recordOf(...parts: Parameters<typeof lineOf>): Promise<DecisionRecord> {
  const line = await lineOf(...parts);
  const record = readDecisionRecord(JSON.parse(line));
  if (typeof record === "string" || "event" in record) assert.fail(line);
  return record;
}

export function outcomeOf(record: DecisionRecord, sets: ReplayedSets): string {
  const { outcome } = replayRecord(record, sets);
  if (outcome.kind === "not_replayable") return `not replayable: ${outcome.reasons.join("; ")}`;
  const { change } = outcome;
  return change === undefined ? "unchanged" : [change.kind, ...(change.parts ?? [])].join(" ");
}

export const rule = (condition: string) =>
  snapshotOf(`policies:\n  - { resource: "GET /x", condition: ${JSON.stringify(condition)} }\n`);
export const ROLES = rule('user.role == "admin"');
export const ADMIN = { user: { id: "u1", role: "admin" } };

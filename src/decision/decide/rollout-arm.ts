import { createHash } from "node:crypto";
import type { Identity } from "../../identity/types.ts";
import type { Candidate, PolicyRelease, RolloutArm, StickyKey } from "../policies/release.ts";
import type { PromiseOrValue } from "../promise-or-value.ts";
import type { Decision, Draft } from "../types.ts";
import { networkOf } from "./addresses.ts";

/** An evaluation failed unexpectedly (the cause), and what was known of the request by then. */
export class EvaluationFailure extends Error {
  readonly draft: Draft;

  constructor(draft: Draft, cause: unknown) {
    super(`the evaluation of ${draft.snapshot?.label ?? "the policy set"} failed`, { cause });
    this.draft = draft;
  }
}

/**
 * Evaluates a request. What fails there fails as {@link EvaluationFailure}, so that its record names set and caller, and it
 * counts for them: behind a proxy, the failures of all callers would otherwise seem to be those of one.
 */
export function evaluateFor<Result>(
  draft: Draft,
  evaluate: () => PromiseOrValue<Result>,
): PromiseOrValue<Result> {
  const fail = (cause: unknown): never => {
    throw new EvaluationFailure(draft, cause);
  };
  try {
    const result = evaluate();
    return result instanceof Promise ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}

/**
 * @param caller - the caller by its token, and its address
 * @returns the arm of a request; `undefined` if no candidate is enforced
 */
export function armOf(
  { main, candidate }: PolicyRelease,
  caller: { readonly identity: Identity | undefined; readonly clientIp: string },
): RolloutArm | undefined {
  if (candidate?.mode !== "enforce") return undefined;
  return isInCandidate(candidate, caller)
    ? { name: "candidate", set: candidate.set }
    : { name: "stable", set: main };
}

function isInCandidate(
  { set, percentage, stickyBy }: Candidate,
  { identity, clientIp }: { readonly identity: Identity | undefined; readonly clientIp: string },
): boolean {
  if (percentage <= 0) return false;
  if (percentage >= 100) return true;
  // a caller without the key is still counted, so that what anonymous callers do is tried step by step as well
  const key = stickyKey(stickyBy, identity) ?? addressKey(clientIp);
  return key !== undefined && positionOf(set.ir.name, key) < percentage;
}

function stickyKey(stickyBy: StickyKey, identity: Identity | undefined): readonly string[] | undefined {
  const customer = identity?.customer?.["id"];
  const customerId = typeof customer === "string" ? customer : undefined;
  switch (stickyBy) {
    case "user": {
      const user = identity && (identity.userId || identity.session.subject);
      // two customers may have users of the same id
      return user ? ["user", customerId ?? "", user] : undefined;
    }
    case "customer":
      return customerId === undefined ? undefined : ["customer", customerId];
    case "client_ip":
      return undefined;
  }
}

/**
 * @returns what tells one caller from another: the user, or else the network of the address. Not the key that the arms go
 *   by: of the many users of a customer, one may want to do harm
 */
export function callerOf({ identity, clientIp }: Pick<Decision, "identity" | "clientIp">): string {
  return JSON.stringify(stickyKey("user", identity) ?? addressKey(clientIp) ?? []);
}

function addressKey(clientIp: string): readonly string[] | undefined {
  return clientIp === "" ? undefined : ["client_ip", networkOf(clientIp)];
}

/** The range of the hash: 2^48, which a number represents exactly. */
const RANGE = 2 ** 48;

/**
 * The position of a key among all keys, from 0 to below 100. It depends on the name of the set, not on its content: the
 * same callers are first in every version of a set, so that a corrected candidate changes nothing for the others.
 */
export function positionOf(setName: string, key: readonly string[]): number {
  const digest = createHash("sha256")
    .update(JSON.stringify([setName, ...key]))
    .digest();
  return (digest.readUIntBE(0, 6) / RANGE) * 100;
}

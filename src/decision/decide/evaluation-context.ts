import { evaluate, type Attributes, type ConditionIR, type Verdict } from "../../policy/index.ts";
import { REFUSAL_REASONS, type DenialReason, type PermitReason } from "../../reasons.ts";
import {
  checkNames,
  readBody,
  type CanonicalRequest,
  type Refusal,
  type Switch,
} from "../../request/index.ts";
import { attributesFor, withSources } from "../attributes/attributes.ts";
import type { Caller, CallerFailure } from "./identify.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AttributeSource } from "../attributes/sources.ts";
import type { AccessRequest, Decision, Denial, Draft, Permit } from "../types.ts";
import type { VerdictCache } from "./verdict-cache.ts";
import type { PromiseOrValue } from "../promise-or-value.ts";

/** What rules are evaluated with, whatever the request. */
export interface EvaluationDependencies {
  readonly cache: VerdictCache;
  readonly sources: ReadonlyMap<string, AttributeSource>;
  readonly switchedOff: ReadonlySet<Switch>;
  /** `env.environment`. */
  readonly environment: string;
  readonly limits: PlanLimits;
}

/** Bounds that go along with plans; bytes. */
export interface PlanLimits {
  /** The largest response that is read to be masked. */
  readonly response: number;
  /** The largest WebSocket message. */
  readonly message: number;
}

/** One request that is read and whose caller is known, before its rules. */
export interface EvaluationContext {
  readonly with: EvaluationDependencies;
  /** The policy set that evaluates. */
  readonly snapshot: Snapshot;
  /** Every policy set in force for the request, this one among them. */
  readonly sets: readonly Snapshot[];
  readonly request: CanonicalRequest;
  readonly access: AccessRequest;
  readonly caller: Caller;
  readonly draft: Draft;
}

/** A permit with nothing left to do. */
export type BarePermit = Draft & Pick<Permit, "verdict" | "reason">;

export function allow(draft: Draft, reason: PermitReason): BarePermit {
  return { ...draft, verdict: "ALLOW", reason };
}

export function deny(draft: Draft | Denial, reason: DenialReason, detail?: string): Denial {
  return detail === undefined
    ? { ...draft, verdict: "DENY", reason }
    : { ...draft, verdict: "DENY", reason, detail };
}

/** What the rules permit, and cannot be done all the same. */
export function denyPermitted({ plan, alsoRead, ...facts }: Permit, reason: DenialReason): Denial {
  return { ...facts, verdict: "DENY", reason };
}

export function refuse(draft: Draft, refusal: Refusal): Denial {
  return deny(draft, REFUSAL_REASONS[refusal.check], `${refusal.check}: ${refusal.detail}`);
}

/** The caller is not who the rules ask for: why says what failed. */
export function denyCaller(draft: Draft, { reason, detail, stepUp }: CallerFailure): Denial {
  const denial = deny(draft, reason, detail);
  return stepUp === undefined ? denial : { ...denial, stepUp };
}

/** Whether a decision may only be what it is where its record is taken. */
export function requiresAudit(decision: Decision): boolean {
  if (decision.auditRequired === true) return true;
  return [decision.snapshot?.ir, decision.rule, decision.connection].some(
    (part) => part?.auditRequired === true,
  );
}

/** What a request gets that no rule matches. */
export function byDefault({ snapshot, draft }: EvaluationContext): BarePermit | Denial {
  return snapshot.ir.default === "allow" ? allow(draft, "DEFAULT_ALLOW") : deny(draft, "NO_MATCHING_RULE");
}

/** The attributes that conditions read, or why they cannot be had. */
export type Gathered =
  | { readonly ok: true; readonly attributes: Attributes; readonly accepted: readonly string[] }
  | { readonly ok: false; readonly denial: Denial };

/**
 * Builds what `needs` says, look-ups and body included.
 *
 * @param params - path parameters of the rule
 */
export function gather(
  evaluation: EvaluationContext,
  needs: RuleNeeds,
  params: Readonly<Record<string, string>>,
): PromiseOrValue<Gathered> {
  const { with: dependencies, request, access, caller, draft } = evaluation;
  if (needs.identity && caller.failure !== undefined) {
    return { ok: false, denial: denyCaller(draft, caller.failure) };
  }
  const { switchedOff } = dependencies;
  const names = checkNames(request, needs.names, { switchedOff });
  if (!names.ok) return { ok: false, denial: refuse(draft, names.refusal) };
  const { members } = needs.names;
  const problem = needs.body ? bodyProblem(evaluation) : undefined;
  if (problem !== undefined) return { ok: false, denial: deny(draft, problem) };
  const read = needs.body
    ? readBody(request, { switchedOff, ...(members && { names: members }) })
    : undefined;
  if (read?.ok === false) return { ok: false, denial: refuse(draft, read.refusal) };
  const attributes = attributesFor(needs, {
    request,
    params,
    identity: caller.identity,
    clientIp: draft.clientIp,
    body: read?.json,
    now: access.receivedAt,
    environment: dependencies.environment,
  });
  const accepted = read === undefined ? names.accepted : [...names.accepted, ...read.accepted];
  if (needs.sources.length === 0) return { ok: true, attributes, accepted };
  return withSources(needs, attributes, dependencies.sources).then((complete) => ({
    ok: true,
    attributes: complete,
    accepted,
  }));
}

/** @returns why nothing can be decided that depends on the body; `undefined` where nothing more of it is to be had */
export function bodyProblem({
  request,
  access,
}: EvaluationContext): "BODY_NEEDED" | "BODY_TOO_LARGE" | undefined {
  if (access.bodies === "on_request" && request.body === undefined) return "BODY_NEEDED";
  return access.bodies === "handed_over" && request.body?.complete === false ? "BODY_TOO_LARGE" : undefined;
}

/** Evaluates one condition; the answer is remembered where it may be. */
export function verdictOf(
  { with: { cache }, caller }: Pick<EvaluationContext, "with" | "caller">,
  condition: ConditionIR,
  needs: RuleNeeds,
  attributes: Attributes,
): Verdict {
  const fresh = () => evaluate(condition.expression, attributes);
  return needs.cacheable
    ? cache.verdict(needs.cacheKey, condition, attributes, caller.identity !== undefined, fresh)
    : fresh();
}

/** Only *true* opens the door; without an identity that the rule asks for, the answer is to sign in. */
export function fromVerdict(
  draft: Draft,
  needs: RuleNeeds,
  caller: Caller,
  verdict: Verdict,
): BarePermit | Denial {
  if (verdict === true) return allow(draft, "CONDITION_TRUE");
  if (needs.identity && caller.identity === undefined) return deny(draft, "IDENTITY_REQUIRED");
  if (verdict === false) return deny(draft, "CONDITION_FALSE");
  const unseen = needs.body && draft.request?.body === undefined;
  return deny(draft, unseen ? "BODY_UNAVAILABLE" : "CONDITION_UNKNOWN");
}

import type { GraphqlRequestRead } from "../../graphql/index.ts";
import {
  evaluate,
  whyUnknown,
  type Attributes,
  type ConditionIR,
  type Expression,
  type Verdict,
} from "../../policy/evaluation.ts";
import type { DenialReason, PermitReason } from "../../reasons.ts";
import { REFUSAL_REASONS } from "../../refusal-reasons.ts";
import {
  checkNames,
  readBody,
  type CanonicalRequest,
  type Readings,
  type Refusal,
} from "../../request/index.ts";
import { attributesFor, withSources } from "../attributes/attributes.ts";
import type { Caller, CallerFailure } from "./identify.ts";
import type { Specialize } from "./plan.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AttributeSource } from "../attributes/sources.ts";
import type { AccessRequest, Decision, Denial, Draft, Permit } from "../types.ts";
import type { VerdictCache } from "./verdict-cache.ts";
import type { PromiseOrValue } from "../promise-or-value.ts";

/** The dependencies of evaluation that do not depend on the request. */
export interface EvaluationDependencies {
  readonly cache: Pick<VerdictCache, "verdict">;
  readonly sources: ReadonlyMap<string, AttributeSource>;
  /** `env.environment`. */
  readonly environment: string;
  readonly limits: PlanLimits;
  /** Present if a record is evaluated again, which holds only a part of what conditions read. */
  readonly recorded?: RecordedConditions;
}

/** Takes the place of attributes and conditions where a decision is repeated from its record. */
export interface RecordedConditions {
  attributes(
    evaluation: EvaluationContext,
    needs: RuleNeeds,
    params: Readonly<Record<string, string>>,
  ): Gathered;
  evaluate(expression: Expression, attributes: Attributes): Verdict;
  readonly specialize: Specialize;
  operations(): GraphqlRequestRead;
}

/** Size limits sent with plans; bytes. */
export interface PlanLimits {
  /** The largest response that can be masked. */
  readonly response: number;
  /** The largest WebSocket message. */
  readonly message: number;
}

/** One request after canonicalization and identification, before its rules. */
export interface EvaluationContext {
  readonly with: EvaluationDependencies;
  /** The policy set being evaluated. */
  readonly snapshot: Snapshot;
  /** Every policy set in force for the request, including this one. */
  readonly sets: readonly Snapshot[];
  readonly request: CanonicalRequest;
  /** `request` is another reading than the one that the request is recorded as. */
  readonly isOther?: true;
  /** Every reading of what was sent. */
  readonly readings: Readings;
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

/** A denial of something that the rules permit but that cannot be carried out. */
export function denyPermitted(
  { plan, gatewayPlan, alsoRead, route, ...facts }: Permit,
  reason: DenialReason,
): Denial {
  return { ...facts, verdict: "DENY", reason };
}

export function refuse(draft: Draft, { check, detail, in: part }: Refusal): Denial {
  const reason = part === "query" ? "AMBIGUOUS_QUERY" : REFUSAL_REASONS[check];
  return deny(draft, reason, `${check}: ${detail}`);
}

/** A denial because the caller is not identified as required; `why` says what failed. */
export function denyCaller(draft: Draft, { reason, detail, stepUp }: CallerFailure): Denial {
  const denial = deny(draft, reason, detail);
  return stepUp === undefined ? denial : { ...denial, stepUp };
}

/** Whether a decision is valid only if its record was written. */
export function requiresAudit(decision: Decision): boolean {
  if (decision.auditRequired === true) return true;
  return [decision.snapshot?.ir, decision.rule, decision.connection].some(
    (part) => part?.auditRequired === true,
  );
}

/** The decision for a request without a matching rule. */
export function byDefault({ snapshot, draft }: EvaluationContext): BarePermit | Denial {
  return snapshot.ir.default === "allow" ? allow(draft, "DEFAULT_ALLOW") : deny(draft, "NO_MATCHING_RULE");
}

/** The attributes that conditions read, or why they cannot be provided. */
export type Gathered =
  | { readonly ok: true; readonly attributes: Attributes; readonly accepted: readonly string[] }
  | { readonly ok: false; readonly denial: Denial };

/**
 * Builds the attributes in `needs`, including look-ups and the body.
 *
 * @param params - path parameters of the rule
 */
export function gather(
  evaluation: EvaluationContext,
  needs: RuleNeeds,
  params: Readonly<Record<string, string>>,
): PromiseOrValue<Gathered> {
  const { with: dependencies, request, readings, access, caller, draft } = evaluation;
  if (needs.identity && caller.failure !== undefined) {
    return { ok: false, denial: denyCaller(draft, caller.failure) };
  }
  if (dependencies.recorded !== undefined) return dependencies.recorded.attributes(evaluation, needs, params);
  const { switchedOff } = readings;
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
    ...(access.unknown && { unknown: access.unknown }),
    now: access.receivedAt,
    environment: dependencies.environment,
  });
  const accepted = read === undefined ? names.accepted : [...names.accepted, ...read.accepted];
  if (needs.sources.length === 0) {
    keepInputs(evaluation, needs, attributes);
    return { ok: true, attributes, accepted };
  }
  return withSources(needs, attributes, dependencies.sources).then((complete) => {
    keepInputs(evaluation, needs, complete);
    return { ok: true, attributes: complete, accepted };
  });
}

/** For records with inputs; those of a customer's own policy set are not kept. */
function keepInputs(
  { draft, snapshot, sets }: EvaluationContext,
  needs: RuleNeeds,
  attributes: Attributes,
): void {
  const { inputs } = draft;
  if (inputs === undefined || inputs === "before_rules" || snapshot !== sets[0]) return;
  inputs.gathered.push({ needs, attributes });
}

/** @returns why nothing that depends on the body can be decided; `undefined` if no more of the body can be obtained */
export function bodyProblem({
  request,
  access,
}: EvaluationContext): "BODY_NEEDED" | "BODY_TOO_LARGE" | undefined {
  if (access.bodies === "on_request" && request.body === undefined) return "BODY_NEEDED";
  return access.bodies === "handed_over" && request.body?.complete === false ? "BODY_TOO_LARGE" : undefined;
}

/** Evaluates one condition. The verdict is cached if allowed. */
export function verdictOf(
  { with: { cache, recorded }, caller }: Pick<EvaluationContext, "with" | "caller">,
  condition: ConditionIR,
  needs: RuleNeeds,
  attributes: Attributes,
): Verdict {
  if (recorded !== undefined) return recorded.evaluate(condition.expression, attributes);
  const fresh = () => evaluate(condition.expression, attributes);
  return needs.cacheable
    ? cache.verdict(needs.cacheKey, condition, attributes, caller.identity !== undefined, fresh)
    : fresh();
}

/** Only *true* permits. If the rule needs an identity and there is none, the answer is to sign in. */
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
  if (unseen) return deny(draft, "BODY_UNAVAILABLE");
  return deny(draft, needsOmittedClaim(draft, caller) ? "CLAIM_OMITTED" : "CONDITION_UNKNOWN");
}

/** Whether the condition is unknown because of a claim that the token refers to without containing it. */
function needsOmittedClaim({ connection, rule, attributes }: Draft, { identity }: Caller): boolean {
  const condition = (connection ?? rule)?.condition;
  const omitted = identity?.omitted;
  if (omitted === undefined || condition === undefined || attributes === undefined) return false;
  return whyUnknown(condition.expression, attributes).some(
    ({ path, why }) => why === "unavailable" && omitted.includes(path.slice(0, 2).join(".")),
  );
}

import { evaluate, type Attributes, type PathRuleIR, type Verdict } from "../policy/index.ts";
import { REFUSAL_REASONS, type Reason } from "../reasons.ts";
import {
  canonicalize,
  readBody,
  type CanonicalRequest,
  type Refusal,
  type RefusalCheck,
} from "../request/index.ts";
import { attributesFor, withSources } from "./attributes.ts";
import { createFrontProxyReader, type FrontProxyOptions } from "./front-proxy.ts";
import type { Caller, Identify } from "./identify.ts";
import type { RuleNeeds, Snapshot } from "./snapshot.ts";
import type { AttributeSource } from "./sources.ts";
import type { AccessRequest, Decision } from "./types.ts";
import type { VerdictCache } from "./verdict-cache.ts";

/** What decisions are made with. */
export interface DeciderDependencies {
  /** The snapshot in force at the moment of the call. */
  readonly snapshot: () => Snapshot | undefined;
  readonly identify: Identify;
  readonly cache: VerdictCache;
  readonly sources: ReadonlyMap<string, AttributeSource>;
  readonly frontProxy: FrontProxyOptions;
  readonly switchedOff: ReadonlySet<RefusalCheck>;
  /** `env.environment`. */
  readonly environment: string;
}

/** Decides about one request. Throws only what is a defect; the decision point turns that into a denial. */
export type Decide = (access: AccessRequest) => Decision | Promise<Decision>;

/** The decision as far as it has come. */
type Draft = Omit<Decision, "verdict" | "reason">;

/**
 * @returns the function that decides: canonical request, caller, rule, attributes, verdict - in this order, and with
 * one snapshot from beginning to end. It answers without waiting where the token is known and the rule looks nothing up.
 */
export function createDecider(dependencies: DeciderDependencies): Decide {
  const { identify, switchedOff } = dependencies;
  const readFrontProxy = createFrontProxyReader(dependencies.frontProxy);

  return (access) => {
    const snapshot = dependencies.snapshot();
    const proxy = readFrontProxy(access.raw, access.peer);
    const known: Draft = { clientIp: proxy.clientIp, trustedPeer: proxy.trusted, accepted: [] };
    if (snapshot === undefined) return deny(known, "POLICY_NOT_READY");
    const draft = { ...known, snapshot };
    if (proxy.refusal !== undefined) return deny(draft, proxy.refusal.reason, proxy.refusal.detail);

    const canonical = canonicalize(access.raw, { switchedOff });
    if (!canonical.ok) return refuse(draft, canonical.refusal);
    const { request, accepted } = canonical;

    const proceed = (caller: Caller): Decision | Promise<Decision> => {
      const identified = {
        ...draft,
        request,
        accepted,
        ...(caller.identity && { identity: caller.identity }),
      };
      if (caller.failure?.final === true)
        return deny(identified, caller.failure.reason, caller.failure.detail);
      return judge(dependencies, snapshot, identified, request, access, caller);
    };
    const caller = identify(request, proxy.trusted);
    return caller instanceof Promise ? caller.then(proceed) : proceed(caller);
  };
}

/** From the canonical request and the caller to the verdict. */
function judge(
  dependencies: DeciderDependencies,
  snapshot: Snapshot,
  draft: Draft,
  request: CanonicalRequest,
  access: AccessRequest,
  caller: Caller,
): Decision | Promise<Decision> {
  const match = snapshot.matcher.match(request.method, request.segments);
  if (match.kind === "case") return deny(draft, "AMBIGUOUS_CASE");
  const explicit = match.kind === "rule" && match.rule.method === "OPTIONS";
  if (!explicit && isPreflight(request)) {
    return snapshot.ir.preflight === "allow"
      ? allow(draft, "PREFLIGHT_ALLOWED")
      : deny(draft, "PREFLIGHT_DENIED");
  }
  if (match.kind === "none") {
    return snapshot.ir.default === "allow" ? allow(draft, "DEFAULT_ALLOW") : deny(draft, "NO_MATCHING_RULE");
  }

  const { rule, params } = match;
  const needs = snapshot.needs.get(rule);
  if (needs === undefined) throw new Error(`rule ${rule.id} is not of this snapshot`);
  let judged: Draft = { ...draft, rule };
  if (needs.identity && caller.failure !== undefined)
    return deny(judged, caller.failure.reason, caller.failure.detail);

  const read = needs.body ? readBody(request, { switchedOff: dependencies.switchedOff }) : undefined;
  if (read?.ok === false) return refuse(judged, read.refusal);
  if (read !== undefined) judged = { ...judged, accepted: [...judged.accepted, ...read.accepted] };

  const attributes = attributesFor(needs, {
    request,
    params,
    identity: caller.identity,
    clientIp: draft.clientIp,
    body: read?.json,
    now: access.receivedAt,
    environment: dependencies.environment,
  });
  const conclude = (complete: Attributes) => {
    const verdict = verdictOf(dependencies.cache, rule, needs, complete);
    return fromVerdict({ ...judged, attributes: complete }, needs, caller, verdict);
  };
  if (needs.sources.length === 0) return conclude(attributes);
  return withSources(needs, attributes, dependencies.sources).then(conclude);
}

function verdictOf(cache: VerdictCache, rule: PathRuleIR, needs: RuleNeeds, attributes: Attributes): Verdict {
  const fresh = () => evaluate(rule.condition.expression, attributes);
  return needs.cacheable ? cache.verdict(needs.cacheKey, rule.condition, attributes, fresh) : fresh();
}

function fromVerdict(draft: Draft, needs: RuleNeeds, caller: Caller, verdict: Verdict): Decision {
  if (verdict === true) return allow(draft, "CONDITION_TRUE");
  if (needs.identity && caller.identity === undefined) return deny(draft, "IDENTITY_REQUIRED");
  return deny(draft, verdict === false ? "CONDITION_FALSE" : "CONDITION_UNKNOWN");
}

/** Fetch standard, section 3.2.2: an OPTIONS request with these two headers is a CORS preflight. */
function isPreflight(request: CanonicalRequest): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers["origin"] !== undefined &&
    request.headers["access-control-request-method"] !== undefined
  );
}

function refuse(draft: Draft, refusal: Refusal): Decision {
  return deny(draft, REFUSAL_REASONS[refusal.check], `${refusal.check}: ${refusal.detail}`);
}

function allow(draft: Draft, reason: Reason): Decision {
  return { ...draft, verdict: "ALLOW", reason };
}

function deny(draft: Draft, reason: Reason, detail?: string): Decision {
  return detail === undefined
    ? { ...draft, verdict: "DENY", reason }
    : { ...draft, verdict: "DENY", reason, detail };
}

import { IR_VERSION } from "../../policy/evaluation.ts";
import { quotedAscii, spellOut } from "../../text/index.ts";
import { checkSession, customerOf, type KnownState } from "./check-session.ts";
import { bothPermit, gatewayPlanOf, ofCustomersSet } from "./both-permit.ts";
import { canonicalize, type CanonicalRequest, type ReadOptions, type Variant } from "../../request/index.ts";
import { asForwarded, createFrontProxyReader, type FrontProxyOptions } from "./front-proxy.ts";
import { unannouncedBody } from "./http10-body.ts";
import type { Caller, Identify } from "./identify.ts";
import { evaluateOperations } from "./evaluate-graphql.ts";
import { evaluatePath } from "./evaluate-path.ts";
import { evaluateResponses } from "./evaluate-responses.ts";
import { planAnswer } from "./plan.ts";
import { evaluateUpgrade, isWebsocketUpgrade, mayBeHandshake } from "./evaluate-upgrade.ts";
import {
  byDefault,
  deny,
  denyCaller,
  refuse,
  type EvaluationContext,
  type EvaluationDependencies,
} from "./evaluation-context.ts";
import { readingsAt } from "./forwarded-host.ts";
import { holdForIdentity } from "./hold-connection.ts";
import { hasOtherRules } from "./other-rules.ts";
import { armOf, evaluateFor } from "./rollout-arm.ts";
import { createRouteFinder, type RouteSettings } from "./route-limits.ts";
import { REASONS } from "../../reasons.ts";
import { requireOrigin, type OriginCheck } from "./origin-check.ts";
import type { GraphqlEndpoint } from "../policies/graphql-endpoints.ts";
import type { Candidate, PolicyRelease } from "../policies/release.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AccessRequest, Decision, Denial, Draft, RulesEvaluated } from "../types.ts";
import { readingsWithoutCookie } from "../headers/withheld-cookie.ts";
import { readingsWithoutTokens } from "../headers/withheld-tokens.ts";
import type { TokenSources } from "../../identity/index.ts";
import { andThen, type PromiseOrValue } from "../promise-or-value.ts";

/** A caller that is already known: by its token, and after its session was checked. */
export interface GivenCaller {
  readonly found: Caller;
  readonly checked: Caller;
}

/** A decision by the stable set, for the candidate to be compared with. */
export interface Shadowed extends GivenCaller {
  readonly candidate: Candidate;
  /** As received. */
  readonly access: AccessRequest;
  readonly decision: Decision;
}

/** The dependencies of decisions. */
export interface DeciderDependencies extends EvaluationDependencies {
  /** The ambiguous requests that are accepted. */
  readonly accept: ReadOptions;
  /** The policy sets currently in force. */
  readonly policies: () => PolicyRelease | undefined;
  readonly identify: Identify;
  readonly frontProxy: FrontProxyOptions;
  /** Name of a cookie that may contain the token. */
  readonly cookie?: string;
  /** Paths with limits of their own; absent: none. */
  readonly routes?: RouteSettings;
  /** Decisions keep what rules read, for their records. */
  readonly keepInputs?: boolean;
  /** Where else it may be: what only carries a token is withheld from rules and application. */
  readonly tokens?: TokenSources;
  /** Checks the origin of requests identified by a cookie; absent if that is switched off. */
  readonly originCheck?: OriginCheck;
  /** Called with each decision by rules while a candidate is in shadow mode; it must not throw. */
  readonly shadow?: (shadowed: Shadowed) => void;
  /** The caller, in place of a check of its session. */
  readonly given?: GivenCaller;
  /** Present if a control plane is configured. */
  readonly controlPlane?: {
    /** The current state; `undefined` if there is none or it is too old. */
    readonly state: () => KnownState | undefined;
    /** Why it is unknown; for logs and audit. */
    readonly whyUnknown?: () => string;
  };
}

const NO_SOURCES: TokenSources = {};

const UNANNOUNCED =
  "conflicting_content_length: a body without `content-length` in HTTP/1.0 (RFC 9112, section 6.1)";

/** One of the customer's own policy sets; without `set` if it is not loaded. */
interface OwnSet {
  readonly name: string;
  readonly set: Snapshot | undefined;
}

/** Decides on one request. It throws only because of a bug; the decision point turns that into a denial. */
export type Decide = (access: AccessRequest) => PromiseOrValue<Decision>;

/**
 * @returns the function that decides: canonical request, caller, rules, and what is left to do with the response, in
 *   this order and with one snapshot throughout. It returns synchronously if the token is cached and the rules have no
 *   look-ups
 */
export function createDecider(dependencies: DeciderDependencies): Decide {
  const { identify, accept } = dependencies;
  const routes = dependencies.routes ?? { routes: [], usual: [] };
  const findRoute = createRouteFinder(routes);
  const withLimitsOf = routes.routes.map(({ responseSize }) => ({
    ...dependencies,
    limits: { ...dependencies.limits, response: responseSize },
  }));
  const readFrontProxy = createFrontProxyReader(dependencies.frontProxy);

  return (received) => {
    const policies = dependencies.policies();
    const proxy = readFrontProxy(received);
    const access = asForwarded(received, proxy);
    const known: Draft = {
      clientIp: proxy.clientIp,
      trustedPeer: proxy.trusted,
      ...(access.unknown && { unknown: access.unknown }),
      ...(proxy.untold && { untold: proxy.untold }),
      ...(proxy.changes && { forwarding: proxy.changes }),
      accepted: [],
      ...(dependencies.keepInputs === true && { inputs: "before_rules" as const }),
    };
    if (policies === undefined) return deny(known, "POLICY_NOT_READY");
    const snapshot = policies.main;
    const state = dependencies.controlPlane?.state();
    const draft = { ...known, snapshot };
    if (proxy.refusal !== undefined) return deny(draft, proxy.refusal.reason, proxy.refusal.detail);

    const canonicalized = canonicalize(access.raw, accept);
    if (!canonicalized.ok) return refuse(draft, canonicalized.refusal);
    const { accepted, stated } = canonicalized;
    const body = unannouncedBody(access);
    if (body !== undefined) {
      const { request } = canonicalized;
      return body === "unknown"
        ? deny({ ...draft, request, accepted }, "BODY_NEEDED")
        : deny({ ...draft, request, accepted }, "AMBIGUOUS_HEADERS", UNANNOUNCED);
    }
    const canonical = readingsAt(canonicalized, proxy.host);
    const route = findRoute([
      canonical.request,
      ...canonical.others,
      ...canonical.variants.map((variant) => variant.request),
    ]);
    if (route === "conflict") {
      const detail = "the readings of the path have different limits (`gateway.routes`)";
      return deny({ ...draft, request: canonical.request, accepted }, "AMBIGUOUS_PATH", detail);
    }

    const proceed = (found: Caller): PromiseOrValue<Decision> => {
      const { identity } = found;
      const meant = requireOrigin(found, dependencies.originCheck, [canonical.request, ...canonical.others], {
        host: proxy.host ?? access.raw.host,
        trustedPeer: proxy.trusted,
      });
      const withheld = meant.cookieWithheld;
      const { readings: tokenless, protocolWithheld } = readingsWithoutTokens(
        canonical,
        dependencies.tokens ?? NO_SOURCES,
      );
      // every site may choose the subprotocols, so the token need not be that of the cookie's owner
      const cookieWithheld = withheld !== undefined || protocolWithheld;
      const readings =
        cookieWithheld && dependencies.cookie !== undefined
          ? readingsWithoutCookie(tokenless, access.raw.headers, dependencies.cookie)
          : tokenless;
      const { request, others, variants } = readings;
      const { given } = dependencies;
      const caller =
        given?.checked ??
        (dependencies.controlPlane === undefined
          ? meant
          : checkSession(meant, {
              state,
              whyUnknown: dependencies.controlPlane.whyUnknown,
              clientIp: proxy.clientIp,
              now: access.receivedAt,
            }));
      // no set has a say in it, so it must not count for one
      const isFinal = caller.failure?.final === true;
      // who the token names, even if the caller's state is unknown: the arm must not depend on that
      const arm = isFinal
        ? undefined
        : armOf(policies, { identity: meant.identity, clientIp: proxy.clientIp });
      const set = arm?.set ?? snapshot;
      const read = {
        ...{ ...draft, snapshot: set, request, accepted },
        ...(arm && { arm }),
        ...(stated !== undefined && { readAs: stated }),
        ...(protocolWithheld && { protocolWithheld }),
        ...(cookieWithheld && { cookieWithheld }),
      };
      const identified = { ...read, ...(identity && { identity }) };
      if (isFinal) return denyCaller(identified, caller.failure);
      const refused = identity !== undefined && caller.identity === undefined;
      // the application gets the identity of the draft, which is nobody's if the caller was refused
      const known =
        withheld !== undefined
          ? { ...read, detail: `the cookie is ignored: ${withheld}` }
          : refused
            ? read
            : identified;
      const names = state && caller.identity ? (customerOf(caller.identity, state)?.policy_sets ?? []) : [];
      const own = names.map((name) => ({ name, set: policies.customers.get(name) }));
      const sets = [set, ...own.flatMap(({ set }) => set ?? [])];
      const inputs =
        dependencies.keepInputs === true
          ? inputsOf(caller, {
              ...{ readings, snapshot: set, customerSets: own.length },
              ...{ at: access.receivedAt, environment: dependencies.environment },
            })
          : undefined;
      const evaluation = {
        with: (route === undefined ? undefined : withLimitsOf[route]) ?? dependencies,
        snapshot: set,
        sets,
        request,
        readings,
        access,
        caller,
        draft: inputs === undefined ? known : { ...known, inputs },
      };
      const bySets = (one: EvaluationContext): PromiseOrValue<Decision> =>
        own.reduce<PromiseOrValue<Decision>>(
          (sofar, set) => andThen(sofar, (decision) => alsoBy(set, decision, one, variants)),
          withVariants(one, variants),
        );
      const decided = evaluateFor(identified, () =>
        others.reduce<PromiseOrValue<Decision>>(
          (sofar, other) => andThen(sofar, (decision) => alsoAs(other, decision, evaluation, bySets)),
          bySets(evaluation),
        ),
      );
      const isHeldBack = dependencies.tokens?.connectionParams !== undefined;
      const final = refused
        ? // a denial's record names the caller
          andThen(decided, (decision) => (decision.verdict === "DENY" ? { ...decision, identity } : decision))
        : isHeldBack
          ? andThen(decided, (decision) => holdForIdentity(decision, evaluation))
          : decided;
      const { candidate } = policies;
      const { shadow } = dependencies;
      if (candidate?.mode !== "shadow" || shadow === undefined) return final;
      const context = { candidate, access: received, found, checked: caller };
      return andThen(final, (decision) => {
        if (decision.reason !== "BODY_NEEDED") shadow({ ...context, decision });
        return decision;
      });
    };
    const decided = andThen(
      access.caller ?? identify(canonical.request, proxy.trusted, proxy.clientIp, access.ofConnection),
      proceed,
    );
    if (route === undefined) return decided;
    return andThen(decided, (decision) => (decision.verdict === "ALLOW" ? { ...decision, route } : decision));
  };

  /** A request that one policy set permits must also be permitted by the customer's own sets. */
  function alsoBy(
    { name, set: snapshot }: OwnSet,
    decision: Decision,
    evaluation: EvaluationContext,
    variants: readonly Variant[],
  ): PromiseOrValue<Decision> {
    if (decision.verdict === "DENY") return decision;
    if (snapshot === undefined)
      return deny(
        { ...evaluation.draft, customerPolicySet: name },
        "POLICY_NOT_READY",
        `the customer's policy set \`${name}\` is not loaded`,
      );
    // the same rules would give the same result
    if (snapshot.digest === evaluation.snapshot.digest) return decision;
    const draft = { ...evaluation.draft, snapshot, customerPolicySet: snapshot.label };
    return andThen(withVariants({ ...evaluation, snapshot, draft }, variants), (second) => {
      if (second.verdict === "DENY") return second;
      const both = bothPermit(decision, ofCustomersSet(second, name));
      return both === undefined
        ? deny(draft, "POLICY_SETS_CONFLICT")
        : { ...both, gatewayPlan: gatewayPlanOf(decision) ?? null };
    });
  }
}

function inputsOf(
  { identity, failure }: Caller,
  facts: Omit<RulesEvaluated, "caller" | "identity" | "gathered">,
): RulesEvaluated {
  const caller = identity === undefined ? (failure?.reason ?? "none") : "identified";
  return { ...facts, caller, identity, gathered: [] };
}

/**
 * Evaluates one policy set, for a request and the variants of its path.
 *
 * If different rules match a variant of the path, both must permit the request; otherwise it is ambiguous.
 *
 * @param variants - each after the reading that it is a variant of
 */
export function withVariants(
  evaluation: EvaluationContext,
  variants: readonly Variant[],
): PromiseOrValue<Decision> {
  // the common case
  if (variants.length === 0) return evaluateRules(evaluation);
  const readings = new Set([evaluation.request]);
  return variants.reduce<PromiseOrValue<Decision>>((sofar, variant) => {
    if (!readings.has(variant.of)) return sofar;
    readings.add(variant.request);
    return andThen(sofar, (decision) => {
      if (decision.verdict === "DENY" || !hasOtherRules(evaluation.snapshot, variant)) return decision;
      return andThen(alsoAs(variant.request, decision, evaluation, evaluateRules, variant.by), (both) =>
        both.verdict === "DENY" && REASONS[both.reason].code === "ACCESS_DENIED" ? ambiguous(both) : both,
      );
    });
  }, evaluateRules(evaluation));
}

/** A denial of a single reading, without its GraphQL errors. */
function ambiguous({ graphqlErrors, denials, ...denial }: Denial): Denial {
  return deny(denial, "AMBIGUOUS_PATH", `${denial.detail ?? ""}: ${denial.reason}`);
}

/**
 * All readings of an ambiguous request must be permitted, because it is not known which one the application uses.
 *
 * @param by - what leads to this reading, if not the accepted checks
 */
function alsoAs(
  other: CanonicalRequest,
  decision: Decision,
  evaluation: EvaluationContext,
  decide: (evaluation: EvaluationContext) => PromiseOrValue<Decision>,
  by?: Variant["by"] | "graphql_endpoint",
): PromiseOrValue<Decision> {
  if (decision.verdict === "DENY") return decision;
  const draft = { ...evaluation.draft, request: other };
  return andThen(decide({ ...evaluation, request: other, draft, isOther: true }), (second) => {
    const joined = second.verdict === "DENY" ? undefined : bothPermit(decision, second);
    if (joined !== undefined) return { ...joined, alsoRead: [...(joined.alsoRead ?? []), other] };
    if (second.reason === "BODY_NEEDED") return second;
    const { accepted } = evaluation.draft;
    const reasons = [
      ...(accepted.length === 0 ? [] : [`accepted ${accepted.join(", ")}`]),
      ...(other.host === evaluation.request.host ? [] : [`sent to the host ${quotedAscii(other.host)}`]),
    ];
    const why = by === undefined ? `${reasons.join(", ")}, and` : `${by}:`;
    const readAs = `${why} could be ${other.method} ${spellOut(other.path)}`;
    return second.verdict === "DENY"
      ? { ...second, detail: second.detail === undefined ? readAs : `${second.detail}; ${readAs}` }
      : deny(draft, "AMBIGUOUS_PATH", `${readAs}, for which the rules require something else`);
  });
}

/** Path rules come first: if one matches, it must permit, whatever other rules apply. */
function evaluateRules(evaluation: EvaluationContext): PromiseOrValue<Decision> {
  return andThen(evaluatePath(evaluation), (path) => {
    if (path?.verdict === "DENY" || path?.reason === "PREFLIGHT_ALLOWED") return path;
    const { snapshot, request, draft } = evaluation;
    const endpoint = snapshot.endpoints.at(request);
    if (endpoint === "case") return deny(draft, "AMBIGUOUS_CASE");
    // keep the facts, but evaluate them again
    const further = path === undefined ? evaluation : { ...evaluation, draft: path };
    // the headers would say whether it is a handshake, which has its own rules
    if (evaluation.access.unknown?.headers === "all" && mayBeHandshake(evaluation))
      return deny(further.draft, "CONDITION_UNKNOWN");
    if (isWebsocketUpgrade(request))
      return asEndpoint(evaluateUpgrade(further, path, endpoint), evaluation, endpoint);
    if (endpoint === undefined) return withResponsePlan(further, path ?? byDefault(evaluation));
    // an operation may be in the query
    if (evaluation.access.unknown?.query !== undefined) return deny(further.draft, "CONDITION_UNKNOWN");
    if (endpoint.as === undefined) return evaluateOperations(further, path, endpoint.params);
    return asEndpoint(withResponsePlan(further, path ?? byDefault(evaluation)), evaluation, endpoint);
  });
}

/** What is sent below a GraphQL endpoint must be permitted there as well as by the rules for its own path. */
function asEndpoint(
  decided: PromiseOrValue<Decision>,
  evaluation: EvaluationContext,
  endpoint: GraphqlEndpoint | undefined,
): PromiseOrValue<Decision> {
  if (endpoint?.as === undefined) return decided;
  const other = { ...evaluation.request, ...endpoint.as };
  return andThen(decided, (decision) =>
    alsoAs(other, decision, evaluation, evaluateRules, "graphql_endpoint"),
  );
}

/** Response rules apply to the response of an allowed request. */
function withResponsePlan(evaluation: EvaluationContext, decision: Decision): PromiseOrValue<Decision> {
  if (decision.verdict === "DENY") return decision;
  return andThen(evaluateResponses(evaluation), (responses) => {
    if (!responses.ok) return responses.denial;
    const answer = planAnswer(evaluation.with.limits.response, responses.fields, responses);
    return answer.response === undefined ? decision : { ...decision, plan: { ir: IR_VERSION, ...answer } };
  });
}

import { TRUE, UNKNOWN } from "../../policy/analyze/verdicts.ts";
import {
  evaluate,
  pathsIn,
  specialize,
  UNAVAILABLE,
  type AttributePath,
  type Attributes,
  type Expression,
  type Specialized,
  type Verdict,
} from "../../policy/evaluation.ts";
import { SUBPROTOCOL } from "../../envoy-contract.ts";
import { GRAPHQL, LEFT_OUT_ARGUMENT, type GraphqlRequestRead } from "../../graphql/index.ts";
import type { Identity } from "../../identity/types.ts";
import type { RulesInputs } from "../../protocol/record.ts";
import { NO_BODY, type CanonicalRequest, type Variant } from "../../request/index.ts";
import { environmentAttributes } from "../attributes/attributes.ts";
import { withVariants } from "../decide/decide.ts";
import {
  deny,
  type EvaluationContext,
  type Gathered,
  type RecordedConditions,
} from "../decide/evaluation-context.ts";
import type { Caller, CallerFailure } from "../decide/identify.ts";
import { NO_VERDICT_CACHE } from "../decide/no-verdict-cache.ts";
import { describePlan } from "../inputs/describe-plan.ts";
import { REQUEST_INPUTS } from "../inputs/record-inputs.ts";
import type { InputHash } from "../inputs/input-hash.ts";
import type { RuleNeeds } from "../policies/needs.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { Decision, UnknownParts } from "../types.ts";
import { possibleVerdicts, type RecordedValues } from "./possible-verdicts.ts";
import { nameOf, putValue, RecordedAttributes } from "./recorded-attributes.ts";

/** The plan of a permit, described as in records. */
export type DescribedPlan = Readonly<Record<string, string>>;

/** The result of repeating a decision with a policy set. */
export type Repeated =
  | {
      readonly ok: true;
      readonly decision: Decision;
      /** Of a permit; `undefined` if the record does not hold what it depends on. */
      readonly plan: DescribedPlan | undefined;
      /** Why the plan is not known. */
      readonly lacks: readonly string[];
    }
  /** The record does not hold what the verdict depends on. */
  | { readonly ok: false; readonly lacks: readonly string[] };

/** The record does not hold a part of the request itself. */
class NotRecorded extends Error {}

const OTHER_READINGS = "the other readings of an ambiguous request are not recorded";
const OPERATION = "the GraphQL operation is not recorded";
const ARGUMENT = "an argument of a GraphQL operation is not recorded";
const ANY_KEY = "values are hashed with a key that was not given";

const NOTHING: DescribedPlan = {};
const UNLIMITED = { response: Number.MAX_SAFE_INTEGER, message: Number.MAX_SAFE_INTEGER };
const NO_SOURCES: EvaluationContext["with"]["sources"] = new Map();
const NO_SWITCHES: ReadonlySet<never> = new Set();

/**
 * Decides a recorded request again, with the rules, matcher and evaluator of the gateway. Where the record does not hold
 * what a condition reads, the request is decided twice: as if the condition permitted, and as if it did not. Only if both
 * give the same verdict is it known.
 *
 * @param subject - what the record says about the request besides its inputs
 */
export function repeatDecision(
  inputs: RulesInputs,
  snapshot: Snapshot,
  subject: { readonly clientIp: string; readonly userId: string },
  hash?: InputHash,
): Repeated {
  if (inputs.other_readings !== undefined) return { ok: false, lacks: [OTHER_READINGS] };
  const conditions = new RecordedRequest(inputs, snapshot, subject.clientIp, hash);
  try {
    const context = contextOf(inputs, snapshot, subject, conditions);
    const variants = variantsOf(inputs, context.request);
    const evaluation = { ...context, readings: { ...context.readings, variants } };
    const decision = decided(evaluation, variants);
    const plan = planOf(decision, snapshot);
    if (conditions.lacks.size === 0) return { ok: true, decision, plan, lacks: [] };
    conditions.isPermitting = false;
    const strict = decided(evaluation, variants);
    const lacks = [...conditions.lacks];
    if (strict.verdict !== decision.verdict) return { ok: false, lacks };
    // what is lacking did not matter
    const isSame = samePlan(plan, planOf(strict, snapshot));
    return { ok: true, decision, plan: isSame ? plan : undefined, lacks: isSame ? [] : lacks };
  } catch (error) {
    if (error instanceof NotRecorded) return { ok: false, lacks: [error.message] };
    throw error;
  }
}

function decided(evaluation: EvaluationContext, variants: readonly Variant[]): Decision {
  const decision = withVariants(evaluation, variants);
  if (decision instanceof Promise) throw new Error("a recorded request needs no look-up");
  return decision;
}

function planOf(decision: Decision, snapshot: Snapshot): DescribedPlan {
  return decision.plan === undefined ? NOTHING : describePlan(decision.plan, snapshot);
}

function samePlan(a: DescribedPlan, b: DescribedPlan): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** The request and attributes of one record, for the conditions of one policy set. */
class RecordedRequest implements RecordedConditions {
  /** Why conditions could not be decided. */
  readonly lacks = new Set<string>();
  /** Undecided conditions permit, and mask nothing; otherwise the contrary. */
  isPermitting = true;
  readonly #inputs: RulesInputs;
  readonly #snapshot: Snapshot;
  readonly #clientIp: string;
  readonly #hash: InputHash | undefined;

  constructor(inputs: RulesInputs, snapshot: Snapshot, clientIp: string, hash: InputHash | undefined) {
    this.#inputs = inputs;
    this.#snapshot = snapshot;
    this.#clientIp = clientIp;
    this.#hash = hash;
  }

  /** The attributes that need no record; the others are read by {@link RecordedAttributes}. */
  attributes(
    { request, draft }: EvaluationContext,
    { roots, reads }: RuleNeeds,
    params: Readonly<Record<string, string>>,
  ): Gathered {
    const { at, environment } = this.#inputs;
    const { method, path, host, scheme, protocol } = request;
    const members: Record<string, unknown> = { method, path, scheme, client_ip: this.#clientIp };
    members["host"] = host === "" ? UNAVAILABLE : host;
    members["protocol"] = protocol === "" ? UNAVAILABLE : protocol;
    // what the door could not tell
    for (const member of REQUEST_INPUTS)
      if (this.#inputs.unavailable?.includes(`request.${member}`) === true) members[member] = UNAVAILABLE;
    const attributes: Attributes = {
      path: params,
      request: members as Attributes["request"],
      env: roots.has("env") ? environmentAttributes(at, environment) : undefined,
    };
    const sent = reads.filter(([root]) => root === "request");
    const values = this.#values(attributes);
    if (sent.some((path) => values.read(path).kind === "unrecorded")) {
      // the gateway refuses a request if what the rule reads is ambiguous, whether the verdict depends on it or not
      this.#note(sent, values);
      if (!this.isPermitting) return { ok: false, denial: deny(draft, "AMBIGUOUS_QUERY") };
    }
    return { ok: true, attributes, accepted: [] };
  }

  evaluate(expression: Expression, own: Attributes): Verdict {
    const values = this.#values(own);
    const attributes = knownAttributes(readsOf(expression), values);
    if (attributes !== undefined) return evaluate(expression, attributes);
    const possible = possibleVerdicts(expression, values);
    if (possible === TRUE) return true;
    if (possible === UNKNOWN) return undefined;
    // neither permits
    if ((possible & TRUE) === 0) return false;
    this.#note(readsOf(expression), values);
    return this.isPermitting;
  }

  readonly specialize = (
    expression: Expression,
    own: Attributes,
    late: ReadonlySet<string>,
    purpose: "permits" | "masks",
  ): Specialized => {
    const values = this.#values(own);
    const now = readsOf(expression).filter(([root = ""]) => !late.has(root));
    const attributes = knownAttributes(now, values);
    if (attributes !== undefined) {
      const left = specialize(expression, attributes, late);
      if (left.known || !this.#lacksArguments(left.residual)) return left;
      this.lacks.add(ARGUMENT);
      return this.#undecided(purpose);
    }
    const possible = possibleVerdicts(expression, withoutLate(values, late));
    const effect = purpose === "permits" ? TRUE : TRUE | UNKNOWN;
    if ((possible & ~effect) === 0) return { known: true, verdict: true };
    if ((possible & effect) === 0) return { known: true, verdict: false };
    this.#note(now, values);
    return this.#undecided(purpose);
  };

  operations(): GraphqlRequestRead {
    const { graphql } = this.#inputs;
    if (graphql === undefined || "refused" in graphql) throw new NotRecorded(OPERATION);
    if ("page" in graphql) return { ok: false, code: GRAPHQL.GRAPHQL_MALFORMED, message: "no operation" };
    const { documents, batch, kinds, nullable } = graphql;
    const payloads = documents.map(({ query, operation }) => ({
      query,
      variables: {},
      ...(operation !== undefined && { operationName: operation }),
    }));
    return { ok: true, payloads, batch, kinds, nullable };
  }

  #values(own: Attributes): RecordedAttributes {
    return new RecordedAttributes(this.#inputs, this.#snapshot.ir, own, this.#hash);
  }

  #undecided(purpose: "permits" | "masks"): Specialized {
    return { known: true, verdict: this.isPermitting === (purpose === "permits") };
  }

  /** Whether a condition reads an argument whose value is left out, in any of the operations. */
  #lacksArguments(residual: Expression): boolean {
    const { graphql } = this.#inputs;
    if (graphql === undefined || !("documents" in graphql)) return false;
    const read = pathsIn(residual).filter(([root]) => root === "args");
    return graphql.documents.some(({ query }) => {
      const names = new Set(Array.from(query.matchAll(LEFT_OUT_ARGUMENT), ([, name]) => name));
      // `args` alone is all of them
      return names.size > 0 && read.some(([, name]) => name === undefined || names.has(name));
    });
  }

  #note(reads: readonly AttributePath[], values: RecordedAttributes): void {
    for (const path of reads) {
      const { kind } = values.read(path);
      if (kind === "unrecorded") this.lacks.add(`\`${nameOf(path)}\` is not recorded`);
      else if (kind === "present") this.lacks.add(`the value of \`${nameOf(path)}\` is redacted`);
      else if (kind === "hash")
        this.lacks.add(values.canHash ? `only a hash of \`${nameOf(path)}\` is recorded` : ANY_KEY);
    }
  }
}

const reads = new WeakMap<Expression, readonly AttributePath[]>();

function readsOf(expression: Expression): readonly AttributePath[] {
  let paths = reads.get(expression);
  if (paths === undefined) reads.set(expression, (paths = pathsIn(expression)));
  return paths;
}

/** The attributes at these paths; `undefined` if one of them is not known. */
function knownAttributes(
  paths: readonly AttributePath[],
  values: RecordedAttributes,
): Attributes | undefined {
  const attributes = Object.create(null) as Record<string, unknown>;
  for (const path of paths) {
    const recorded = values.read(path);
    if (recorded.kind !== "known") return undefined;
    putValue(attributes, path, recorded.value);
  }
  return attributes as Attributes;
}

function withoutLate(values: RecordedValues, late: ReadonlySet<string>): RecordedValues {
  return {
    read: (path) => (late.has(path[0] ?? "") ? { kind: "unrecorded" } : values.read(path)),
    hash: (value) => values.hash(value),
  };
}

function contextOf(
  inputs: RulesInputs,
  snapshot: Snapshot,
  { clientIp, userId }: { readonly clientIp: string; readonly userId: string },
  recorded: RecordedRequest,
): EvaluationContext {
  const { method, path, host, scheme, protocol, environment, at } = inputs;
  const request: CanonicalRequest = {
    ...{ method, path, host, scheme, protocol },
    segments: segmentsOf(path),
    query: inputs.websocket?.carries_operation === true ? { query: ["{__typename}"] } : {},
    headers: headersOf(inputs),
    body: NO_BODY,
  };
  const caller = callerOf(inputs, userId);
  return {
    with: { cache: NO_VERDICT_CACHE, sources: NO_SOURCES, environment, limits: UNLIMITED, recorded },
    snapshot,
    sets: [snapshot],
    request,
    readings: { request, others: [], variants: [], switchedOff: NO_SWITCHES },
    access: {
      raw: { ...{ method, scheme, host, protocol }, target: path, headers: [] },
      ...{ peer: clientIp, requestId: "", receivedAt: at, deadline: Number.POSITIVE_INFINITY },
      unknown: unknownParts(inputs),
    },
    caller,
    draft: {
      ...{ clientIp, trustedPeer: false, accepted: [], snapshot, request },
      ...(caller.identity && { identity: caller.identity }),
    },
  };
}

/** What decides beyond conditions: whether it was a handshake, and whether an operation was in the query. */
function unknownParts({ unavailable = [] }: RulesInputs): UnknownParts {
  return {
    ...(unavailable.includes("request.headers") && { headers: "all" }),
    ...(unavailable.some((name) => name.startsWith("request.query")) && { query: "all" }),
  };
}

/** The headers that say what kind of request it was. */
function headersOf({ websocket, preflight, graphql }: RulesInputs): CanonicalRequest["headers"] {
  if (websocket !== undefined)
    return {
      ...{ upgrade: ["websocket"], connection: ["upgrade"] },
      ...(websocket.graphql === true && { "sec-websocket-protocol": [SUBPROTOCOL.current] }),
    };
  if (preflight !== undefined) {
    const { well_formed: isWellFormed, origin } = preflight;
    const methods = isWellFormed ? ["GET"] : ["GET", "GET"];
    return { origin: [origin ?? ""], "access-control-request-method": methods };
  }
  return graphql !== undefined && "page" in graphql ? { accept: ["text/html"] } : {};
}

function callerOf({ caller }: RulesInputs, userId: string): Caller {
  if (caller === "none") return {};
  if (caller !== "identified")
    return { failure: { reason: caller as CallerFailure["reason"], detail: "", final: false } };
  const identity: Identity = {
    ...{ user: {}, userId, session: { amr: [] } },
    expiresAt: Number.POSITIVE_INFINITY,
  };
  return { identity };
}

function variantsOf({ variants = [] }: RulesInputs, request: CanonicalRequest): readonly Variant[] {
  return variants.map(({ path, by }) => ({
    request: { ...request, path, segments: segmentsOf(path) },
    of: request,
    by,
  }));
}

/** The decoded segments of a canonical path. */
function segmentsOf(path: string): readonly string[] {
  if (path === "*") return [];
  const segments = path.split("/").slice(1);
  if (segments.at(-1) === "") segments.pop();
  return path.includes("%") ? segments.map(decodeURIComponent) : segments;
}

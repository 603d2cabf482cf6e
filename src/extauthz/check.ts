import type { DecisionPoint } from "../decision/decision-point.ts";
import { chain, type Eventually } from "../decision/judgement.ts";
import { renderDenial } from "../decision/denial.ts";
import type { IdentityHeaders } from "../decision/identity-headers.ts";
import type { AccessRequest, Decision } from "../decision/types.ts";
import { withoutCookie } from "../decision/withheld-cookie.ts";
import { BODIES, EXTENSION, REPORTS } from "../envoy-contract.ts";
import type { Identity } from "../identity/types.ts";
import { REASONS } from "../reasons.ts";
import type { RawRequest } from "../request/types.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { decodeCheck, type CheckCall } from "./decode.ts";
import type { CheckHandler } from "./server.ts";
import { encodeAllow, encodeBodyRequest, encodeDenial } from "./encode.ts";
import { createRecordNamer, type NamedRecord, type RecordMetadata } from "./record-metadata.ts";
import { removedForPreflight } from "./preflight-headers.ts";
import { removedForPlan, withoutPreconditions } from "./plan-headers.ts";
import {
  enforceable,
  inSlot,
  planMetadata,
  PLAN_HEADER,
  type EncodedPlan,
  type OpenConnections,
} from "./plan-metadata.ts";

/** What the check of one request uses. */
export interface CheckDependencies {
  readonly point: DecisionPoint;
  readonly identityHeaders: (identity: Identity | undefined, trustedPeer: boolean) => IdentityHeaders;
  /** Names of headers that the client may not send. */
  readonly forgedHeaders: (headers: RawRequest["headers"]) => readonly string[];
  /** The request as rules see it. */
  readonly withoutForged: (request: RawRequest, forged: readonly string[]) => RawRequest;
  readonly denialDetails: "none" | "reason";
  /** Name of the cookie that may hold the token. */
  readonly cookie?: string;
  /** Where people sign in: pages of 401 lead there. */
  readonly signInUrl?: string;
  readonly tracing: Tracing;
  /** Ids of decisions. */
  readonly nextDecisionId: () => string;
  /** WebSocket connections that outlive their handshake. */
  readonly connections: OpenConnections;
  /** Denies what is not to be decided now, because others wait. */
  readonly shed?: (access: AccessRequest) => Decision | undefined;
  /** What Envoy is told about records; nothing where it is absent. */
  readonly records?: RecordMetadata;
  readonly log: { warn(object: object, message: string): void; error(object: object, message: string): void };
}

/** Sent when even a denial cannot be encoded. */
const LAST_RESORT = encodeDenial({ httpStatus: 500, grpcStatus: 7, headers: [], body: "" });

/** What Envoy is told where the decision needs the body. */
const BODY_REQUEST = encodeBodyRequest();

/**
 * The path of one check: decode, shed, judge, encode, conclude. The answer is encoded before the decision is made final, so
 * that nothing can go wrong between what is recorded and what is sent. The function never throws and never rejects.
 */
export function createCheck(dependencies: CheckDependencies): CheckHandler {
  const { point, tracing, log, nextDecisionId, connections, forgedHeaders, withoutForged } = dependencies;
  let warned = false;
  const nameRecord = createRecordNamer(dependencies.records, nextDecisionId);
  const encodeAnswer = createAnswerEncoder(dependencies);
  const encodeFailure = (denial: Decision, call: CheckCall | undefined): Buffer => {
    try {
      return encodeAnswer(denial, call, undefined);
    } catch (error) {
      log.error({ err: error }, "a denial cannot be encoded");
      return LAST_RESORT;
    }
  };

  const finish = (
    judged: Decision,
    call: CheckCall,
    access: AccessRequest,
    { started, isCancelled }: { readonly started: number; readonly isCancelled: () => boolean },
  ): Eventually<{ readonly final: Decision; readonly answer: Buffer }> => {
    let decision = judged;
    let answer: Buffer;
    let plan: EncodedPlan | undefined;
    let record: NamedRecord | undefined;
    try {
      const named = nameRecord(access);
      record = named;
      plan = planMetadata(decision, access, named ? () => named.id : nextDecisionId, connections.place);
      if (plan?.websocket === true) {
        const full = connections.add(plan, access, decision, {
          key: `${call.streamId} ${call.requestId}`,
          reported: call.contextExtensions[EXTENSION.reports] === REPORTS.connections,
        });
        if (full !== undefined) decision = { ...decision, verdict: "DENY", reason: full };
        else plan = inSlot(plan, connections.slotOf(plan.decisionId));
      }
      answer = encodeAnswer(decision, call, plan);
    } catch (error) {
      decision = point.failed(error, access);
      answer = encodeFailure(decision, call);
    }
    const decisionId = plan?.decisionId ?? record?.id;
    const context = { access, at: Date.now(), ...(decisionId !== undefined && { decisionId }) };
    return chain(point.conclude(decision, context, access.deadline, started), (final) => {
      // nobody hears the answer to a call that was cancelled, or whose client has left
      if (
        plan?.websocket === true &&
        (final.verdict === "DENY" || isCancelled() || connections.hasLeft(access.requestId))
      )
        connections.withdraw(plan.decisionId);
      const encoded = final === decision ? answer : encodeFailure(final, call);
      return { final, answer: record === undefined ? encoded : Buffer.concat([encoded, record.metadata]) };
    });
  };

  const shed = (access: AccessRequest): Decision | undefined => {
    try {
      return dependencies.shed?.(access);
    } catch (error) {
      return point.failed(error, access);
    }
  };

  return (bytes, { deadline, traceparent: ofCall, isCancelled = () => false }) => {
    const started = performance.now();
    let call: CheckCall;
    try {
      call = decodeCheck(bytes);
    } catch (error) {
      const failed = point.failed(error, undefined);
      const final = point.conclude(failed, { access: undefined, at: Date.now() }, deadline, started);
      return chain(final, (denial) => encodeFailure(denial, undefined));
    }
    const forged = forgedHeaders(call.request.headers);
    if (forged.length > 0) {
      call = { ...call, forged, request: withoutForged(call.request, forged) };
    }
    if (call.headersJoined && !warned) {
      warned = true;
      log.warn({}, "envoy joins repeated headers: set `encode_raw_headers: true` in its ext_authz filter");
    }
    // where Envoy traces, the call itself is a span of the request's trace, and ours is its child
    const traceparent = ofCall ?? call.traceparent;
    const access: AccessRequest = {
      raw: call.request,
      peer: call.source.address,
      requestId: call.requestId,
      receivedAt: call.receivedAt,
      deadline,
      ...(call.bodies !== undefined && { bodies: call.bodies }),
      ...(traceparent !== undefined && { traceparent }),
    };
    const refusal = shed(access);
    if (refusal !== undefined) {
      const record = nameRecord(access);
      const context = { access, at: Date.now(), ...(record && { decisionId: record.id }) };
      const answer = encodeFailure(point.refuse(refusal, context, started), call);
      return record === undefined ? answer : Buffer.concat([answer, record.metadata]);
    }
    const span = tracing.span("gatehouse.check", traceparent);
    const end = (judged: Decision): Eventually<Buffer> => {
      if (judged.reason === "BODY_NEEDED" && call.bodies === BODIES.on_request) {
        // no decision, and so no record: that of the check with the body is the request's only one
        span.end({ "gatehouse.reason": judged.reason });
        return BODY_REQUEST;
      }
      const finished = finish(
        withoutPreconditions(enforceable(judged, call.contextExtensions[EXTENSION.plans]), call.request),
        call,
        access,
        { started, isCancelled },
      );
      return chain(finished, ({ final, answer }) => {
        span.end({ "gatehouse.decision": final.verdict, "gatehouse.reason": final.reason });
        return answer;
      });
    };
    return chain(point.judge(access), end);
  };
}

/** What says in which form a client reads answers, of a request that has no canonical reading. */
function formHeaders(headers: RawRequest["headers"]): Readonly<Record<string, readonly string[]>> {
  const valuesOf = (name: string) =>
    headers.flatMap(([header, value]) => (header === name ? [value.trim()] : []));
  return Object.fromEntries(
    ["accept", "content-type"]
      .map((name) => [name, valuesOf(name)] as const)
      .filter(([, values]) => values.length > 0),
  );
}

/**
 * Allows without a plan differ only by identity and trust in the peer, so each is serialized once; but not those that
 * remove what a client made up.
 */
function createAnswerEncoder({ identityHeaders, denialDetails, cookie, signInUrl }: CheckDependencies) {
  const byIdentity = { trusted: new WeakMap<Identity, Buffer>(), untrusted: new WeakMap<Identity, Buffer>() };
  const anonymous: { trusted?: Buffer; untrusted?: Buffer } = {};

  const single = (
    { identity, trustedPeer, plan: planned, cookieWithheld }: Decision,
    call: CheckCall | undefined,
    plan: EncodedPlan | undefined,
  ): Buffer => {
    const { set, remove } = identityHeaders(identity, trustedPeer);
    const replaced = new Set([...set.map(([name]) => name), ...remove, PLAN_HEADER[0]]);
    const cookies =
      cookieWithheld === true && cookie !== undefined
        ? withoutCookie(call?.request.headers ?? [], cookie)
        : undefined;
    return encodeAllow({
      setHeaders: [...set, ...(plan === undefined ? [] : [PLAN_HEADER]), ...(cookies?.set ?? [])],
      removeHeaders: [
        ...remove,
        ...(cookies?.remove ?? []),
        ...(call?.forged ?? []).filter((name) => !replaced.has(name)),
        ...(plan === undefined ? [] : removedForPlan(call?.request.headers ?? [])),
        ...(planned?.preflight === true ? removedForPreflight(call?.request.headers ?? []) : []),
      ],
      ...(plan && { dynamicMetadata: plan.metadata }),
    });
  };

  const allowed = (
    decision: Decision,
    call: CheckCall | undefined,
    plan: EncodedPlan | undefined,
  ): Buffer => {
    const { identity, trustedPeer, cookieWithheld } = decision;
    if (plan !== undefined || call?.forged !== undefined || cookieWithheld === true)
      return single(decision, call, plan);
    const trust = trustedPeer ? "trusted" : "untrusted";
    const known = identity === undefined ? anonymous[trust] : byIdentity[trust].get(identity);
    if (known !== undefined) return known;
    const { set, remove } = identityHeaders(identity, trustedPeer);
    const answer = encodeAllow({ setHeaders: set, removeHeaders: remove });
    if (identity === undefined) anonymous[trust] = answer;
    else byIdentity[trust].set(identity, answer);
    return answer;
  };

  const denied = (decision: Decision, call: CheckCall | undefined): Buffer => {
    const { status, headers, body } = renderDenial({
      reason: decision.reason,
      requestId: call?.requestId ?? "",
      method: call?.request.method ?? "",
      resource: decision.request?.path ?? "",
      headers: decision.request?.headers ?? (call && formHeaders(call.request.headers)),
      ...(signInUrl !== undefined && { signIn: { url: signInUrl, target: call?.request.target ?? "" } }),
      details: denialDetails,
      now: Date.now(),
      ...(decision.graphqlErrors && { graphqlErrors: decision.graphqlErrors }),
      ...(decision.stepUp && { stepUp: decision.stepUp }),
    });
    const grpcStatus = REASONS[decision.reason].status === 401 ? 16 : 7;
    return encodeDenial({ httpStatus: status, grpcStatus, headers, body });
  };

  return (decision: Decision, call: CheckCall | undefined, plan: EncodedPlan | undefined): Buffer =>
    decision.verdict === "ALLOW" ? allowed(decision, call, plan) : denied(decision, call);
}

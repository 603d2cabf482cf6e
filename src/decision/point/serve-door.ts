import type { Span, Tracing } from "../../telemetry/tracing.ts";
import { denyPermitted } from "../decide/evaluation-context.ts";
import { originsOf, type Cors } from "../headers/cors-headers.ts";
import { withoutHeaders, type FindForgedHeaders } from "../headers/forged-headers.ts";
import type { OpenConnections } from "../connections/open-connections.ts";
import { andThen, type PromiseOrValue } from "../promise-or-value.ts";
import type { AccessRequest, Decision, Denial, Permit } from "../types.ts";
import { carriedPlan, type CarriedPlan } from "./carried-plan.ts";
import type { DecisionPoint } from "./decision-point.ts";
import { createDenialResponse, type DenialResponseOptions } from "./denial-response.ts";
import { GIVEN_UP, type DecodedCheck, type Door, type DoorCall } from "./door.ts";
import { enforceable, keptHeader, notRemoved } from "./enforceable.ts";
import { createUpstreamHeaders, type UpstreamHeadersOptions } from "./upstream-headers.ts";

/** The dependencies that all doors share. */
export interface ServingDependencies extends UpstreamHeadersOptions, DenialResponseOptions {
  readonly point: DecisionPoint;
  /** Finds the names of headers that the client may not send. */
  readonly forgedHeaders: FindForgedHeaders;
  /** Of the gateway's own policy set in force. */
  readonly cors: () => Cors | undefined;
  readonly tracing: Tracing;
  /** Creates ids of decisions. */
  readonly nextDecisionId: () => string;
  /** WebSocket connections that outlive their handshake. */
  readonly connections: OpenConnections;
  /** Requests of callers that report undecided ones themselves. */
  readonly undecided?: {
    /** The caller has reported that there was no decision. */
    isReported(requestId: string): boolean;
    /** Claims the request's record for our decision; false if it has one. */
    claim(requestId: string): boolean;
  };
  /** Denies requests under load, because others are waiting. */
  readonly shed?: (access: AccessRequest) => Denial | undefined;
  readonly log: { error(object: object, message: string): void };
}

/** An encoded answer that has not been sent: its decision is not final yet. */
interface Prepared<Answer> {
  readonly decision: Decision;
  readonly answer: Answer;
  readonly decisionId: string | undefined;
  readonly isConnection: boolean;
}

/**
 * The steps of one check, for every door: decode, shed, decide, enforceable, encode, conclude. The answer is encoded
 * before the decision is made final, so that nothing can fail between recording and sending it.
 *
 * If a caller has given up and reports that itself, the request gets its record then, and none here.
 *
 * @returns the function that answers a message; it never throws and never rejects
 */
export function serveDoor<Message, Answer>(
  door: Door<Message, Answer>,
  dependencies: ServingDependencies,
): (message: Message, call: DoorCall) => PromiseOrValue<Answer | typeof GIVEN_UP> {
  const { undecided } = dependencies;
  const { point, tracing, log, connections, nextDecisionId, forgedHeaders } = dependencies;
  const { encode } = door;
  const upstreamHeaders = createUpstreamHeaders(dependencies);
  const denialResponse = createDenialResponse(dependencies);

  function decode(message: Message, call: DoorCall): DecodedCheck {
    const check = door.decode(message, call);
    const { access } = check;
    const forged = forgedHeaders(access.raw.headers, check.behindEnvoy === true);
    const cors = dependencies.cors()?.grant(originsOf(access.raw.headers));
    const known = cors === undefined ? check : { ...check, cors };
    if (forged.length === 0) return known;
    return { ...known, forged, access: { ...access, raw: withoutHeaders(access.raw, forged) } };
  }

  function encodeDenial(denial: Denial, check?: DecodedCheck, decisionId?: string): Answer {
    try {
      return encode.denial(denial, check, denialResponse(denial, check?.access, check?.cors), decisionId);
    } catch (error) {
      log.error({ err: error }, "cannot encode a denial");
      return encode.lastResort;
    }
  }

  function undecodable(error: unknown, { deadline }: DoorCall, started: number): Answer {
    const denial = point.failed(error, undefined);
    return encodeDenial(point.conclude(denial, { access: undefined, at: Date.now() }, deadline, started));
  }

  /** Whether the caller has given up on the request, and reports that itself. */
  function isGivenUp({ access, reportsUndecided }: DecodedCheck, { isCancelled }: DoorCall): boolean {
    if (reportsUndecided !== true) return false;
    return (
      isCancelled?.() === true ||
      Date.now() > access.deadline ||
      undecided?.isReported(access.requestId) === true
    );
  }

  /** Whether the decision may be recorded: at most one is per request. */
  function claims({ access, reportsUndecided }: DecodedCheck): boolean {
    return reportsUndecided !== true || undecided === undefined || undecided.claim(access.requestId);
  }

  /** @returns why the request is shed, if it is */
  function shed({ access }: DecodedCheck): Denial | undefined {
    try {
      return dependencies.shed?.(access);
    } catch (error) {
      return point.failed(error, access);
    }
  }

  function refuse(refusal: Denial, check: DecodedCheck, started: number): Answer {
    const { access } = check;
    let final = refusal;
    let decisionId: string | undefined;
    try {
      if (door.namesDecisions === true) decisionId = nextDecisionId();
    } catch (error) {
      final = point.failed(error, access);
    }
    return encodeDenial(point.refuse(final, contextOf(access, decisionId), started), check, decisionId);
  }

  function denied(
    decision: Denial,
    check: DecodedCheck,
    decisionId: string | undefined,
    isConnection: boolean,
  ): Prepared<Answer> {
    return { decision, answer: encodeDenial(decision, check, decisionId), decisionId, isConnection };
  }

  function prepare(decided: Decision, check: DecodedCheck): Prepared<Answer> {
    let decisionId: string | undefined;
    let isConnection = false;
    try {
      if (door.namesDecisions === true) decisionId = nextDecisionId();
      const decision = decided.verdict === "ALLOW" ? enforceable(decided, check) : decided;
      if (decision.verdict === "DENY") return denied(decision, check, decisionId, isConnection);
      const headers = upstreamHeaders(decision, check);
      const kept = keptHeader(headers, check);
      if (kept !== undefined) {
        const denial = denyPermitted(decision, "PLAN_NOT_ENFORCEABLE");
        return denied({ ...denial, detail: notRemoved(kept) }, check, decisionId, isConnection);
      }
      let plan: CarriedPlan | undefined;
      if (decision.plan !== undefined) {
        plan = carriedPlan(decision.plan, decision, (decisionId ??= nextDecisionId()));
        isConnection = plan.websocket;
        if (isConnection) {
          const full = register(plan, decision, check);
          if (full !== undefined)
            return denied(denyPermitted(decision, full), check, decisionId, isConnection);
          const slot = connections.slotOf(plan.decisionId);
          if (slot !== undefined) plan = { ...plan, slot };
        }
      }
      const answer = encode.permit(decision, check, { headers, plan, decisionId });
      return { decision, answer, decisionId, isConnection };
    } catch (error) {
      return denied(point.failed(error, check.access, decided), check, decisionId, isConnection);
    }
  }

  /** @returns why the connection cannot be registered */
  function register(
    plan: CarriedPlan,
    permit: Permit,
    { access, streamId, reportsConnections = false }: DecodedCheck,
  ): ReturnType<OpenConnections["add"]> {
    const key = streamId === undefined ? undefined : `${streamId} ${access.requestId}`;
    return connections.add(plan, access, permit, { key, reported: reportsConnections });
  }

  function conclude(
    decided: Decision,
    decoded: DecodedCheck,
    call: DoorCall,
    started: number,
    span: Span,
  ): PromiseOrValue<Answer | typeof GIVEN_UP> {
    const check = followArm(decoded, decided);
    const { access } = check;
    const { isCancelled } = call;
    if (
      decided.reason === "BODY_NEEDED" &&
      access.bodies === "on_request" &&
      encode.bodyRequest !== undefined
    ) {
      // not a decision, so there is no record; the check with the body writes the request's only one
      span.end({ "gatehouse.reason": decided.reason });
      return encode.bodyRequest;
    }
    if (isGivenUp(check, call) || !claims(check)) {
      // a client that has left was not refused
      if (Date.now() > access.deadline) point.missed(decided, started);
      span.end();
      return GIVEN_UP;
    }
    const { decision, answer, decisionId, isConnection } = prepare(decided, check);
    const concluded = point.conclude(decision, contextOf(access, decisionId), access.deadline, started);
    return andThen(concluded, (final) => {
      try {
        // nobody receives the answer to a call that was cancelled, or whose client has disconnected
        if (
          isConnection &&
          decisionId !== undefined &&
          (final.verdict === "DENY" || isCancelled?.() === true || connections.hasLeft(access.requestId))
        )
          connections.withdraw(decisionId);
        span.end({ "gatehouse.decision": final.verdict, "gatehouse.reason": final.reason });
      } catch (error) {
        // the record is out: the answer is what it says
        log.error({ err: error }, "what follows a decision failed");
      }
      switch (final.verdict) {
        case "ALLOW":
          return answer;
        case "DENY":
          return final === decision ? answer : encodeDenial(final, check, decisionId);
      }
    });
  }

  return (message, call) => {
    const started = performance.now();
    let check: DecodedCheck;
    try {
      check = decode(message, call);
    } catch (error) {
      return undecodable(error, call, started);
    }
    if (isGivenUp(check, call)) return GIVEN_UP;
    const refusal = shed(check);
    if (refusal !== undefined) return claims(check) ? refuse(refusal, check, started) : GIVEN_UP;
    const span = tracing.span("gatehouse.check", check.access.traceparent);
    return andThen(point.decide(check.access), (decided) => conclude(decided, check, call, started, span));
  };
}

/** The CORS headers of an answer are those of the set that decided. */
function followArm(check: DecodedCheck, { arm }: Decision): DecodedCheck {
  if (arm?.name !== "candidate") return check;
  const { cors, ...others } = check;
  const granted = arm.set.cors?.grant(originsOf(check.access.raw.headers));
  return granted === undefined ? others : { ...others, cors: granted };
}

function contextOf(access: AccessRequest, decisionId: string | undefined) {
  const at = Date.now();
  return decisionId === undefined ? { access, at } : { access, at, decisionId };
}

import type { PlanIR, WebsocketPlanIR } from "../../policy/index.ts";
import { denyPermitted } from "../decide/evaluation-context.ts";
import { hasPrecondition } from "../headers/plan-headers.ts";
import type { Decision, Permit } from "../types.ts";
import type { DecodedCheck, Task } from "./door.ts";
import type { HeaderChanges } from "./upstream-headers.ts";

/**
 * Checks that the caller can carry out everything that a permit requires.
 *
 * @returns the permit, without parts that need not be carried out; a denial if the caller cannot carry out the rest
 */
export function enforceable(permit: Permit, { access, carries, forged }: DecodedCheck): Decision {
  const { plan } = permit;
  const takesHeaders =
    forged !== undefined || permit.cookieWithheld === true || permit.protocolWithheld === true;
  if (takesHeaders && !carries.has("request_headers")) return denyPermitted(permit, "PLAN_NOT_ENFORCEABLE");
  if (plan === undefined) return permit;
  if (!isCarried(plan, carries)) {
    if (!isOnlyAnEnd(plan)) return denyPermitted(permit, "PLAN_NOT_ENFORCEABLE");
    const { plan: dropped, ...bare } = permit;
    return bare;
  }
  if (plan.response !== undefined && hasPrecondition(access.raw))
    return denyPermitted(permit, "PRECONDITION_NOT_SUPPORTED");
  return permit;
}

/** Whether the request has headers that the application must not get and that the caller does not remove. */
export function keepsHeaders({ remove }: HeaderChanges, { access, carries }: DecodedCheck): boolean {
  return !carries.has("request_headers") && access.raw.headers.some(([name]) => remove.includes(name));
}

function isCarried({ response, preflight, websocket }: PlanIR, carries: ReadonlySet<Task>): boolean {
  if (response !== undefined && !carries.has("response")) return false;
  if (preflight === true && !carries.has("preflight")) return false;
  if (websocket === undefined) return true;
  return carries.has("connection") && (carries.has("messages") || !readsMessages(websocket));
}

function readsMessages({ send, receive, fields, graphql, plain }: WebsocketPlanIR): boolean {
  return !plain || [send, receive, fields, graphql].some((part) => part !== undefined);
}

/** The plan only says when a connection that a path rule permits must end. */
function isOnlyAnEnd({ response, preflight, websocket }: PlanIR): boolean {
  if (response !== undefined || preflight === true || websocket === undefined) return false;
  return !readsMessages(websocket);
}

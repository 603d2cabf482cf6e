import type { PlanIR, WebsocketPlanIR } from "../../policy/index.ts";
import { denyPermitted } from "../decide/evaluation-context.ts";
import { isWebsocketUpgrade } from "../decide/evaluate-upgrade.ts";
import { hasPrecondition } from "../headers/plan-headers.ts";
import type { Decision, Permit } from "../types.ts";
import type { DecodedCheck, Task } from "./door.ts";
import type { HeaderChanges } from "./upstream-headers.ts";

/**
 * Checks that the caller can carry out everything that a permit requires.
 *
 * @returns the permit, without parts that need not be carried out; a denial if the caller cannot carry out the rest
 */
export function enforceable(permit: Permit, check: DecodedCheck): Decision {
  const { plan } = permit;
  const { access, carries, forged, unenforceable } = check;
  if (unenforceable !== undefined)
    return { ...denyPermitted(permit, "PLAN_NOT_ENFORCEABLE"), detail: unenforceable };
  if (isTunnel(permit, check)) return denyPermitted(permit, "PLAN_NOT_ENFORCEABLE");
  const takesHeaders =
    forged !== undefined || permit.cookieWithheld === true || permit.protocolWithheld === true;
  if (takesHeaders && !carries.has("request_headers")) {
    const denial = denyPermitted(permit, "PLAN_NOT_ENFORCEABLE");
    return forged?.[0] === undefined ? denial : { ...denial, detail: notRemoved(forged[0]) };
  }
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

/** Whether the request would open a connection that no rule is for: only WebSocket handshakes have their rules evaluated. */
function isTunnel({ request }: Permit, { access, tunnels }: DecodedCheck): boolean {
  if (tunnels !== true || !access.raw.headers.some(([name]) => name === "upgrade")) return false;
  return request === undefined || !isWebsocketUpgrade(request);
}

/** Why a permit cannot be carried out where nothing removes a client's headers. */
export function notRemoved(header: string): string {
  return `nothing here removes the header \`${header}\`, which the application must not get`;
}

/**
 * @returns a header that the application must not get from the client, and that the caller neither removes nor certainly
 *   replaces, if the request has one
 */
export function keptHeader(
  { set, remove }: HeaderChanges,
  { access, carries, overwrites }: DecodedCheck,
): string | undefined {
  if (carries.has("request_headers")) return undefined;
  const names = [...remove, ...set.map(([name]) => name)];
  const ours = new Set(names.filter((name) => overwrites?.has(name) !== true));
  return access.raw.headers.find(([name]) => ours.has(name))?.[0];
}

/** What a plan requires of the caller, by its parts. */
export function tasksOf({ response, preflight, websocket }: PlanIR): readonly Task[] {
  return [
    ...(response === undefined ? [] : ["response" as const]),
    ...(preflight === true ? ["preflight" as const] : []),
    ...(websocket === undefined ? [] : ["connection" as const]),
    ...(websocket !== undefined && readsMessages(websocket) ? ["messages" as const] : []),
  ];
}

function isCarried(plan: PlanIR, carries: ReadonlySet<Task>): boolean {
  return tasksOf(plan).every((task) => carries.has(task));
}

function readsMessages({ send, receive, fields, graphql, plain }: WebsocketPlanIR): boolean {
  return !plain || [send, receive, fields, graphql].some((part) => part !== undefined);
}

/** The plan only says when a connection that a path rule permits must end. */
function isOnlyAnEnd({ response, preflight, websocket }: PlanIR): boolean {
  if (response !== undefined || preflight === true || websocket === undefined) return false;
  return !readsMessages(websocket);
}

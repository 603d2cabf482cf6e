import type { Request, Response } from "express";
import { clientOf, isPermitted, onlyCustomerOf, requirePermission, type Actor } from "../actor.ts";
import type { ControlContext } from "../context.ts";
import { ApiError, invalidCustomer } from "../errors.ts";
import { requireJsonAccepted } from "./accept.ts";
import { noteCaller, noteRefusedCaller } from "./calls.ts";
import { requireMatch } from "./etags.ts";
import { asCaller, callerOf } from "./as-caller.ts";
import type { Authenticator } from "./authenticator.ts";
import { createAuthority, type Authority } from "./authority.ts";
import { clientIpOf } from "./client-address.ts";
import {
  claimKey,
  findAnswer,
  fingerprintOf,
  isIdempotent,
  keepAnswer,
  readIdempotencyKey,
  releaseKey,
  type IdempotentRequest,
  type StoredResponse,
} from "./idempotency.ts";
import type { ExportTurns } from "./export-turns.ts";
import { isStorable } from "./json-text.ts";
import { parseBody, parseParameters } from "./parse-input.ts";
import { readQuery } from "./query-string.ts";
import type { RateLimiter, RateLimitResult } from "./rate-limiter.ts";
import { BODY_LIMIT, readBody } from "./read-body.ts";
import { unitsOfCaller } from "./units-of-caller.ts";
import { requestIdOf } from "./request-id.ts";
import { keptFrom, sendAnswer, sendStored } from "./send.ts";
import type { Answer, Call, RateGroup, Route } from "./route.ts";

/** The dependencies of the frame itself. */
export interface FrameParts {
  readonly context: Pick<ControlContext, "units" | "box" | "clock" | "log">;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
}

/** What routes are served by. */
export interface ServingParts extends FrameParts {
  readonly exports: ExportTurns;
}

/**
 * Serves one request by its route. The steps, in this order: identify the caller, count the request, check the
 * permission, check the customer, parse the input, check again that the caller still has permission, and then run the
 * route's own code.
 */
export async function serve(
  route: Route,
  request: Request,
  response: Response,
  parts: ServingParts,
): Promise<void> {
  const caller = await identify(request, response, route.group, parts);
  await asCaller(callerOf(caller), response, (signal) =>
    serveCaller(route, { request, response, caller, signal }, parts),
  );
}

interface Identified {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Actor;
  readonly signal: AbortSignal;
}

async function serveCaller(
  route: Route,
  { request, response, caller, signal }: Identified,
  parts: ServingParts,
): Promise<void> {
  requirePermitted(route, request, caller, parts.authenticator);
  // if no key is required, a cookie that happens to be sent does not tell who the caller is
  const isPublic = route.permission === "public";
  const actor = isPublic ? anonymousActor(request) : caller;
  requireJsonAccepted(request, otherTypes(route));
  const params = readPath(route, request);
  requireTenancy(route, params, actor);
  const authority = createAuthority(
    actor,
    async () => (isPublic ? actor : authorizeAgain(route, request, params, parts.authenticator)),
    parts.context.clock,
  );
  const call: Call<unknown, unknown, unknown> = {
    params: parseParameters(route.params, params, "path"),
    query: parseParameters(route.query, readQuery(request.originalUrl), "query"),
    // the sender decides how long this takes
    body: await readRouteBody(route, request),
    actor: await authority.current(),
    requestId: requestIdOf(response),
    clientIp: clientIpOf(request),
    userAgent: (request.headers["user-agent"] ?? "").slice(0, 500),
    headers: request.headers,
    signal,
    async identifyAgain() {
      await authority.checkNow();
    },
    ifMatch(etag) {
      requireMatch(request.headers["if-match"], etag);
    },
  };
  await runRoute(route, { call, authority }, request, response, parts);
}

/** Identifies the caller, counts the request, and sets the rate-limit headers, on every answer, refusals included. */
export async function identify(
  request: Request,
  response: Response,
  group: RateGroup,
  { authenticator, limiter }: Pick<FrameParts, "authenticator" | "limiter">,
): Promise<Actor> {
  const identified = await authenticator.identify(request);
  const known = identified !== undefined && !(identified instanceof ApiError);
  const actor = known ? identified : anonymousActor(request);
  if (identified instanceof ApiError && identified.caller !== undefined)
    noteRefusedCaller(response, identified.caller);
  else noteCaller(response, actor);
  await countRequest(response, groupFor(group, actor), clientOf(actor), limiter);
  if (identified instanceof ApiError) throw identified;
  return actor;
}

/** The limit of gateways is high, and only theirs: anybody else may ask for what is refused as often as for anything else. */
function groupFor(group: RateGroup, actor: Actor): RateGroup {
  return group === "gateway" && !isPermitted(actor, "gateway") ? "management" : group;
}

/** The current caller, with the permission that the route requires: no earlier result is reused. */
async function authorizeAgain(
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
  authenticator: Authenticator,
): Promise<Actor> {
  const identified = await authenticator.identify(request);
  if (identified instanceof ApiError) throw identified;
  const actor = identified ?? anonymousActor(request);
  requirePermitted(route, request, actor, authenticator);
  requireTenancy(route, params, actor);
  return actor;
}

function requirePermitted(
  { permission, method }: Route,
  request: Request,
  caller: Actor,
  authenticator: Authenticator,
): void {
  if (permission !== "public") requirePermission(caller, permission);
  if (method !== "get") authenticator.requireSameSite(request, caller);
}

/**
 * Counts a request and sets the three rate-limit headers.
 * @throws ApiError RATE_LIMIT_EXCEEDED
 */
export async function countRequest(
  response: Response,
  group: RateGroup,
  subject: string,
  limiter: RateLimiter,
): Promise<void> {
  const result = await limiter.take(group, subject);
  writeRateHeaders(response, result);
  if (result.allowed) return;
  const seconds = Math.max(1, result.resetAt - Math.floor(Date.now() / 1000));
  throw new ApiError("RATE_LIMIT_EXCEEDED", {
    details: { limit: result.limit, retry_after_seconds: seconds },
    headers: { "retry-after": String(seconds) },
  });
}

/** A caller without credentials, known only by address. */
export function anonymousActor(request: Request): Extract<Actor, { kind: "anonymous" }> {
  return { kind: "anonymous", id: `ip:${clientIpOf(request)}` };
}

function writeRateHeaders(response: Response, { limit, remaining, resetAt }: RateLimitResult): void {
  response.setHeader("X-RateLimit-Limit", limit);
  response.setHeader("X-RateLimit-Remaining", remaining);
  response.setHeader("X-RateLimit-Reset", resetAt);
}

function otherTypes(route: Route): readonly string[] {
  const others = Object.values(route.answers).some((schema) => schema === null);
  return [...(others ? ["text/html"] : []), ...(others || route.lines ? ["application/x-ndjson"] : [])];
}

function readPath(route: Route, request: Request): Readonly<Record<string, string>> {
  const params = Object.entries(request.params).map(([name, value]) => [name, String(value)] as const);
  // a name that PostgreSQL cannot store does not exist
  if (params.some(([, value]) => !isStorable(value))) throw new ApiError("NOT_FOUND");
  return route.params === undefined ? {} : Object.fromEntries(params);
}

function requireTenancy({ tenancy }: Route, params: Readonly<Record<string, string>>, actor: Actor): void {
  const only = onlyCustomerOf(actor);
  if (only === undefined || tenancy === "handler") return;
  if (tenancy === "all") throw new ApiError("CUSTOMER_KEY_NOT_ALLOWED", { details: { customer_id: only } });
  const asked = params[tenancy.path] ?? "";
  if (asked !== only) throw invalidCustomer(asked, "path");
}

async function readRouteBody(route: Route, request: Request): Promise<unknown> {
  const body = await readBody(request, route.bodyLimit ?? BODY_LIMIT, route.anyText);
  if (route.body !== undefined) return parseBody(route.body, body);
  // a body that is ignored may have had a purpose; an empty object has none
  if (body !== undefined && JSON.stringify(body) !== "{}")
    throw new ApiError("VALIDATION_FAILED", { message: "this request must not have a body" });
  return undefined;
}

async function runRoute(
  route: Route,
  { call, authority }: { readonly call: Call<unknown, unknown, unknown>; readonly authority: Authority },
  request: Request,
  response: Response,
  { context, authenticator, exports }: ServingParts,
): Promise<void> {
  const send = (answer: Answer) =>
    sendAnswer(route, answer, request, response, { authority, context, exports });
  if (route.read !== undefined) {
    await send(await route.read(call));
    return;
  }
  const { write, units = context.units } = route;
  if (write === undefined) throw new Error(`the route ${route.operation} does nothing`);
  const { requestId, clientIp } = call;
  const callerUnits = unitsOfCaller(units, authenticator, authority);
  const once = idempotent(route, call, request);
  if (once !== undefined && route.prepare !== undefined) {
    // a repeated request gets its stored answer, whatever has happened to its inputs since
    const origin = { actor: call.actor, requestId, clientIp };
    const before = await callerUnits(origin, (unit) => findAnswer(unit.trx, once, context.box));
    if (before !== undefined) {
      sendStored(before, response);
      return;
    }
  }
  const prepared = await route.prepare?.(call);
  // requests to other servers may also have taken long, and the role may have changed
  const actor = await authority.beforeWrite();
  const permitted = { ...call, actor };
  const origin = { actor, requestId, clientIp };
  if (once === undefined) {
    await send(await callerUnits(origin, (unit) => write(permitted, unit, prepared)));
    return;
  }
  const outcome = await callerUnits(origin, async (unit): Promise<StoredResponse | Answer> => {
    const before = await claimKey(unit.trx, once, context.box);
    if (before !== undefined) return before;
    const answer = await write(permitted, unit, prepared);
    if (answer.kind !== "data") {
      await releaseKey(unit.trx, once);
      return answer;
    }
    const kept = keptFrom(route, answer, requestId, unit.now);
    await keepAnswer(unit.trx, once, kept, context.box);
    return kept;
  });
  if ("kind" in outcome) await send(outcome);
  else sendStored(outcome, response);
}

/** If the caller is not known, `Idempotency-Key` is ignored: one caller must not get another's answer. */
function idempotent(
  route: Route,
  { actor, body }: Call<unknown, unknown, unknown>,
  request: Request,
): IdempotentRequest | undefined {
  if (!isIdempotent(route)) return undefined;
  const key = readIdempotencyKey(request.headers["idempotency-key"]);
  if (key === undefined) return undefined;
  const fingerprint = fingerprintOf(route.method, request.originalUrl, body);
  return { actorId: clientOf(actor), key, fingerprint };
}

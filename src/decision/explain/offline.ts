import { extractToken } from "../../identity/index.ts";
import type { Identity } from "../../identity/types.ts";
import type { ValueObject } from "../../policy/index.ts";
import { canonicalize, type CanonicalRequest, type RawRequest } from "../../request/index.ts";
import { createMetrics } from "../../telemetry/metrics.ts";
import { createDecider, type DeciderDependencies } from "../decide/decide.ts";
import type { Caller } from "../decide/identify.ts";
import type { EvaluationContext, EvaluationDependencies } from "../decide/evaluation-context.ts";
import { createOriginCheck, requireOrigin, type OriginCheck } from "../decide/origin-check.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AttributeSource } from "../attributes/sources.ts";
import type { AccessRequest, Decision } from "../types.ts";
import { VerdictCache } from "../decide/verdict-cache.ts";

/** A request as somebody describes it at a desk, its caller already known. */
export interface OfflineRequest {
  readonly raw: RawRequest;
  readonly user?: ValueObject;
  readonly customer?: ValueObject;
  /**
   * The caller is known by a cookie, which counts where the request comes from its own origin or one of these. So it is where the
   * request has the cookie of the settings.
   */
  readonly byCookie?: { readonly trustedOrigins: readonly string[] };
  /** What an attribute source has for a root such as `target_user`; throws where it cannot say. */
  readonly lookup: (root: string, key: string) => ReturnType<AttributeSource["lookup"]>;
  /** Unix ms. */
  readonly now: number;
  readonly environment?: string;
  readonly clientIp?: string;
  /** Those of a gateway. Default: every check, no front proxies, no limits. */
  readonly settings?: OfflineSettings;
}

export type OfflineSettings = Pick<
  DeciderDependencies,
  "frontProxy" | "cookie" | "originCheck" | "switchedOff" | "environment" | "limits"
>;

const DEFAULT_SETTINGS: OfflineSettings = {
  frontProxy: { trustedProxies: [], backends: [] },
  switchedOff: new Set(),
  environment: "production",
  limits: { response: Number.MAX_SAFE_INTEGER, message: Number.MAX_SAFE_INTEGER },
};

/** A decision, and what explanations of it are made from. */
export interface OfflineDecision {
  readonly decision: Decision;
  /** Absent where the request was refused before any rule. */
  readonly evaluation?: EvaluationContext;
}

/**
 * Decides without network, tokens and caches, through the very function that the gateway decides with. For
 * `policy test` and `policy explain`. Throws nothing of its own.
 */
export async function decideOffline(snapshot: Snapshot, input: OfflineRequest): Promise<OfflineDecision> {
  let caller: Caller = {};
  const originCheck = originCheckOf(input);
  const source = { lookup: (key: string, root: string) => input.lookup(root, key) };
  const names = Object.values(snapshot.ir.attributes).flatMap(({ source }) => (source ? [source.name] : []));
  const { frontProxy, cookie, ...settings } = input.settings ?? DEFAULT_SETTINGS;
  const dependencies: EvaluationDependencies = {
    ...settings,
    ...(input.environment !== undefined && { environment: input.environment }),
    cache: new VerdictCache({ size: 0, ttlMs: 0 }, createMetrics()),
    sources: new Map(names.map((name) => [name, source])),
  };
  const decide = createDecider({
    ...dependencies,
    policies: () => ({ main: snapshot, customers: new Map() }),
    identify: (request, trusted) => (caller = callerOf(input, request, trusted)),
    ...(cookie !== undefined && { cookie }),
    ...(originCheck && { originCheck }),
    frontProxy,
  });
  const access: AccessRequest = {
    raw: input.raw,
    peer: input.clientIp ?? "127.0.0.1",
    requestId: "offline",
    receivedAt: input.now,
    deadline: Number.POSITIVE_INFINITY,
  };
  const decision = await decide(access);
  const { request, clientIp, trustedPeer, accepted } = decision;
  if (request === undefined) return { decision };
  const canonical = canonicalize(input.raw, settings);
  const readings = [request, ...(canonical.ok ? canonical.others : [])];
  const meant = requireOrigin(caller, originCheck, readings, access, trustedPeer);
  const draft = {
    clientIp,
    trustedPeer,
    accepted,
    snapshot,
    request,
    ...(meant.identity && { identity: meant.identity }),
  };
  return {
    decision,
    evaluation: { with: dependencies, snapshot, sets: [snapshot], request, access, caller: meant, draft },
  };
}

/** The caller as it is described, known by a cookie where it says so, or where the request has that one and no other token. */
function callerOf(
  { user, customer, byCookie, settings }: OfflineRequest,
  { headers }: CanonicalRequest,
  trustedProxy: boolean,
): Caller {
  const cookie = settings?.cookie;
  const carried = cookie !== undefined && extractToken(headers, { trustedProxy, cookie }).kind === "cookie";
  return {
    ...(user && { identity: offlineIdentity(user, customer) }),
    ...((byCookie !== undefined || carried) && { byCookie: true as const }),
  };
}

/** Origins that the request's description trusts count beside those of the settings. */
function originCheckOf({ byCookie, settings }: OfflineRequest): OriginCheck | undefined {
  if (byCookie === undefined) return settings?.originCheck;
  const own = createOriginCheck(byCookie.trustedOrigins);
  if (settings === undefined) return own;
  const { originCheck } = settings;
  return originCheck && ((asked) => own(asked) && originCheck(asked));
}

function offlineIdentity(user: ValueObject, customer: ValueObject | undefined): Identity {
  const { id } = user;
  return {
    user,
    ...(customer && { customer }),
    userId: typeof id === "string" ? id : "",
    session: { amr: [] },
    expiresAt: Number.POSITIVE_INFINITY,
  };
}

import { extractToken, isAmbient } from "../../identity/extract-token.ts";
import type { TokenSources } from "../../identity/token-sources.ts";
import type { Identity } from "../../identity/types.ts";
import type { ValueObject } from "../../policy/index.ts";
import { canonicalize, type CanonicalRequest, type RawRequest, type Switch } from "../../request/index.ts";
import { createDecider, type DeciderDependencies } from "../decide/decide.ts";
import { readingsAt } from "../decide/forwarded-host.ts";
import { createFrontProxyReader } from "../decide/front-proxy.ts";
import type { Caller } from "../decide/identify.ts";
import type { EvaluationContext, EvaluationDependencies } from "../decide/evaluation-context.ts";
import { NO_VERDICT_CACHE } from "../decide/no-verdict-cache.ts";
import { createOriginCheck, requireOrigin, type OriginCheck } from "../decide/origin-check.ts";
import type { Snapshot } from "../policies/snapshot.ts";
import type { AttributeSource } from "../attributes/sources.ts";
import type { AccessRequest, Decision, UnknownParts } from "../types.ts";

/** A request described by hand, with a known caller. */
export interface OfflineRequest {
  readonly raw: RawRequest;
  readonly user?: ValueObject;
  readonly customer?: ValueObject;
  /**
   * The caller is identified by a cookie, which counts only if the request comes from its own origin or one of these.
   * Also assumed if the request has the configured cookie.
   */
  readonly byCookie?: { readonly trustedOrigins: readonly string[] };
  /** The value from an attribute source for a root such as `target_user`; throws if the source fails. */
  readonly lookup: (root: string, key: string) => ReturnType<AttributeSource["lookup"]>;
  /** Unix ms. */
  readonly now: number;
  readonly environment?: string;
  /** Empty: nothing is known of the client's connection, as in the record of a door that did not tell. Default: loopback. */
  readonly clientIp?: string;
  /** The settings of a gateway. Default: every check, no front proxies, no limits. */
  readonly settings?: OfflineSettings;
}

export type OfflineSettings = Pick<
  DeciderDependencies,
  "frontProxy" | "cookie" | "tokens" | "originCheck" | "accept" | "environment" | "limits" | "routes"
>;

const DEFAULT_SETTINGS: OfflineSettings = {
  frontProxy: { trustedProxies: [], backends: [] },
  accept: {},
  environment: "production",
  limits: { response: Number.MAX_SAFE_INTEGER, message: Number.MAX_SAFE_INTEGER },
};

const UNKNOWN_CONNECTION: UnknownParts = {
  members: new Set(["client_ip", "host", "protocol", "scheme"]),
};

/** A decision, with the inputs for explaining it. */
export interface OfflineDecision {
  readonly decision: Decision;
  /** Absent if the request was refused before any rule. */
  readonly evaluation?: EvaluationContext;
}

/**
 * Decides without network, tokens and caches, using the same function as the gateway. For `policy test` and `policy
 * explain`. Throws nothing of its own.
 */
export async function decideOffline(snapshot: Snapshot, input: OfflineRequest): Promise<OfflineDecision> {
  let caller: Caller = {};
  const originCheck = originCheckOf(input);
  const source = { lookup: (key: string, root: string) => input.lookup(root, key) };
  const names = Object.values(snapshot.ir.attributes).flatMap(({ source }) => (source ? [source.name] : []));
  const { frontProxy, cookie, tokens, accept, ...settings } = input.settings ?? DEFAULT_SETTINGS;
  const dependencies: EvaluationDependencies = {
    ...settings,
    ...(input.environment !== undefined && { environment: input.environment }),
    cache: NO_VERDICT_CACHE,
    sources: new Map(names.map((name) => [name, source])),
  };
  const decide = createDecider({
    ...dependencies,
    accept,
    policies: () => ({ main: snapshot, customers: new Map() }),
    identify: (request, trusted) => (caller = callerOf(input, request, trusted)),
    ...(cookie !== undefined && { cookie }),
    ...(tokens !== undefined && { tokens }),
    ...(originCheck && { originCheck }),
    frontProxy,
  });
  const access: AccessRequest = {
    raw: input.raw,
    peer: input.clientIp ?? "127.0.0.1",
    ...(input.clientIp === "" && { unknown: UNKNOWN_CONNECTION }),
    requestId: "offline",
    receivedAt: input.now,
    deadline: Number.POSITIVE_INFINITY,
  };
  const decision = await decide(access);
  const { request, clientIp, trustedPeer, accepted } = decision;
  if (request === undefined) return { decision };
  // what the decider evaluated
  const { raw, host } = createFrontProxyReader(frontProxy)(access);
  const canonical = canonicalize(raw, accept);
  const readings = canonical.ok
    ? readingsAt(canonical, host)
    : { request, others: [], variants: [], switchedOff: new Set<Switch>() };
  const meant = requireOrigin(caller, originCheck, [readings.request, ...readings.others], {
    host: host ?? raw.host,
    trustedPeer,
  });
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
    evaluation: {
      with: dependencies,
      snapshot,
      sets: [snapshot],
      request,
      readings,
      access: { ...access, raw },
      caller: meant,
      draft,
    },
  };
}

/**
 * The described caller; identified by a cookie if the description says so, or if the request has the configured cookie
 * and no other token.
 */
function callerOf(
  { user, customer, byCookie, settings }: OfflineRequest,
  { headers }: CanonicalRequest,
  trustedProxy: boolean,
): Caller {
  const carried = isAmbient(extractToken(headers, { trustedProxy, ...sourcesOf(settings) }).kind);
  return {
    ...(user && { identity: offlineIdentity(user, customer) }),
    ...((byCookie !== undefined || carried) && { byCookie: true as const }),
  };
}

function sourcesOf({ cookie, tokens }: Partial<OfflineSettings> = {}): TokenSources {
  return { ...tokens, ...(cookie !== undefined && { cookie }) };
}

/** Origins trusted by the request's description count in addition to those of the settings. */
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

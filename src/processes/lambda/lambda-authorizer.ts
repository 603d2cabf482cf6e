import { createAuditLog } from "../../audit/index.ts";
import { createAskAws, type AwsAnswer } from "../../authorizers/index.ts";
import { DEFAULT_IDENTITY_HEADERS, tokenSources, type GatewayConfig } from "../../config/index.ts";
import { createDecider } from "../../decision/decide/decide.ts";
import { createIdentify } from "../../decision/decide/identify.ts";
import { VerdictCache } from "../../decision/decide/verdict-cache.ts";
import { createForgedHeaders } from "../../decision/headers/forged-headers.ts";
import { createIdentityHeaders } from "../../decision/headers/identity-headers.ts";
import { DecisionPoint, nextDecisionId, type ServingDependencies } from "../../decision/point/index.ts";
import { tokenHeaders } from "../../identity/index.ts";
import type { JsonValue } from "../../json/index.ts";
import { inTime } from "../../runtime/in-time.ts";
import { recordIntake } from "../../sync/index.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { attributeSources } from "../gateway/attribute-sources.ts";
import { awsSettings } from "../gateway/aws-settings.ts";
import { createControlPlaneLink } from "../gateway/control-plane-link.ts";
import { decisionSettings } from "../gateway/decision-settings.ts";
import { inputProtection } from "../gateway/input-protection.ts";
import { forgedHeadersOf } from "../gateway/provisions.ts";
import { createVerifiers } from "../gateway/verifiers.ts";
import { createLambdaPolicies } from "./lambda-policies.ts";

/** Decides for authorizers of API Gateway within their function. */
export interface LambdaAuthorizer {
  /** Loads policies and keys. Never rejects: what is missing is asked for again, and nothing is permitted without it. */
  start(): Promise<void>;
  /** @param leftMs - how long the function may still take */
  readonly answer: (event: JsonValue, leftMs: number) => Promise<AwsAnswer>;
  close(): Promise<void>;
}

/** The state of the control plane may be this old: a function sleeps between its calls, and hears nothing meanwhile. */
const FRESH_MS = 1_000;
/** For what follows a decision: its record. */
const RESERVED_MS = 100;

/**
 * Composes the decision point for one process without a supervisor.
 *
 * @throws Error if the configuration has what a function cannot do
 */
export function createLambdaAuthorizer(
  config: GatewayConfig,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): LambdaAuthorizer {
  const problem = whyNotInFunction(config);
  if (problem !== undefined) throw new Error(problem);
  const { gateway, identity, policies, authz } = config;
  const link = createControlPlaneLink(config, { metrics, log, waitSeconds: 0 });
  const audit = createAuditLog(config.audit, {
    ...{ metrics, log, worker: 0, workers: 1 },
    ...(link && { intake: recordIntake(link.client) }),
  });
  const { connectionParams, ...tokens } = tokenSources(config);
  const { verifier, verifierOf, closeVerifiers } = createVerifiers(config, { tokens, link, metrics, log });
  const { sources, refreshSources } = attributeSources(config, link, { metrics, log });
  const sets = createLambdaPolicies(config, { link, metrics, log });
  const inputs = inputProtection(config);
  const decide = createDecider({
    policies: sets.current,
    identify: createIdentify(verifier, { ...tokens, verifierOf }),
    cache: new VerdictCache(
      { size: policies.cache_size, ttlMs: gateway.performance.policy_cache_ttl },
      metrics,
    ),
    sources,
    ...decisionSettings(config),
    tokens,
    keepInputs: inputs !== undefined,
    ...(link && {
      controlPlane: { state: () => link.feed.current, whyUnknown: () => link.feed.status().detail },
    }),
  });
  const point = new DecisionPoint({
    ...{ decide, audit, metrics, log },
    snapshot: () => sets.current()?.main,
    ...(inputs && { inputs }),
  });
  const serving: ServingDependencies = {
    point,
    identityHeaders: createIdentityHeaders(
      Object.entries(identity.headers).map(([header, path]) => [header, path.split(".")]),
      [...Object.keys(DEFAULT_IDENTITY_HEADERS), ...tokenHeaders(tokens)],
    ),
    forgedHeaders: createForgedHeaders(forgedHeadersOf(config)),
    denialDetails: gateway.denial_details,
    ...(identity.cookie !== undefined && { cookie: identity.cookie }),
    ...{ tokens, cors: () => sets.current()?.main.cors },
    ...(identity.sign_in_url !== undefined && { signInUrl: identity.sign_in_url }),
    tracing: { span: () => ({ recording: false, end: () => undefined }), shutdown: () => Promise.resolve() },
    nextDecisionId,
    connections: NO_CONNECTIONS,
    log,
  };
  const ask = createAskAws(awsSettings(config), serving);

  /** What was missed since the last call. */
  const catchUp = async (): Promise<void> => {
    await link?.feed.freshen(FRESH_MS);
    await sets.refresh();
    if (!verifier.status().ready) await verifier.start();
  };

  return {
    async start() {
      await link?.start();
      await Promise.all([sets.refresh(), verifier.start(), refreshSources()]);
    },
    async answer(event, leftMs) {
      const withinMs = Math.max(0, Math.min(authz.decision_timeout, leftMs - RESERVED_MS));
      const deadline = Date.now() + withinMs;
      await inTime(catchUp(), withinMs, undefined);
      const answer = await inTime(Promise.resolve(ask(event, { deadline })), withinMs, NO_DECISION);
      // the process may be stopped as soon as there is an answer
      await audit.flush();
      return answer;
    },
    async close() {
      sets.close();
      closeVerifiers();
      await audit.close();
      link?.close();
    },
  };
}

const NO_DECISION: AwsAnswer = { kind: "failure", message: "no decision in time" };

function unexpectedConnection(): never {
  throw new Error("an authorizer permits no connection");
}

/** An authorizer cannot carry the plan of a connection, so none is ever permitted. */
const NO_CONNECTIONS: ServingDependencies["connections"] = {
  add: unexpectedConnection,
  slotOf: unexpectedConnection,
  withdraw: unexpectedConnection,
  hasLeft: unexpectedConnection,
};

function whyNotInFunction({ rollout, telemetry }: GatewayConfig): string | undefined {
  if (rollout.candidate !== undefined) return "`rollout.candidate`: a function cannot compare policy sets";
  if (rollout.stable === "none") return "`rollout.stable: none`: a function needs a policy set";
  if (telemetry.tracing.endpoint !== undefined)
    return "`telemetry.tracing.endpoint`: a function does not trace";
  return undefined;
}

import { createDecider, type Decide, type DeciderDependencies } from "../../src/decision/decide/decide.ts";
import { createIdentify } from "../../src/decision/decide/identify.ts";
import { createSnapshot, type Snapshot } from "../../src/decision/policies/snapshot.ts";
import type { AccessRequest, Decision } from "../../src/decision/types.ts";
import { VerdictCache } from "../../src/decision/decide/verdict-cache.ts";
import { createTokenVerifier, type RunningTokenVerifier } from "../../src/identity/index.ts";
import { compilePolicySet, renderDiagnostics, type PolicySetIR } from "../../src/policy/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import { startIssuer, type TestIssuer } from "../support/providers/issuer.ts";

export const silent = () => undefined;
export const silentLog = { debug: silent, info: silent, warn: silent, error: silent };

export function compileText(text: string, name = "test", file = `${name}.yaml`): PolicySetIR {
  const files = [{ name: file, text }];
  const { ir, diagnostics } = compilePolicySet(files, { name });
  if (ir === undefined) throw new Error(renderDiagnostics(diagnostics, files));
  return ir;
}

export function snapshotOf(text: string, caseSensitive = false): Snapshot {
  return createSnapshot(compileText(text), { caseSensitive });
}

/** One rule, for `GET /x`. */
export const ruleOf = (condition: string, head = "") =>
  `${head}\npolicies:\n  - { resource: "GET /x", condition: ${JSON.stringify(condition)} }\n`;

export interface RequestParts {
  readonly method?: string;
  readonly path?: string;
  readonly protocol?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** null: it was not handed over */
  readonly body?: string | null;
  readonly complete?: boolean;
  readonly bodies?: NonNullable<AccessRequest["bodies"]>;
  readonly peer?: string;
  readonly at?: number;
  readonly requestId?: string;
  readonly deadline?: number;
  readonly unknown?: NonNullable<AccessRequest["unknown"]>;
}

/** A request as the door hands it over. */
export function accessOf(parts: RequestParts = {}): AccessRequest {
  const { method = "GET", path = "/x", headers = [], body, complete = true } = parts;
  return {
    raw: {
      method,
      target: path,
      scheme: "http",
      host: "app.test",
      protocol: parts.protocol ?? "HTTP/1.1",
      headers,
      ...(body !== null && { body: { bytes: Buffer.from(body ?? ""), complete } }),
    },
    peer: parts.peer ?? "127.0.0.1",
    requestId: parts.requestId ?? "request-1",
    receivedAt: parts.at ?? Date.now(),
    deadline: parts.deadline ?? Number.POSITIVE_INFINITY,
    ...(parts.bodies && { bodies: parts.bodies }),
    ...(parts.unknown && { unknown: parts.unknown }),
  };
}

export const bearer = (token: string) => ["authorization", `Bearer ${token}`] as const;

export function verifierFor(issuer: TestIssuer, metrics: Metrics = createMetrics()): RunningTokenVerifier {
  return createTokenVerifier(
    {
      issuer: issuer.url,
      audience: issuer.audience,
      algorithms: ["ES256"],
      tokenTypes: ["JWT", "at+jwt", ""],
    },
    { metrics, log: silentLog },
  );
}

/** Tokens of an issuer, and what verifies them, for the tests of the suite that calls this. */
export function useIssuer() {
  let issuer: TestIssuer;
  let verifier: RunningTokenVerifier;
  before(async () => {
    issuer = await startIssuer();
    verifier = verifierFor(issuer);
    await verifier.start();
  });
  after(async () => {
    verifier.close();
    await issuer.close();
  });
  return {
    token: (...parts: Parameters<TestIssuer["token"]>) => issuer.token(...parts),
    get issuer() {
      return issuer;
    },
    get verifier() {
      return verifier;
    },
  };
}

export interface DeciderParts extends Partial<DeciderDependencies> {
  readonly verifier: RunningTokenVerifier;
  readonly cookie?: string;
  /** Customers' own sets by name. */
  readonly sets?: Readonly<Record<string, Snapshot | undefined>>;
}

/** A decider over one snapshot (or none), or over what `policies` returns. */
export function deciderOf(
  snapshot: Snapshot | undefined,
  { verifier, cookie, sets = {}, ...rest }: DeciderParts,
): Decide {
  const customers = new Map(Object.entries(sets).flatMap(([name, set]) => (set ? [[name, set]] : [])));
  return createDecider({
    policies: () => snapshot && { main: snapshot, customers },
    identify: createIdentify(verifier, { ...rest.tokens, ...(cookie !== undefined && { cookie }) }),
    ...(cookie !== undefined && { cookie }),
    cache: new VerdictCache({ size: 100, ttlMs: 60_000 }, createMetrics()),
    sources: new Map(),
    frontProxy: { trustedProxies: [], backends: [] },
    accept: {},
    environment: "production",
    limits: { response: 1_000_000, message: 65_536 },
    ...rest,
  });
}

/** `ALLOW CONDITION_TRUE`, say. */
export const outcome = ({ verdict, reason }: Decision) => `${verdict} ${reason}`;

/** For requests without a token. */
export const UNUSED_VERIFIER: RunningTokenVerifier = {
  cached: never,
  verify: never,
  ready: never,
  start: never,
  close: never,
  status: never,
  onReadyChange: never,
};

/** Stands where nothing must be called. */
export function never(): never {
  throw new Error("must not be called");
}

import { createPrivateKey, sign } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { exportJWK, generateKeyPair, SignJWT, type JWK } from "jose";
import {
  createTokenVerifier,
  type IdentityOptions,
  type RunningTokenVerifier,
} from "../../src/identity/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";

export const ISSUER = "https://issuer.example";
export const AUDIENCE = "https://api.example";

/** A key pair that signs tokens. */
export interface Signer {
  readonly alg: string;
  /** With `kid`, `alg` and `use`. */
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
  /** Signs `claims`, with good standard claims where they are not given; `undefined` leaves one out. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
}

export async function createSigner(alg: string, kid: string, modulusLength = 2048): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength });
  return {
    alg,
    publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" },
    privateJwk: { ...(await exportJWK(privateKey)), kid, alg, use: "sig" },
    sign: (claims = {}, header = {}) =>
      new SignJWT(goodClaims(claims))
        .setProtectedHeader({ alg, kid, ...header })
        .sign(privateKey, { crit: { b64: true, "x-gatehouse": true } }),
  };
}

export function goodClaims(claims: Record<string, unknown> = {}): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  return { iss: ISSUER, aud: AUDIENCE, sub: "alice", iat: now, exp: now + 600, ...claims };
}

/** Signs a payload as written (ES256), for what no JWT library would write. */
export function signText(signer: Signer, payload: string | Uint8Array, header: object = {}): string {
  const key = createPrivateKey({ key: signer.privateJwk, format: "jwk" });
  const input = `${encode(JSON.stringify({ alg: "ES256", kid: signer.publicJwk.kid, ...header }))}.${encode(payload)}`;
  return `${input}.${sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

export function encode(content: string | Uint8Array): string {
  return Buffer.from(content).toString("base64url");
}

export interface TestServer {
  readonly origin: string;
  /** Paths asked for, in order. */
  readonly requests: string[];
  /** Replaced by tests at any time. */
  respond: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startServer(respond: RequestListener): Promise<TestServer> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request.url ?? "");
    handle.respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const handle: TestServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    respond,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return handle;
}

/** Answers every request with the document. */
export function json(document: unknown): RequestListener {
  return (_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(typeof document === "string" ? document : JSON.stringify(document));
  };
}

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

export function createLog() {
  const lines: LogLine[] = [];
  const at = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, info: at("info"), warn: at("warn"), error: at("error") };
}

export interface Subject {
  readonly verifier: RunningTokenVerifier;
  readonly metrics: Metrics;
  readonly log: ReturnType<typeof createLog>;
  /** Added to the system's clock, in ms. */
  skew: number;
  /** Stops the clock at this moment, in Unix ms. */
  now: number | undefined;
}

/** A verifier with good options and a clock that tests move; not started. */
export function createSubject(options: Partial<IdentityOptions>): Subject {
  const metrics = createMetrics();
  const log = createLog();
  const subject = { metrics, log, skew: 0, now: undefined as number | undefined };
  const verifier = createTokenVerifier(
    { issuer: ISSUER, audience: AUDIENCE, ...options },
    { metrics, log, clock: () => subject.now ?? Date.now() + subject.skew },
  );
  return Object.assign(subject, { verifier });
}

/** Waits for a condition, and fails when it does not come true in time. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 6_000; tries++) {
    if (await condition()) return;
    await delay(10);
  }
  throw new Error(`did not happen: ${what}`);
}

/** The sum of a metric over the series that have these labels. */
export async function valueOf(
  metrics: Metrics,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  const wanted = Object.entries(labels);
  return (metric?.values ?? [])
    .filter(({ labels: has }) =>
      wanted.every(([key, value]) => (has as Record<string, unknown>)[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}

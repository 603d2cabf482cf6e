import { verify as verifySignature } from "node:crypto";
import type { JobLog } from "../runtime/every.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { AlbKeys } from "./alb-keys.ts";
import { readAlbSigner } from "./alb-signer.ts";
import type { IdentityOptions, ResolvedOptions } from "./options.ts";
import { resolveOptions } from "./options.ts";
import { TokenCache } from "./token-cache.ts";
import { decodeObject, decodeSegment, reject, type TokenRejection } from "./token-header.ts";
import type { IdentityResult, TokenVerifier } from "./types.ts";
import { identityOf, type Verified } from "./verify-token.ts";

export interface AlbOptions {
  /** ARNs of the load balancers whose tokens are accepted. */
  readonly signers: readonly string[];
  /** Accepted `client`; empty: any client of these load balancers. */
  readonly clients?: readonly string[];
  /** Where the keys are. Default: the address of AWS for the signer's region. */
  readonly keysUrl?: string;
}

export interface AlbDependencies {
  readonly metrics: Metrics;
  readonly log: JobLog;
  /** Unix ms; default: the system clock. */
  readonly clock?: () => number;
  readonly fetch?: typeof fetch;
}

/** The keys of a load balancer have such names; nothing else becomes part of a URL. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SIGNATURE_BYTES = 64;
/** All results belong to one generation: keys are found by their names, which are not used again. */
const GENERATION = 0;

/**
 * Creates a verifier of `X-Amzn-Oidc-Data`: what an AWS Application Load Balancer says about a user whom it has signed in.
 * The token resembles a JWT: its segments may be padded, `iss`, `exp`, `client` and `signer` are in the header, and there
 * is no `aud`. That the signer is one of ours is what an audience is elsewhere: every load balancer of the region, of
 * whatever account, signs with the same keys.
 *
 * @throws TypeError if an option is not acceptable
 */
export function createAlbVerifier(
  { signers, clients = [], keysUrl }: AlbOptions,
  options: IdentityOptions,
  { metrics, log, clock = Date.now, fetch = globalThis.fetch }: AlbDependencies,
): TokenVerifier & { close(): void } {
  const resolved = resolveOptions(options);
  const bySigner = new Map(signers.map((arn) => [arn, readAlbSigner(arn, keysUrl)]));
  const keys = new AlbKeys({ http: { timeoutMs: resolved.requestTimeoutMs, fetch }, clock, log });
  const cache = new TokenCache(resolved.cacheSize, metrics);

  const check = async (token: string, source: string): Promise<Verified | TokenRejection> => {
    const reading = readAlbToken(token, resolved);
    if (!reading.ok) return reading;
    const { header, payload, kid, signature, signed, expires } = reading;
    const signer = bySigner.get(String(header["signer"]));
    if (signer === undefined)
      return reject("TOKEN_ISSUER_MISMATCH", "the token's `signer` is not a configured load balancer");
    if (header["iss"] !== resolved.issuer)
      return reject("TOKEN_ISSUER_MISMATCH", "the token's `iss` is not the configured one");
    if (clients.length > 0 && !clients.some((client) => client === header["client"]))
      return reject("TOKEN_AUDIENCE_MISMATCH", "the token's `client` is not a configured one");
    const key = await keys.find(signer.keyUrl(kid), source);
    if (key === "unavailable")
      return reject("IDENTITY_NOT_READY", "the load balancer's key could not be loaded");
    if (key === "unknown") return reject("TOKEN_KEY_UNKNOWN", "the load balancer's key does not exist");
    if (!verifySignature("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature))
      return reject(
        "TOKEN_SIGNATURE_INVALID",
        "the token's signature does not match the load balancer's key",
      );
    const claims = decodeObject(payload, decodePadded);
    if (!claims.ok) return reject("TOKEN_MALFORMED", `the token's payload is ${claims.detail}`);
    const { iss = resolved.issuer, exp = expires } = claims.value;
    if (iss !== resolved.issuer)
      return reject("TOKEN_ISSUER_MISMATCH", "the payload's `iss` is not the configured one");
    const end = typeof exp === "number" ? Math.min(exp, expires) : Number.NaN;
    return identityOf({ ...claims.value, exp: end }, resolved, clock());
  };

  return {
    cached: (token) => cache.get(token, GENERATION, clock()),
    async verify(token, source = ""): Promise<IdentityResult> {
      try {
        const verified = await check(token, source);
        if (!verified.ok) return verified;
        const { identity, validFrom: from, validUntil } = verified;
        const result = Object.freeze({ ok: true as const, identity });
        const until = Math.min(validUntil, clock() + resolved.cacheTtlMs);
        cache.set(token, { result, generation: GENERATION, from, until });
        return result;
      } catch (error) {
        log.error({ err: error }, "unexpected error while verifying a load balancer's token");
        return reject("TOKEN_SIGNATURE_INVALID", "the verification failed");
      }
    },
    ready: () => true,
    close: () => {
      keys.close();
    },
  };
}

interface AlbToken {
  readonly ok: true;
  readonly header: Readonly<Record<string, unknown>>;
  readonly kid: string;
  /** Unix seconds. */
  readonly expires: number;
  readonly payload: string;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** The checks that need no key. Everything in the header is covered by the signature. */
function readAlbToken(token: string, { maxTokenBytes }: ResolvedOptions): AlbToken | TokenRejection {
  if (token.length > maxTokenBytes)
    return reject("TOKEN_TOO_LARGE", `the token is longer than ${maxTokenBytes} bytes`);
  const [head = "", payload = "", last = "", ...more] = token.split(".");
  const signature = decodePadded(last);
  if (more.length > 0 || decodePadded(payload) === undefined || signature?.length !== SIGNATURE_BYTES)
    return reject("TOKEN_MALFORMED", "the token does not have the form of a load balancer's");
  const header = decodeObject(head, decodePadded);
  if (!header.ok) return reject("TOKEN_MALFORMED", `the token's header is ${header.detail}`);
  const { alg, kid, exp, typ = "JWT" } = header.value;
  if (alg !== "ES256") return reject("TOKEN_ALGORITHM_NOT_ALLOWED", "a load balancer signs with ES256");
  if (typ !== "JWT") return reject("TOKEN_TYPE_NOT_ALLOWED", "the token's type is not `JWT`");
  if (Object.hasOwn(header.value, "crit"))
    return reject("TOKEN_MALFORMED", "the token's `crit` names an extension that is not supported");
  if (typeof kid !== "string" || !UUID.test(kid))
    return reject("TOKEN_MALFORMED", "the token's `kid` is not the name of a load balancer's key");
  if (typeof exp !== "number")
    return reject("TOKEN_CLAIMS_INVALID", "the header's `exp` is missing or not a date");
  const signed = Buffer.from(`${head}.${payload}`);
  return { ok: true, header: header.value, kid, expires: exp, payload, signed, signature };
}

/** Base64url with all of its padding, or with none of it. */
function decodePadded(segment: string): Buffer | undefined {
  const plain = segment.replace(/={1,2}$/, "");
  return plain === segment || segment.length % 4 === 0 ? decodeSegment(plain) : undefined;
}

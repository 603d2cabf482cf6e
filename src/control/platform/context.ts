import type { Knex } from "knex";
import type { Log } from "../../telemetry/log.ts";
import type { Environment } from "./environment.ts";
import type { SecretBox } from "./secret-box.ts";
import type { Units } from "./unit.ts";

/** What is set for one environment. */
export interface ControlSettings {
  readonly environment: Environment;
  /** Where clients reach the API, without a slash at the end: the `iss` of its tokens, and what redirects lead to. */
  readonly publicUrl: string;
  /** Where this process itself reaches it, which `publicUrl` may not be from here. Default: `publicUrl`. */
  readonly ownUrl?: string;
  /** The `aud` of access tokens. */
  readonly audience: string;
  /** Lifetimes, in seconds. */
  readonly accessTokenSeconds: number;
  /** A refresh token expires if it is not used for this long. */
  readonly refreshTokenSeconds: number;
  /** Maximum lifetime of a session, however much it is used. */
  readonly sessionSeconds: number;
  /** Interval at which signing keys are rotated. */
  readonly signingKeySeconds: number;
  /** Identity providers may be reached over http on other hosts than loopback. */
  readonly allowInsecureIssuers: boolean;
  /** Proxies in front of the API, whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Requests per minute. */
  readonly rateLimits: {
    readonly authentication: number;
    readonly management: number;
    readonly analytics: number;
  };
  readonly redisUrl?: string;
  readonly webhooks: {
    /** Receivers may be at private, loopback and link-local addresses, and reached over http. */
    readonly allowPrivateTargets: boolean;
    /** Milliseconds that a receiver has for its answer. */
    readonly timeoutMs: number;
    /** Milliseconds after which a delivery is given up. */
    readonly retryForMs: number;
  };
  /** Milliseconds that records are kept. */
  readonly retention: {
    readonly auditMs: number;
    readonly eventsMs: number;
    /** Milliseconds after which rows of deleted users and customers are removed for good. */
    readonly deletedMs: number;
  };
}

/** What every resource is built with. */
export interface ControlContext {
  readonly settings: ControlSettings;
  /** For reading; changes go through a unit of work. */
  readonly db: Knex;
  readonly units: Units;
  readonly box: SecretBox;
  /** Unix ms. */
  readonly clock: () => number;
  readonly log: Log;
}

/** Work that goes on beside requests: deliveries, rollups, partitions. */
export interface BackgroundWork {
  close(): Promise<void>;
}

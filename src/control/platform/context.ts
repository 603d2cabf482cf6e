import type { Knex } from "knex";
import type { Log } from "../../telemetry/log.ts";
import type { Environment } from "./environment.ts";
import type { SecretBox } from "./secret-box.ts";
import type { Units } from "./unit.ts";

/** The settings of one environment. */
export interface ControlSettings {
  readonly environment: Environment;
  /** The public address of the API, without a trailing slash: the `iss` of its tokens, and the base of redirects. */
  readonly publicUrl: string;
  /**
   * The address at which this process itself reaches the API, if `publicUrl` is not reachable from here. Default:
   * `publicUrl`.
   */
  readonly ownUrl?: string;
  /** The `aud` of access tokens. */
  readonly audience: string;
  /** Lifetimes, in seconds. */
  readonly accessTokenSeconds: number;
  /** A refresh token expires if it is not used for this long. */
  readonly refreshTokenSeconds: number;
  /** Maximum lifetime of a session, however much it is used. */
  readonly sessionSeconds: number;
  /** Open sessions of a user; a sign-in ends the oldest beyond. */
  readonly sessionsPerUser: number;
  /** Interval at which signing keys are rotated. */
  readonly signingKeySeconds: number;
  /** Whether identity providers may be reached over http on hosts other than loopback. */
  readonly allowInsecureIssuers: boolean;
  /** Proxies in front of the API whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Requests per minute. */
  readonly rateLimits: {
    readonly authentication: number;
    readonly management: number;
    readonly analytics: number;
  };
  readonly redisUrl?: string;
  /** The HTTP proxy through which webhooks are sent and providers are asked. */
  readonly egressProxy?: string;
  readonly webhooks: {
    /** Whether receivers may be at private, loopback and link-local addresses, and reached over http. */
    readonly allowPrivateTargets: boolean;
    /** Milliseconds that a receiver has to respond. */
    readonly timeoutMs: number;
    /** Milliseconds after which a delivery is given up. */
    readonly retryForMs: number;
  };
  /** Milliseconds for which records are kept. */
  readonly retention: {
    readonly auditMs: number;
    /** What rules read, in records with inputs. */
    readonly inputsMs: number;
    readonly eventsMs: number;
    /** Milliseconds after which rows of deleted users and customers are removed permanently. */
    readonly deletedMs: number;
  };
}

/** The dependencies of every resource. */
export interface ControlContext {
  readonly settings: ControlSettings;
  /** For reading; changes go through a unit of work. */
  readonly db: Knex;
  readonly units: Units;
  readonly box: SecretBox;
  /** This instance's clock; Unix ms. */
  readonly clock: () => number;
  /**
   * The database's clock, read over this connection: for what instances must agree on although their own clocks may be
   * off.
   */
  readonly databaseNow: (db: Knex) => Promise<Date>;
  readonly log: Log;
}

/** Work beside requests: deliveries, rollups, partitions. */
export interface BackgroundWork {
  close(): Promise<void>;
}

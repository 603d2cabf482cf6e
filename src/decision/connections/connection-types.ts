import type { Identity } from "../../identity/types.ts";
import type { DenialReason } from "../../reasons.ts";
import type { JobLog } from "../../runtime/every.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Closing } from "./connection-closing.ts";
import type { ConnectionCounts } from "./connection-counts.ts";
import type { AccessRequest } from "../types.ts";

/** A WebSocket connection whose handshake was allowed. */
export interface LiveConnection {
  readonly decisionId: string;
  readonly access: AccessRequest;
  /** The plan that Envoy has for it. */
  readonly planText: string;
  /** Time at which Envoy closes it, in Unix seconds. */
  readonly expiresAt?: number | undefined;
  /** Used by ConnectionRegistry.revoke. */
  readonly identity?: Identity | undefined;
  /** Identifies the handshake: Envoy may ask about one twice, and uses one of the answers. */
  readonly handshake?: string | undefined;
  /** The holder against whose limit it counts. */
  readonly holder?: string | undefined;
  /** Nothing passes on it before its client says who it is. */
  readonly held?: boolean;
  /** Its decision stays the same until a call of ConnectionRegistry.reevaluate concerns it. */
  readonly steady?: boolean;
  /** Envoy reports it every few seconds while it is open. If the reports stop, it has ended. */
  readonly reported?: boolean;
}

/** What changes about a connection when its client has said who it is. */
export type Identified = Pick<
  LiveConnection,
  "access" | "planText" | "expiresAt" | "identity" | "holder" | "held" | "steady"
>;

/** The result of evaluating a connection's handshake again. */
export type Reevaluation =
  | {
      readonly verdict: "ALLOW";
      /** May be a getter that is read only once, because plans may be long. */
      readonly planText: string;
      /** As {@link LiveConnection.steady}. */
      readonly steady?: boolean;
      /** The identity, if known by now. */
      readonly identity?: Identity | undefined;
      /** The digest of the set that decided. */
      readonly set?: string | undefined;
    }
  | { readonly verdict: "DENY"; readonly reason: DenialReason; readonly set?: string | undefined };

/** What Envoy must know about open connections, by decision id. Unchanged connections are not included. */
export interface ConnectionDirectives {
  readonly closed: Readonly<Record<string, Closing>>;
  /** Plans that replace the first ones. */
  readonly plans: Readonly<Record<string, string>>;
}

export interface ConnectionRegistryOptions {
  readonly evaluate: (access: AccessRequest) => Reevaluation | Promise<Reevaluation>;
  /** Called when ConnectionRegistry.directives has changed. */
  readonly changed: () => void;
  readonly metrics: Pick<Metrics, "connections" | "connectionsUnreported">;
  readonly log: JobLog;
  /** Maximum number of connections. Default: 10,000. */
  readonly capacity?: number;
  /** Maximum per holder. */
  readonly perHolder?: { readonly limit: number; readonly counts: ConnectionCounts };
  /**
   * How often connections that are not steady are evaluated in addition; ms. Absent: only when
   * ConnectionRegistry.reevaluate is called.
   */
  readonly every?: number;
  /** Values that all decisions depend on. If one has changed, all connections are evaluated again. */
  readonly circumstances?: () => readonly unknown[];
  /** Maximum total length of new plans, which Envoy reads every second. Default: 2 Mi characters. */
  readonly planSpace?: number;
  /** Timeout of one evaluation; ms. */
  readonly evaluateWithin?: number;
  /** Unix ms. */
  readonly clock?: () => number;
  /** A monotonic clock in milliseconds. */
  readonly stopwatch?: () => number;
}

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
  /** The plan that Envoy has of it. */
  readonly planText: string;
  /** Unix seconds at which Envoy closes it by itself. */
  readonly expiresAt?: number | undefined;
  /** For ConnectionRegistry.revoke. */
  readonly identity?: Identity | undefined;
  /** Names the handshake: Envoy may ask about one twice, and carries out one of the answers. */
  readonly handshake?: string | undefined;
  /** Who counts as its holder. */
  readonly holder?: string | undefined;
  /** It is decided in the same way until a call of ConnectionRegistry.reevaluate concerns it. */
  readonly steady?: boolean;
  /** Envoy reports it every few seconds while it is open: one that is no longer reported is over. */
  readonly reported?: boolean;
}

/** What an evaluation says about a connection's handshake, looked at again. */
export type Reevaluation =
  | {
      readonly verdict: "ALLOW";
      /** May be made when it is read, which is once: plans may be long. */
      readonly planText: string;
      /** As {@link LiveConnection.steady}. */
      readonly steady?: boolean;
      /** Who is connected, as far as that is known by now. */
      readonly identity?: Identity | undefined;
    }
  | { readonly verdict: "DENY"; readonly reason: DenialReason };

/** What Envoy has to know of open connections, by decision id; those that go on as they are, are not in it. */
export interface ConnectionDirectives {
  readonly closed: Readonly<Record<string, Closing>>;
  /** Plans in place of those that Envoy had first. */
  readonly plans: Readonly<Record<string, string>>;
}

export interface ConnectionRegistryOptions {
  readonly evaluate: (access: AccessRequest) => Reevaluation | Promise<Reevaluation>;
  /** Called when ConnectionRegistry.directives has changed. */
  readonly changed: () => void;
  readonly metrics: Pick<Metrics, "connections" | "connectionsUnreported">;
  readonly log: JobLog;
  /** Connections; 10,000. */
  readonly capacity?: number;
  /** Of one holder. */
  readonly perHolder?: { readonly limit: number; readonly counts: ConnectionCounts };
  /**
   * How often those that are not steady are evaluated again, besides; ms. Absent: only when
   * ConnectionRegistry.reevaluate is called.
   */
  readonly every?: number;
  /** Values that all decisions depend on: when one of them is another one by then, all are evaluated again. */
  readonly circumstances?: () => readonly unknown[];
  /** Characters of all new plans together, which Envoy reads every second; 2 Mi. */
  readonly planSpace?: number;
  /** How long one evaluation may take; ms. */
  readonly evaluateWithin?: number;
  /** Unix ms. */
  readonly clock?: () => number;
  /** Milliseconds that never go back. */
  readonly stopwatch?: () => number;
}

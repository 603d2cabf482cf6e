import type { AccessRequest, Permit } from "../types.ts";
import { holderOf } from "./connection-holder.ts";
import type { ConnectionRegistry } from "./connection-registry.ts";
import type { ConnectionSlot } from "./connection-slots.ts";
import { isSteady, type DecidedBy } from "./connection-steady.ts";
import { lasting } from "./reevaluation.ts";

/** WebSocket connections that were accepted and are managed from then on. */
export interface OpenConnections {
  /**
   * @param handshake - `key` identifies it, if possible: two checks with the same key are one connection; `reported`:
   *   the proxy reports periodically that the connection is open
   * @returns why no more connections can be accepted; the handshake is then denied
   */
  add(
    plan: { readonly decisionId: string; readonly text: string; readonly expiresAt: number },
    access: AccessRequest,
    permit: Permit,
    handshake: { readonly key: string | undefined; readonly reported: boolean },
  ): "TOO_MANY_CONNECTIONS" | "TOO_MANY_CONNECTIONS_OF_USER" | undefined;
  /** The slot by which Lua finds the connection; undefined if it is not registered. */
  slotOf(decisionId: string): ConnectionSlot | undefined;
  /** Call if the decision is not carried out after all. */
  withdraw(decisionId: string): void;
  /** Whether the proxy has already reported that the client of this request disconnected. */
  hasLeft(requestId: string): boolean;
}

/**
 * @param options.decidedBy - the current inputs of decisions
 * @param options.hearsProxy - the proxy's reports reach one of our processes
 */
export function createOpenConnections(
  registry: ConnectionRegistry,
  { decidedBy, hearsProxy }: { readonly decidedBy: () => DecidedBy; readonly hearsProxy: boolean },
): OpenConnections {
  return {
    add({ decisionId, text, expiresAt }, access, permit, { key: handshake, reported }) {
      const { identity, clientIp } = permit;
      const holder = holderOf(identity, clientIp);
      if (!registry.isWithinLimit({ handshake, holder, access })) return "TOO_MANY_CONNECTIONS_OF_USER";
      const isAdded = registry.add({
        decisionId,
        planText: text,
        expiresAt,
        access: lasting(access),
        identity,
        handshake,
        holder,
        held: permit.reason === "CONNECTION_HELD",
        steady: isSteady(access, permit, decidedBy()),
        reported: reported && hearsProxy,
      });
      return isAdded ? undefined : "TOO_MANY_CONNECTIONS";
    },
    slotOf: (decisionId) => registry.slotOf(decisionId),
    withdraw: (decisionId) => {
      registry.withdraw(decisionId);
    },
    hasLeft: (requestId) => registry.hasLeft(requestId),
  };
}

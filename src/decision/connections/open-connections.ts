import type { AccessRequest, Permit } from "../types.ts";
import { holderOf } from "./connection-holder.ts";
import type { ConnectionRegistry } from "./connection-registry.ts";
import type { ConnectionSlot } from "./connection-slots.ts";
import { isSteady, type DecidedBy } from "./connection-steady.ts";
import { lasting } from "./reevaluation.ts";

/** WebSocket connections that were let in and are looked after from then on. */
export interface OpenConnections {
  /**
   * @param handshake - `key` names it, where it can be: one that is asked about twice is one connection; `reported`: the proxy says from
   *   time to time that the connection is open
   * @returns why no more can be looked after; the handshake is denied then
   */
  add(
    plan: { readonly decisionId: string; readonly text: string; readonly expiresAt: number },
    access: AccessRequest,
    permit: Permit,
    handshake: { readonly key: string | undefined; readonly reported: boolean },
  ): "TOO_MANY_CONNECTIONS" | "TOO_MANY_CONNECTIONS_OF_USER" | undefined;
  /** By which Lua knows the connection; undefined where it is not looked after. */
  slotOf(decisionId: string): ConnectionSlot | undefined;
  /** The decision is not carried out after all. */
  withdraw(decisionId: string): void;
  /** Whether the proxy has said already that the client of this request is gone. */
  hasLeft(requestId: string): boolean;
}

/**
 * @param options.decidedBy - what decisions are made with at the moment of the call
 * @param options.hearsProxy - the proxy's reports come to one of our processes
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

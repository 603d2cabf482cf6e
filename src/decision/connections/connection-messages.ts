import type { ConnectionRegistry } from "./connection-registry.ts";
import { isHeldMessage, type ConnectionCounts, type HeldMessage } from "./connection-counts.ts";

/**
 * Messages between workers, relayed by the supervisor: Envoy's access log may reach a worker other than the one that
 * holds the connection.
 */
export type ConnectionMessage =
  | { readonly type: "connections_ended"; readonly ids: readonly string[] }
  /** Envoy reports that they are open. */
  | { readonly type: "connections_open"; readonly ids: readonly string[] }
  /** Request ids whose clients disconnected before Envoy had an answer. */
  | { readonly type: "handshakes_abandoned"; readonly ids: readonly string[] }
  /** Envoy itself has stopped, and with it every connection. */
  | { readonly type: "connections_ended_all" }
  | HeldMessage;

const OF_IDS = ["connections_ended", "connections_open", "handshakes_abandoned"] as const;

/** Whether it is such a message. It comes from one of our processes, but through JSON. */
export function isConnectionMessage(message: unknown): message is ConnectionMessage {
  if (typeof message !== "object" || message === null || !("type" in message)) return false;
  if (message.type === "connections_ended_all") return true;
  if (message.type === "connections_held") return isHeldMessage(message);
  if (!OF_IDS.some((type) => type === message.type) || !("ids" in message)) return false;
  return Array.isArray(message.ids) && message.ids.every((id) => typeof id === "string");
}

/** Dispatches a message, if it is one of these. */
export function takeConnectionMessage(
  message: unknown,
  registry: Pick<ConnectionRegistry, "ended" | "reported" | "abandoned" | "endedAll">,
  counts?: Pick<ConnectionCounts, "take">,
): void {
  if (!isConnectionMessage(message)) return;
  switch (message.type) {
    case "connections_ended":
      registry.ended(message.ids);
      return;
    case "connections_open":
      registry.reported(message.ids);
      return;
    case "handshakes_abandoned":
      registry.abandoned(message.ids);
      return;
    case "connections_ended_all":
      registry.endedAll();
      return;
    case "connections_held":
      counts?.take(message);
  }
}

/** Collects ids and sends them in batches. */
export interface GatheredIds {
  add(id: string): void;
  /** Sends the collected ids now. */
  flush(): void;
}

const GATHER_MS = 50;
const MAX_IDS = 500;

export function gatherIds(
  send: (message: ConnectionMessage) => void,
  type: (typeof OF_IDS)[number],
): GatheredIds {
  let ids: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (ids.length === 0) return;
    const gathered = ids;
    ids = [];
    send({ type, ids: gathered });
  };
  return {
    add: (decisionId) => {
      ids.push(decisionId);
      if (ids.length >= MAX_IDS) flush();
      else timer ??= setTimeout(flush, GATHER_MS).unref();
    },
    flush,
  };
}

import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import type { EventType } from "../../platform/events.ts";
import type { GatewayStatus } from "./status.ts";
import { forgetLost, knownGateways, noteStatus, type KnownGateway } from "./store.ts";

/** Counts of gateways by status. */
export type FleetCounts = Readonly<Record<GatewayStatus, number>>;

/**
 * Announces gateways that were lost, have diverged, or are well again: once, however many instances watch.
 *
 * @returns how many gateways have which status
 */
export async function watchFleet({ db, units }: Pick<ControlContext, "db" | "units">): Promise<FleetCounts> {
  await forgetLost(db);
  const gateways = await knownGateways(db);
  for (const gateway of gateways) if (gateway.status !== gateway.row.status) await announce(units, gateway);
  const count = (status: GatewayStatus) => gateways.filter((one) => one.status === status).length;
  return {
    alive: count("alive"),
    lagging: count("lagging"),
    diverged: count("diverged"),
    lost: count("lost"),
  };
}

async function announce(units: ControlContext["units"], gateway: KnownGateway): Promise<void> {
  const { row, status } = gateway;
  const origin = {
    actor: { kind: "system", id: "gateways", name: "gateways" },
    requestId: newId("request"),
    clientIp: "",
  } as const;
  await units(origin, async (unit) => {
    if (!(await noteStatus(unit.trx, gateway))) return;
    const type = eventOf(row.status, status);
    if (type === undefined) return;
    const { id, name, address, version, digest } = row;
    unit.emit({
      type,
      data: { gateway: { id, name, address, version, policy_set: row.policy_set, digest: digest ?? "" } },
    });
  });
}

/** A gateway that lags catches up by itself, so it is announced only if it was worse before. */
function eventOf(before: GatewayStatus, now: GatewayStatus): EventType | undefined {
  if (now === "lost") return "gateway.lost";
  if (now === "diverged") return "gateway.diverged";
  return before === "lost" || before === "diverged" ? "gateway.recovered" : undefined;
}

import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import type { EventType } from "../../platform/events.ts";
import type { GatewayStatus } from "./status.ts";
import { forgetLost, knownGateways, noteStatus, type KnownGateway } from "./store.ts";

/** Counts of gateways by status. */
export type FleetCounts = Readonly<Record<GatewayStatus, number>>;

/**
 * Announces gateways that were lost, have diverged, lag for long, or are well again: once, however many instances watch.
 *
 * @returns how many gateways have which status
 */
export async function watchFleet({ db, units }: Pick<ControlContext, "db" | "units">): Promise<FleetCounts> {
  await forgetLost(db);
  const gateways = await knownGateways(db);
  for (const gateway of gateways) if (isNews(gateway)) await announce(units, gateway);
  const count = (status: GatewayStatus) => gateways.filter((one) => one.status === status).length;
  return {
    alive: count("alive"),
    lagging: count("lagging"),
    diverged: count("diverged"),
    lost: count("lost"),
  };
}

/**
 * A gateway that lags usually catches up by itself, and one that was lost or had diverged is not well until it has. What is
 * still true after the quiet time is announced then.
 */
function isNews({ row, status, lagsLong, isQuiet }: KnownGateway): boolean {
  return status !== row.status && !isQuiet && (status !== "lagging" || lagsLong);
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
    const type = EVENTS[status];
    const { id, name, address, version, digest } = row;
    unit.emit({
      type,
      data: { gateway: { id, name, address, version, policy_set: row.policy_set, digest: digest ?? "" } },
    });
  });
}

/** What is announced when a gateway gets a status. */
const EVENTS = {
  alive: "gateway.recovered",
  lagging: "gateway.lagging",
  diverged: "gateway.diverged",
  lost: "gateway.lost",
} as const satisfies Record<GatewayStatus, EventType>;

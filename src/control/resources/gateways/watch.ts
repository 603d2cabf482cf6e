import type { ControlContext } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import type { EventData, EventType } from "../../platform/events.ts";
import type { GatewayStatus } from "./status.ts";
import { countAnnouncements, remainingAnnouncements } from "./announcement-budget.ts";
import { forgetLost, knownGateways, noteStatus, type KnownGateway } from "./store.ts";

/** Counts of gateways by status. */
export type FleetCounts = Readonly<Record<GatewayStatus, number>>;

/**
 * Announces gateways that were lost, have diverged, lag for long, or are well again: once, however many instances watch,
 * and within what each key may cause.
 *
 * @returns how many gateways have which status
 */
export async function watchFleet({ db, units }: Pick<ControlContext, "db" | "units">): Promise<FleetCounts> {
  await forgetLost(db);
  const gateways = await knownGateways(db);
  const news = gateways.filter(isNews);
  for (const [sender, theirs] of Map.groupBy(news, ({ row }) => row.sender))
    for (const [status, same] of Map.groupBy(theirs, (gateway) => gateway.status))
      await announce(units, sender, status, same);
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

/** Beyond what a key may cause, one event stands for all; where none is left, they stay news until there is. */
async function announce(
  units: ControlContext["units"],
  sender: string,
  status: GatewayStatus,
  gateways: readonly KnownGateway[],
): Promise<void> {
  const origin = {
    actor: { kind: "system", id: "gateways", name: "gateways" },
    requestId: newId("request"),
    clientIp: "",
  } as const;
  const type = EVENTS[status];
  await units(origin, async (unit) => {
    const remaining = await remainingAnnouncements(unit.trx, sender, type);
    if (remaining === 0) return;
    const noted = await noteStatus(unit.trx, sender, status, gateways);
    if (noted.length === 0) return;
    const announced = noted.slice(0, remaining);
    await countAnnouncements(unit.trx, sender, type, announced.length);
    announced.forEach((gateway, index) => {
      const count = index === remaining - 1 ? noted.length - index : 1;
      unit.emit({ type, data: { gateway: eventGateway(gateway), ...(count > 1 && { count }) } });
    });
  });
}

function eventGateway({ row }: KnownGateway): NonNullable<EventData["gateway"]> {
  const { id, name, address, version, digest } = row;
  return { id, name, address, version, policy_set: row.policy_set, digest: digest ?? "" };
}

/** What is announced when a gateway gets a status. */
const EVENTS = {
  alive: "gateway.recovered",
  lagging: "gateway.lagging",
  diverged: "gateway.diverged",
  lost: "gateway.lost",
} as const satisfies Record<GatewayStatus, EventType>;

import * as z from "zod";
import {
  GATEWAY_ROUTES,
  registrationBody,
  registrationTaken,
  GATEWAY_NAME_HEADER,
  isGatewayName,
} from "../../../protocol/index.ts";
import { clientOf } from "../../platform/actor.ts";
import type { ControlContext } from "../../platform/context.ts";
import { ok, page, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { gateway, gatewayAnswer, gatewayList } from "./schemas.ts";
import { knownGateways, leave, register, type KnownGateway } from "./store.ts";

/** Gateways report themselves; `GET /gateways` tells which are there and what they enforce. */
export function fleetRoutes({ db, units }: ControlContext): Route[] {
  return [
    readRoute({
      method: "get",
      path: "/gateways",
      operation: "listGateways",
      summary: "List gateways",
      description:
        "Gateways with `gateway.cluster.coordination: control_plane`. One that shuts down is no longer listed; one that is lost is, for a day.",
      tag: "Gateways",
      group: "management",
      permission: "read",
      tenancy: "all",
      query: gatewayList,
      answers: { 200: z.array(gateway) },
      paginated: true,
      async read({ query }) {
        const { status, policy_set: set, page: number, limit, order, sort } = query;
        const found = (await knownGateways(db)).filter(
          (one) =>
            (status === undefined || one.status === status) &&
            (set === undefined || one.row.policy_set === set),
        );
        const sorted = [...found].sort((a, b) => compare(a, b, sort) * (order === "asc" ? 1 : -1));
        const rows = sorted.slice((number - 1) * limit, number * limit).map(gatewayAnswer);
        return page(rows, { ...query, total: found.length });
      },
    }),
    writeRoute({
      method: "post",
      path: GATEWAY_ROUTES.registration,
      operation: "registerGateway",
      summary: "Report what a gateway is and enforces",
      description:
        "Repeated at the interval that the report names. With `leaving`, the gateway is forgotten.",
      tag: "Gateway",
      group: "gateway",
      permission: "gateway",
      tenancy: "all",
      body: registrationBody,
      answers: { 200: registrationTaken },
      errors: ["CONFLICT"],
      units,
      async write({ body, actor, headers }, unit) {
        const sender = clientOf(actor);
        if (body.leaving) {
          await leave(unit.trx, sender, body.id);
          return ok({ clock_offset_ms: 0 });
        }
        const told = headers[GATEWAY_NAME_HEADER.toLowerCase()];
        const name = typeof told === "string" && isGatewayName(told) ? told : "";
        return ok({ clock_offset_ms: await register(unit.trx, { sender, name }, body) });
      },
    }),
  ];
}

function compare(a: KnownGateway, b: KnownGateway, by: "id" | "last_seen_at"): number {
  const ofSeen = a.row.seen_at.getTime() - b.row.seen_at.getTime();
  if (by === "last_seen_at" && ofSeen !== 0) return ofSeen;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function keyOf({ row: { id, sender } }: KnownGateway): string {
  return `${id} ${sender}`;
}

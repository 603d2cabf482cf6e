import {
  GATEWAY_ROUTES,
  MAX_RECORDS_BYTES,
  recordsBody,
  recordsData,
  statisticsBody,
  statisticsTaken,
} from "../../../protocol/index.ts";
import type { ControlContext } from "../../platform/context.ts";
import { ok, writeRoute, type Route } from "../../platform/frame/route.ts";
import { gatewayNameOf } from "./gateway-name.ts";
import { Intake } from "./ingest.ts";
import { ingestStatistics } from "./ingest-statistics.ts";

/** What gateways tell: their records and their statistics. */
export function recordsRoutes(context: ControlContext): Route[] {
  const intake = new Intake(context);
  const { units } = context;
  return [
    writeRoute({
      method: "post",
      path: GATEWAY_ROUTES.records,
      operation: "takeRecords",
      summary: "Takes in audit records of a gateway",
      description:
        "Answered when the records are stored. Each is stored once, however often it is sent; one that is not valid, more than five minutes ahead, or older than seven days or `retention.audit` is rejected by itself. Which key sent it is kept with each, and the name in the header `X-Gatehouse-Gateway`. Only what cannot be read at all (no JSON, or nested more than 1,000 deep) refuses the whole batch.",
      tag: "Gateway",
      group: "gateway",
      permission: "gateway",
      tenancy: "all",
      body: recordsBody,
      anyText: true,
      bodyLimit: MAX_RECORDS_BYTES,
      answers: { 200: recordsData },
      prepare: ({ body }) => intake.prepare(body.records),
      units,
      write: async ({ actor, headers }, unit, batch) => {
        const from = { ingestedBy: actor.id, gateway: gatewayNameOf(headers) };
        return ok({ ...(await intake.take(unit, batch, from)), rejected: batch.rejected });
      },
    }),
    writeRoute({
      method: "post",
      path: GATEWAY_ROUTES.statistics,
      operation: "takeStatistics",
      summary: "Takes in statistics of a gateway",
      description:
        "Differences since the gateway told last. Counted once for each `sequence` of an `instance`; `accepted` is false where they were counted before.",
      tag: "Gateway",
      group: "gateway",
      permission: "gateway",
      tenancy: "all",
      body: statisticsBody,
      answers: { 200: statisticsTaken },
      units,
      write: async ({ body }, unit) => ok({ accepted: await ingestStatistics(unit, body) }),
    }),
  ];
}

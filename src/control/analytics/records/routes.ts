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
import { timeBounds } from "./time-bounds.ts";

/** Reports of gateways: records and statistics. */
export function recordsRoutes(context: ControlContext): Route[] {
  const intake = new Intake(context);
  const { units } = context;
  return [
    writeRoute({
      method: "post",
      path: GATEWAY_ROUTES.records,
      operation: "takeRecords",
      summary: "Ingest audit records of a gateway",
      description:
        "Responds when the records are stored. Each record is stored once, however often it is sent. A record that is invalid, more than five minutes in the future, or older than seven days or `retention.audit` is rejected on its own. The sending key and the name in the header `X-Gatehouse-Gateway` are stored with each record. The whole batch is refused only if it cannot be read at all (not JSON, or nested more than 1,000 levels deep).",
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
      summary: "Ingest statistics of a gateway",
      description:
        "Differences since the gateway's last report. Counted once per application (the family of the key), `instance` and `sequence`. If `accepted` is false they are not counted: they were counted before (`DUPLICATE`), or `to` is more than five minutes in the future (`CLOCK_AHEAD`) or older than seven days or `retention.audit` (`TOO_OLD`).",
      tag: "Gateway",
      group: "gateway",
      permission: "gateway",
      tenancy: "all",
      body: statisticsBody,
      answers: { 200: statisticsTaken },
      units,
      write: async ({ body }, unit) => {
        const now = (await context.databaseNow(unit.trx)).getTime();
        const bounds = timeBounds(now, context.settings.retention);
        return ok(await ingestStatistics(unit, body, bounds));
      },
    }),
  ];
}

import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { choice, flag, setting, wholeNumber } from "../setting-types.ts";
import { destinationKeys, DESTINATIONS, type DestinationName } from "./destinations.ts";

const DESTINATION_NAMES = Object.keys(DESTINATIONS) as DestinationName[];

/** The section `audit` of gateway.yaml. */
export const auditSettings = z
  .strictObject({
    enabled: setting(flag(), true, "Write one record per decision."),
    destination: setting(
      choice(...DESTINATION_NAMES),
      "stdout",
      `Destination of the records. ${DESTINATION_NAMES.map((name) => `\`${name}\`: ${DESTINATIONS[name].description}`).join("; ")}.`,
    ),
    level: setting(
      choice("info", "warn", "debug"),
      "info",
      "`info`: every decision; `warn`: denials only; `debug`: every decision with its explanation.",
    ),
    outcomes: setting(
      flag(),
      false,
      "Also write a record of the outcome of every allowed request: status, failure and timing of the application. This " +
        "costs about 10 % more CPU time per request.",
    ),
    queue_size: setting(
      wholeNumber(1, 10_000_000),
      10_000,
      "Maximum number of records waiting to be written, per worker.",
    ),
    refusal_rate: setting(
      wholeNumber(0, 1_000_000),
      200,
      "Maximum number of records per second and worker for requests that Envoy itself refuses, averaged over ten seconds; " +
        "the rest is counted as dropped, cause `rate`.",
    ),
    ...destinationKeys(),
  })
  .prefault({});

export type AuditSettings = DeepReadonly<z.output<typeof auditSettings>>;

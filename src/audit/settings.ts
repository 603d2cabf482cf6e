import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { choice, flag, setting, wholeNumber } from "../setting-types.ts";
import { destinationKeys, DESTINATIONS, type DestinationName } from "./destinations.ts";

const DESTINATION_NAMES = Object.keys(DESTINATIONS) as DestinationName[];

/** The section `audit` of gateway.yaml. */
export const auditSettings = z
  .strictObject({
    enabled: setting(flag(), true, "Write one record for every decision."),
    destination: setting(
      choice(...DESTINATION_NAMES),
      "stdout",
      `Where records go. ${DESTINATION_NAMES.map((name) => `\`${name}\`: ${DESTINATIONS[name].description}`).join("; ")}.`,
    ),
    level: setting(
      choice("info", "warn", "debug"),
      "info",
      "`info`: every decision; `warn`: denials only; `debug`: every decision with its explanation.",
    ),
    outcomes: setting(
      flag(),
      false,
      "Write a record of what became of every allowed request, too: status, failure and times of the application. It takes " +
        "about a tenth more processor time per request.",
    ),
    queue_size: setting(
      wholeNumber(1, 10_000_000),
      10_000,
      "Records that may wait to be written, per worker.",
    ),
    refusal_rate: setting(
      wholeNumber(0, 1_000_000),
      200,
      "Most records per second and worker of requests that Envoy refuses by itself, on average over ten seconds; " +
        "others are counted as dropped, cause `rate`.",
    ),
    ...destinationKeys(),
  })
  .prefault({});

export type AuditSettings = DeepReadonly<z.output<typeof auditSettings>>;

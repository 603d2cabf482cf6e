import * as z from "zod";
import type { DeepReadonly } from "../json/index.ts";
import { parseAttributePath } from "../policy/evaluation.ts";
import { choice, flag, list, optional, path, setting, text, wholeNumber } from "../setting-types.ts";
import { destinationKeys, DESTINATIONS, type DestinationName } from "./destinations.ts";

const DESTINATION_NAMES = Object.keys(DESTINATIONS) as DestinationName[];

/** An attribute as conditions write it. */
function attributePath() {
  return text().refine(
    (value) => parseAttributePath(value) !== undefined,
    "must be an attribute such as `user.role`",
  );
}

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
    inputs: setting(
      flag(),
      false,
      "Records carry what the rules read, so that `gatehouse replay` can decide them again with another policy set. Headers, " +
        "parameters and claims whose name says that they hold a credential, and values that look like one, are never written. " +
        "With `audit.destination: control_plane`, they are kept for `retention.inputs` of the control plane.",
    ),
    inputs_values: setting(
      list(attributePath()),
      [],
      "With `audit.inputs`: attributes whose values are written, each with everything below it: `user.role`, " +
        '`request.headers["x-team"]`, `args.id`. Attributes of `user` and `customer` are written even if no rule reads them. ' +
        "`user.id` and `customer.id` are always written.",
    ),
    inputs_others: setting(
      choice("redact", "hash"),
      "redact",
      "With `audit.inputs`: what is written of all other attributes. `redact`: that there was a value; `hash`: a keyed hash " +
        "(HMAC-SHA256), by which equal values can be recognized.",
    ),
    inputs_key_file: optional(
      path(),
      "File that contains only the key of the hashes, at least 32 characters. `gatehouse replay --key-file` needs it to compare " +
        "hashes with the literals of rules. Give every gateway the same key.",
    ),
    ...destinationKeys(),
  })
  .prefault({});

export type AuditSettings = DeepReadonly<z.output<typeof auditSettings>>;

import * as z from "zod";
import { isObject } from "../json/index.ts";
import { parsePattern } from "../policy/evaluation.ts";
import { STATED_READINGS, SWITCHES } from "../request/types.ts";
import { choice, list, text, valueTypes } from "../setting-types.ts";
import { inBackticks } from "../text/index.ts";

/** Names for `gateway.accept_ambiguous`: the checks that src/request can turn off, and the decision's own. */
export const AMBIGUITY_NAMES = [...SWITCHES, "letter_case"] as const;

const READINGS = ["every", ...(Object.keys(STATED_READINGS) as (keyof typeof STATED_READINGS)[])] as const;

const pattern = text().superRefine((value, context) => {
  const error = parsePattern(value, "rest").findings.find(({ severity }) => severity === "error");
  if (error !== undefined)
    context.addIssue(`must be a path pattern such as \`/npm/**\`, but ${error.message}`);
});

const below = z
  .strictObject({
    path: pattern,
    checks: list(choice(...SWITCHES)).refine((names) => names.length > 0, "must not be empty"),
    reading: choice(...READINGS).default("every"),
  })
  .superRefine(({ checks, reading }, context) => {
    if (reading === "every") return;
    const known: readonly string[] = STATED_READINGS[reading];
    const other = checks.find((check) => !known.includes(check));
    if (other === undefined) return;
    context.addIssue({
      code: "custom",
      path: ["reading"],
      message: `has no meaning for \`${other}\`; it is for ${inBackticks(known)}, so \`${other}\` needs an entry of its own`,
    });
  });

const name = choice(...AMBIGUITY_NAMES);

/** An entry of `gateway.accept_ambiguous`: the name of a check, or checks below a path. */
export function acceptedAmbiguity() {
  const entry = z.unknown().transform((value, context): z.output<typeof name> | z.output<typeof below> => {
    const parsed = (isObject(value) ? below : name).safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: value } as never);
    return z.NEVER;
  });
  valueTypes.add(entry, {
    name: `${valueTypes.get(name)?.name ?? ""}, or a map \`{ path: <pattern>, checks: [<name>, ...], reading: ${READINGS.join(" | ")} }\``,
    form: "json",
  });
  return entry;
}

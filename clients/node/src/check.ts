import { ConfigurationError } from "./errors.ts";

/** What timers take: 24 days. */
const MAX_MS = 2_147_483_647;

/**
 * A length of time, or a count. `NaN` would make each comparison with it false, so it stops here.
 *
 * @throws ConfigurationError
 */
export function checkNumber(name: string, value: number, { least = 0, most = MAX_MS } = {}): number {
  if (typeof value !== "number" || !(value >= least && value <= most))
    throw new ConfigurationError(`\`${name}\` must be a number from ${least} to ${most}`);
  return value;
}

/**
 * What a token must name: nothing would be anybody.
 *
 * @throws ConfigurationError
 */
export function checkText(name: string, value: string): string {
  if (typeof value !== "string" || value === "")
    throw new ConfigurationError(`\`${name}\` must be a text that is not empty`);
  return value;
}

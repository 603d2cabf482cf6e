import type { GatewayConfig } from "../../config/index.ts";
import { createMatcher, parsePattern } from "../../policy/evaluation.ts";
import { SWITCHES, type AcceptedUnder, type ReadOptions, type Switch } from "../../request/index.ts";

/** The ambiguous requests that a configuration accepts. */
export function acceptedBy({ accept_ambiguous: entries }: GatewayConfig["gateway"]): ReadOptions {
  const names = entries.filter((entry) => typeof entry === "string");
  const under = entries.filter((entry) => typeof entry !== "string").map(underPath);
  return { switchedOff: new Set(SWITCHES.filter((name) => names.includes(name))), under };
}

type UnderPath = Exclude<GatewayConfig["gateway"]["accept_ambiguous"][number], string>;

function underPath({ path, checks, reading }: UnderPath): AcceptedUnder {
  const { segments } = parsePattern(path, "rest");
  const matcher = createMatcher({ rules: [{ section: "policies", method: "*", segments }] });
  return {
    checks: new Set<Switch>(checks),
    ...(reading !== "every" && { reading }),
    covers: (path) => matcher.match("*", path).kind === "rule",
  };
}

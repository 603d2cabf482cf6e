import { formatPath, whyUnknown, type UnknownRead } from "../../policy/evaluation.ts";
import { lookedUp } from "../policies/needs.ts";
import type { Decision } from "../types.ts";

/**
 * Lists the attributes that made the deciding condition unknown, each with the reason: `user.department: missing`.
 * Contains only names and types, never a value.
 */
export function unknownReads(decision: Decision): readonly string[] {
  const { attributes } = decision;
  const rule = decision.connection ?? decision.rule;
  const isUnknown = decision.reason === "CONDITION_UNKNOWN" || decision.reason === "CLAIM_OMITTED";
  if (!isUnknown || rule === undefined || attributes === undefined) return [];
  return whyUnknown(rule.condition.expression, attributes).map(
    (read) => `${formatPath(read.path)}: ${describe(read, decision)}`,
  );
}

function describe({ path, why, type }: UnknownRead, decision: Decision): string {
  const [root = "", member] = path;
  const { snapshot, request, attributes } = decision;
  const source = snapshot && lookedUp(snapshot.ir, root);
  // if a rule denies for another reason, the body is not requested
  if (root === "request" && member === "body" && request?.body === undefined) return "not examined";
  switch (why) {
    case "missing":
      return source !== undefined && attributes?.[root] === undefined
        ? `missing, source ${source.name} has no entry for ${formatPath(source.key)}`
        : "missing";
    case "unavailable":
      if (source !== undefined) return `unavailable, source ${source.name} failed or is not configured`;
      return decision.identity?.omitted?.includes(`${root}.${member ?? ""}`) === true
        ? "unavailable, the token refers to the claim without containing it"
        : "unavailable";
    case "repeated":
      return "sent several times, but a single value is compared";
    case "type":
      return `${type ?? "another type"}, which cannot be compared here`;
  }
}

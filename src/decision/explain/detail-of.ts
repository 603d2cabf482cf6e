import { pathsIn, whyUnknown, type AttributePath, type Expression } from "../../policy/evaluation.ts";
import { lookedUp } from "../policies/needs.ts";
import type { Decision, Untold } from "../types.ts";

/**
 * @returns the details of a decision, for logs and audit, and in addition why something about the client's connection is
 *   unknown, if the decision depends on that
 */
export function detailOf(decision: Decision): string | undefined {
  const { detail, untold } = decision;
  if (untold === undefined || !isBecauseOf(untold, decision)) return detail;
  return detail === undefined ? untold.why : `${detail}; ${untold.why}`;
}

function isBecauseOf({ parts }: Untold, decision: Decision): boolean {
  const { reason, attributes, snapshot } = decision;
  const isUntold = (path: AttributePath): boolean => {
    const [first = ""] = path;
    // what is looked up by something is unknown with it
    const [root, member = "", name = ""] = (snapshot && lookedUp(snapshot.ir, first)?.key) ?? path;
    if (root !== "request") return false;
    return member === "headers"
      ? parts.headers.has(name)
      : (parts.members as ReadonlySet<string>).has(member);
  };
  const reads = (expression: Expression) => pathsIn(expression).some(isUntold);
  switch (reason) {
    case "CLIENT_ADDRESS_NOT_ALLOWED":
      return parts.members.has("client_ip");
    case "CONDITION_UNKNOWN": {
      const rule = decision.connection ?? decision.rule;
      if (rule === undefined || attributes === undefined) return false;
      return whyUnknown(rule.condition.expression, attributes).some(({ path }) => isUntold(path));
    }
    case "GRAPHQL_DENIED":
      return (decision.denials ?? []).some(({ rule: id }) =>
        snapshot?.graphql.rules.some(({ rule }) => rule.id === id && reads(rule.condition.expression)),
      );
    default:
      return false;
  }
}

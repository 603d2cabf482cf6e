import {
  findAttributes,
  NOT_FALSE,
  NOT_TRUE,
  readsAgain,
  textDomains,
  TRUE,
  type Domain,
  type Effort,
  type Verdicts,
} from "../analyze/index.ts";
import { compileCondition } from "../condition/index.ts";
import type { Reporter } from "../diagnostics/reporter.ts";
import { placeOf } from "../syntax/place-of.ts";
import type { UsedCondition } from "./uses.ts";

/** Conditions beyond this length are not searched. */
const MAX_LENGTH = 4000;

/**
 * A condition that is never true permits nobody, and one of a response rule that is always false masks nothing:
 * `condition: false` is valid, but rarely intended. A condition that is always true permits everyone.
 */
export function reportConstant(used: UsedCondition, report: Reporter, effort: Effort): void {
  const { condition, purpose } = used;
  const { ast, node, text } = condition;
  if (ast.op === "literal") {
    if (ast.value !== false) return;
    if (purpose === "permits") report.warning(placeOf(node), "never-true", "this rule permits nobody");
    else report.warning(placeOf(node), "never-true", "this rule never applies", "delete it");
    return;
  }
  if (text.length > MAX_LENGTH) return;
  const { expression, reads } = compileCondition(ast, text);
  const domains = textDomains(used.method);
  // with each attribute read once, and none that has only a few values, there is no reason to be constant
  if (!readsAgain(expression) && !reads.some((path) => isLimited(domains.of(path)))) return;
  const isImpossible = (verdicts: Verdicts) =>
    findAttributes([{ expression, verdicts }], domains, effort).kind === "none";
  if (purpose === "applies") {
    if (isImpossible(NOT_FALSE))
      report.warning(
        placeOf(node),
        "never-true",
        "this rule never applies: its condition is always false",
        "delete it",
      );
  } else if (isImpossible(TRUE)) {
    report.warning(
      placeOf(node),
      "never-true",
      "this rule permits nobody: its condition is false or unknown for every request",
    );
  } else if (isImpossible(NOT_TRUE)) {
    report.warning(
      placeOf(node),
      "always-true",
      "this rule permits everyone: its condition is true for every request",
      "write `true` if it is meant to",
    );
  }
}

function isLimited(domain: Domain): boolean {
  return domain.kind === "values" || (domain.kind === "text" && domain.range.accepts !== undefined);
}

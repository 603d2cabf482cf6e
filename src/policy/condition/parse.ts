import type { ConditionNode } from "./ast.ts";
import { arrange, errorAt, type ConditionFinding } from "./finding.ts";
import { parseTokens } from "./grammar.ts";
import { lex } from "./lex.ts";
import { nestingFinding } from "./nesting.ts";

/** In UTF-16 units. */
export const MAX_CONDITION_LENGTH = 1024 * 1024;

/**
 * Parses a condition. Finds all mistakes in one pass, up to a limit.
 *
 * @returns `ast`, only if there are no mistakes; and `findings`, ordered by position, all of them errors
 */
export function parseCondition(text: string): { ast?: ConditionNode; findings: ConditionFinding[] } {
  const whole = { start: 0, end: text.length };
  if (text.length > MAX_CONDITION_LENGTH) {
    const message = `the condition is longer than ${MAX_CONDITION_LENGTH} characters`;
    return { findings: [errorAt(whole, "condition-too-long", message)] };
  }
  const { tokens, findings } = lex(text);
  if (tokens.length === 0) {
    const hint = "write `true` to always allow";
    const empty = errorAt(whole, "empty-condition", "the condition is empty", hint);
    return { findings: findings.length === 0 ? [empty] : arrange(findings) };
  }
  const tooDeep = nestingFinding(tokens);
  if (tooDeep !== undefined) return { findings: arrange([...findings, tooDeep]) };

  const parsed = parseTokens(tokens);
  const all = arrange([...findings, ...parsed.findings]);
  return all.length === 0 ? { ast: parsed.ast, findings: [] } : { findings: all };
}

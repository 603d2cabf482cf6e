import { clip } from "../../../text/index.ts";
import { errorAt } from "../finding.ts";
import { formatCondition } from "../format.ts";
import { isTest, operandsOf, TESTS } from "../operators.ts";
import { typeName, typeOf, type ConditionCheck } from "../types.ts";

/** `.startsWith`, `.endsWith` and similar methods take strings. */
export const stringMethods: ConditionCheck = (node, context) => {
  if (!isTest(node) || TESTS[node.op].takes !== "strings") return [];
  return operandsOf(node).flatMap((operand) => {
    const type = typeOf(operand, context);
    if (type === undefined || type === "string") return [];
    const text = clip(formatCondition(operand), 60);
    const message = `\`${text}\` is ${typeName(type)}, but \`${node.op}\` compares strings`;
    const hint = type === "list" ? "to search a list, write `.includes(value)`" : undefined;
    return [errorAt(operand, "not-a-string", message, hint)];
  });
};

/** What evaluates, explains and prints compiled conditions. */
export { formatExpression, formatPath } from "./format.ts";
export { evaluate, MAX_DEPTH } from "./evaluate.ts";
export { canBecomeTrue } from "./possible.ts";
export { specialize, type Specialized } from "./specialize.ts";
export { pathsIn, readsBelow } from "./reads.ts";
export {
  anyEqual,
  attributeOperand,
  equal,
  isSentSeveralTimes,
  operandOf,
  ordered,
  readAttribute,
  type Operand,
} from "./values.ts";
export {
  explain,
  firstFailing,
  verdictName,
  type TraceNode,
  type TraceRead,
  type VerdictName,
} from "./explain.ts";
export { whyUnknown, type UnknownRead, type WhyUnknown } from "./unknown.ts";
export { parseAttributePath } from "./attribute-path.ts";

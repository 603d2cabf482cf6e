/**
 * The condition language: text to tree, tree to IR, IR to verdict. Pure; the README beside this file says more.
 */
export type {
  AttributeNode,
  ComparisonNode,
  ConditionNode,
  ExistsNode,
  ListNode,
  LiteralNode,
  LogicalNode,
  MembershipNode,
  NotNode,
  TextSpan,
  StringTestNode,
} from "./ast.ts";
export { FINDING_CODES, type ConditionFinding, type FindingCode } from "./finding.ts";
export { MAX_CONDITION_LENGTH, parseCondition } from "./parse.ts";
export { MAX_NESTING } from "./nesting.ts";
export { checkCondition, checkKey, type ConditionContext } from "./check.ts";
export { compileCondition, expressionOf } from "./compile.ts";
export { formatCondition } from "./format.ts";
export { bindsCustomer, findRoleGrant, type GrantScope } from "./role-grant.ts";
export * from "./evaluation.ts";

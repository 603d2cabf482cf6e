import { quoted } from "../../text/index.ts";
import { bindsCustomer, findRoleGrant, formatPath, type GrantScope } from "../condition/index.ts";
import type { AttributeNode } from "../condition/ast.ts";
import { reportWithin } from "../syntax/report-within.ts";
import type { AttributeRootSource, ConditionSource, PolicySetSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditionsOf } from "./uses.ts";

/**
 * When each customer's identity provider assigns roles, a role holds only at that customer. A rule that permits by role
 * without comparing the customer lets the administrators of one customer into the data of all.
 */
export const roleWithoutCustomer: PolicySetCheck = (set, report) => {
  const scopes = scopesOf(set);
  for (const condition of grantsOf(set, scopes)) {
    const { ast, node } = condition;
    const role = findRoleGrant(ast, scopes.get(condition));
    if (role === undefined) continue;
    const name = quoted(formatPath(role.path));
    reportWithin(report, node, {
      severity: "warning",
      code: "role-without-customer",
      message: `${name} permits this to ${whoHas(role)}`,
      hint: "also compare the customer, for example `user.customer_id == path.customer_id`, or compare it with your own customer's id",
      start: role.start,
      end: role.end,
    });
  }
};

function whoHas({ path: [root, member] }: AttributeNode): string {
  if (root !== "user") return "users of every customer: it is looked up by user, not by customer";
  return member === "scopes"
    ? "machine clients of every customer: any customer's client may have the same scopes"
    : "users of every customer: each customer's identity provider decides who has it";
}

/** Keyed by condition. Conditions that could not be parsed are absent. */
type Scopes = ReadonlyMap<ConditionSource, GrantScope>;

function scopesOf(set: PolicySetSource): Scopes {
  const ofUser = (set.head.attributes ?? []).filter(isOfUser).map(({ name }) => name);
  return new Map(
    conditionsOf(set).map(({ condition, parameters }) => [
      condition,
      { ofUser, hasParameters: parameters.length > 0 },
    ]),
  );
}

/** Whether a root is looked up by the user and not by the user's customer. */
function isOfUser({ lookup }: AttributeRootSource): boolean {
  const [root, member] = lookup?.key ?? [];
  return root === "user" && member !== "customer_id";
}

/**
 * The conditions that grant access. Conditions that only narrow what another rule permits are left out: those for
 * fields below a GraphQL root, for connections whose messages have rules, and for messages on connections of one
 * customer.
 */
function grantsOf(set: PolicySetSource, scopes: Scopes): readonly ConditionSource[] {
  const roots = Object.values(set.schema?.roots ?? {});
  const withMessages = new Set(set.messages.map(({ pattern }) => pattern));
  const bound = new Set(
    set.connections
      .filter(({ condition }) => scopes.has(condition) && bindsCustomer(condition.ast, scopes.get(condition)))
      .map(({ pattern }) => pattern),
  );
  return [
    ...set.rules,
    ...set.graphql.filter(({ type }) => type === undefined || roots.includes(type)),
    ...set.connections.filter(({ pattern }) => !withMessages.has(pattern)),
    ...set.messages.filter(({ pattern }) => !bound.has(pattern)),
  ]
    .map(({ condition }) => condition)
    .filter((condition) => scopes.has(condition));
}

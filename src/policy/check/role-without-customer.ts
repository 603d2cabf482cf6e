import { quoted } from "../../text/index.ts";
import { bindsCustomer, findRoleGrant, formatPath, type GrantScope } from "../condition/index.ts";
import type { AttributeNode } from "../condition/ast.ts";
import { reportWithin } from "../syntax/report-within.ts";
import type { AttributeRootSource, ConditionSource, PolicySetSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";
import { conditionsOf } from "./uses.ts";

/**
 * Where the providers of several customers say who has which role, a role is one at that customer. A rule that permits by
 * it and compares no customer lets the administrators of one customer into the data of all.
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
      hint: "compare the customer, too: `user.customer_id == path.customer_id`, or with the id of your own",
      start: role.start,
      end: role.end,
    });
  }
};

function whoHas({ path: [root, member] }: AttributeNode): string {
  if (root !== "user") return "people of every customer: it is looked up by who the user is";
  return member === "scopes"
    ? "programs of every customer: machine clients of each may have the same scopes"
    : "people of every customer: each customer's identity provider says who has it";
}

/** By condition; those that cannot be read have none. */
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

/** Whether a root is looked up by the user, and not by the customer that they are of. */
function isOfUser({ lookup }: AttributeRootSource): boolean {
  const [root, member] = lookup?.key ?? [];
  return root === "user" && member !== "customer_id";
}

/**
 * The conditions that decide what is reached: not those that only narrow what another rule permits, which are the ones for
 * fields below a GraphQL root, for connections whose messages have rules, and for messages of connections of one customer.
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

import { quoted } from "../../text/index.ts";
import { bindsCustomer, findRoleGrant, formatPath } from "../condition/index.ts";
import { reportWithin } from "../diagnostics/report-within.ts";
import type { ConditionSource, PolicySetSource } from "../read/index.ts";
import type { PolicySetCheck } from "./policy-set-check.ts";

/**
 * Where the providers of several customers say who has which role, a role is one at that customer. A rule that permits by
 * it and compares no customer lets the administrators of one customer into the data of all.
 */
export const roleWithoutCustomer: PolicySetCheck = (set, report) => {
  for (const { ast, node, broken } of grantsOf(set)) {
    const role = broken ? undefined : findRoleGrant(ast);
    if (role === undefined) continue;
    const name = quoted(formatPath(role.path));
    reportWithin(report, node, {
      severity: "warning",
      code: "role-without-customer",
      message:
        role.path[1] === "scopes"
          ? `${name} permits this to programs of every customer: machine clients of each may have the same scopes`
          : `${name} permits this to people of every customer: each customer's identity provider says who has it`,
      hint: "compare the customer, too: `user.customer_id == path.customer_id`, or with the id of your own",
      start: role.start,
      end: role.end,
    });
  }
};

/**
 * The conditions that decide what is reached: not those that only narrow what another rule permits, which are the ones for
 * fields below a GraphQL root, for connections whose messages have rules, and for messages of connections of one customer.
 */
function grantsOf(set: PolicySetSource): readonly ConditionSource[] {
  const roots = Object.values(set.schema?.roots ?? {});
  const withMessages = new Set(set.messages.map(({ pattern }) => pattern));
  const bound = new Set(
    set.connections
      .filter(({ condition }) => !condition.broken && bindsCustomer(condition.ast))
      .map(({ pattern }) => pattern),
  );
  return [
    ...set.rules,
    ...set.graphql.filter(({ type }) => type === undefined || roots.includes(type)),
    ...set.connections.filter(({ pattern }) => !withMessages.has(pattern)),
    ...set.messages.filter(({ pattern }) => !bound.has(pattern)),
  ].map(({ condition }) => condition);
}

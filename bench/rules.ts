/**
 * A policy set of `count` rules over resources of an API, of the shapes that real sets have: roles, ownership, lists.
 * The rule that the benchmarks ask for stands in the middle.
 */
export function policySetOf(count: number): string {
  const rules = Array.from({ length: count }, (_, index) => {
    const base = `/api/service-${Math.floor(index / 5)}/items`;
    switch (index % 5) {
      case 0:
        return rule(`GET ${base}`, 'user.role in ["admin", "manager", "viewer"]');
      case 1:
        return rule(
          `GET ${base}/{item_id}`,
          'user.role == "admin" or user.permissions.includes("items:read")',
        );
      case 2:
        return rule(
          `PUT ${base}/{item_id}`,
          'user.role == "manager" and user.permissions.includes("items:write")',
        );
      case 3:
        return rule(
          `GET ${base}/{item_id}/owners/{customer_id}`,
          'user.role == "admin" or (user.customer_id == path.customer_id and not user.permissions.includes("blocked"))',
        );
      default:
        return rule(`DELETE ${base}/{item_id}`, 'user.role == "admin"');
    }
  });
  return `policy_set: bench\nversion: v1\npolicies:\n${rules.join("")}`;
}

/** The request that meets the ownership rule of the service in the middle of a set of `count` rules. */
export function requestPath(count: number, customer: string): string {
  return `/api/service-${Math.floor(count / 10)}/items/i-17/owners/${customer}`;
}

function rule(resource: string, condition: string): string {
  return `  - resource: ${JSON.stringify(resource)}\n    condition: ${JSON.stringify(condition)}\n`;
}

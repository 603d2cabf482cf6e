/** A user of the demo application. The member names are those that rules see under `user`. */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: DemoRole;
  readonly department: string;
  readonly customer_id: string;
  readonly permissions: readonly string[];
  readonly assigned_customers: readonly string[];
}

export const DEMO_ROLES = ["admin", "manager", "support", "viewer"] as const;
export type DemoRole = (typeof DEMO_ROLES)[number];

const PERMISSIONS: Record<DemoRole, readonly string[]> = {
  admin: [
    "customers:read",
    "customers:write",
    "customers:delete",
    "orders:read",
    "orders:create",
    "reports:read",
  ],
  manager: ["customers:read", "customers:write", "orders:read", "orders:create", "reports:read"],
  support: ["customers:read", "orders:read"],
  viewer: ["customers:read"],
};

function person(
  id: string,
  name: string,
  role: DemoRole,
  department: string,
  customer: string,
  assigned: readonly string[],
): Person {
  return {
    id,
    name,
    email: `${name.toLowerCase().replaceAll(" ", ".")}@example.com`,
    role,
    department,
    customer_id: customer,
    permissions: PERMISSIONS[role],
    assigned_customers: assigned,
  };
}

/** The demo users; `--role` alone selects the first one with that role. */
export const PEOPLE: readonly Person[] = [
  person("u-1", "Ada Okafor", "admin", "operations", "c-1", ["c-1", "c-2", "c-3", "c-4", "c-5", "c-6"]),
  person("u-2", "Marco Bianchi", "manager", "sales", "c-1", ["c-1", "c-2"]),
  person("u-3", "Sofia Lind", "support", "support", "c-2", ["c-2", "c-3"]),
  person("u-4", "Victor Roy", "viewer", "sales", "c-1", []),
  person("u-5", "Ines Duarte", "manager", "finance", "c-3", ["c-3"]),
  person("u-6", "Omar Haddad", "support", "support", "c-4", ["c-4", "c-5"]),
  person("u-7", "Mei Tanaka", "viewer", "engineering", "c-5", []),
  person("u-8", "Jonas Weber", "viewer", "sales", "c-2", []),
];

/** @returns the default user of a role. */
export function personOfRole(role: DemoRole): Person {
  const found = PEOPLE.find((candidate) => candidate.role === role);
  if (found === undefined) throw new Error(`no demo user has the role \`${role}\``);
  return found;
}

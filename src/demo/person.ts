import { PEOPLE, personOfRole, type DemoRole, type Person } from "./people.ts";

/** The user for whom a token is requested; members override the demo user's own. */
export interface PersonOptions {
  readonly role: DemoRole;
  /** `user.id`. A known one sets that user's name, email, department, customer and assigned customers. */
  readonly user?: string;
  readonly customer?: string;
  readonly department?: string;
  readonly permissions?: readonly string[];
}

/** The user that the options describe: a demo user, or an unknown one with only the given attributes. */
export function personOf({
  role,
  user,
  customer,
  department,
  permissions,
}: PersonOptions): Partial<Person> & Pick<Person, "id" | "name" | "email" | "role"> {
  const ofRole = personOfRole(role);
  const known = user === undefined ? ofRole : PEOPLE.find((person) => person.id === user);
  const id = user ?? ofRole.id;
  return {
    ...(known ?? { id, name: id, email: `${id}@example.com` }),
    permissions: permissions ?? ofRole.permissions,
    role,
    ...(customer !== undefined && { customer_id: customer }),
    ...(department !== undefined && { department }),
  };
}

/**
 * A demo user in the form of the sandbox's identity provider. The application has its own ids, which are claims beside those
 * of the platform.
 */
export function describePerson(person: ReturnType<typeof personOf>) {
  const {
    id,
    name,
    email,
    role,
    department,
    permissions = [],
    customer_id: account,
    assigned_customers,
  } = person;
  return {
    email,
    name,
    role,
    department: department ?? null,
    permissions,
    attributes: {
      employee_id: id,
      ...(account !== undefined && { account }),
      ...(assigned_customers !== undefined && { assigned_customers }),
    },
    amr: ["pwd"],
  };
}

/** How the gateway maps these claims. */
export const DEMO_CLAIMS = { "user.id": "employee_id", "user.customer_id": "account" } as const;

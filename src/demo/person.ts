import { PEOPLE, personOfRole, type DemoRole, type Person } from "./people.ts";

/** Whom a token is asked for; what is not said is the person's own. */
export interface PersonOptions {
  readonly role: DemoRole;
  /** `user.id`. A known one brings that person's name, email, department, customer and assigned customers. */
  readonly user?: string;
  readonly customer?: string;
  readonly department?: string;
  readonly permissions?: readonly string[];
}

/** The person that the options are about: one of the demo, or a stranger of whom only the options tell anything. */
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
 * A person of the demo as the sandbox's identity provider describes people. The application knows them by ids of its own,
 * which travel as claims beside those of the platform.
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

/** How the gateway reads these claims. */
export const DEMO_CLAIMS = { "user.id": "employee_id", "user.customer_id": "account" } as const;

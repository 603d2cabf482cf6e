import type { CustomerStatus } from "../../tenancy/customers.ts";
import type { NewPolicy } from "../../resources/policies/schemas.ts";
import type { NewPerson } from "../people.ts";
import type { SeedPerson } from "./types.ts";

/** A customer of a fresh sandbox. */
export interface SeedCustomer {
  readonly name: string;
  readonly externalId: string;
  readonly plan: string;
  readonly city: string;
  readonly status: CustomerStatus;
  /** Of {@link POLICIES}, by name. */
  readonly policies: readonly string[];
  readonly people: readonly SeedPerson[];
}

/** Where applications that are tried out on this machine usually are. */
export const RETURN_URLS = ["http://localhost:3000/callback", "http://127.0.0.1:3000/callback"] as const;

const MFA = "Multi-factor authentication";
const WORKING_DAY = "Sign in every working day";
const STAFF_ONLY = "Staff addresses only";
export const GUARDED = "Default policy set";

/** The policies; the last one only where there is a set that it can name. */
export function policies(policySet: string | undefined): readonly NewPolicy[] {
  const ofAll = { status: "active", assign_to_new_customers: false } as const;
  const common = { ...ofAll, type: "authentication" } as const;
  return [
    {
      ...common,
      name: MFA,
      description: "Every sign-in needs two factors.",
      conditions: { mfa_required: true },
    },
    {
      ...common,
      name: WORKING_DAY,
      description: "A session ends after eight hours.",
      conditions: { max_session_duration: 28_800 },
    },
    {
      ...common,
      name: STAFF_ONLY,
      description: "Only addresses of the company's own domain.",
      conditions: { allowed_email_domains: ["blueheron.example"] },
    },
    ...(policySet === undefined
      ? []
      : [
          {
            ...ofAll,
            name: GUARDED,
            description: "This policy set must also permit every request.",
            type: "authorization",
            conditions: { policy_set: policySet },
          } as const,
        ]),
  ];
}

function person(
  name: string,
  domain: string,
  role: string,
  department: string,
  more: Partial<SeedPerson> = {},
): SeedPerson {
  return {
    name,
    email: `${name.toLowerCase().replaceAll(" ", ".")}@${domain}`,
    role,
    department,
    permissions: PERMISSIONS[role] ?? [],
    attributes: { groups: [department, `${role}s`] },
    amr: ["pwd"],
    ...more,
  };
}

const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
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

const TWO_FACTORS = { amr: ["pwd", "otp", "mfa"] } as const;

/** Six customers, of every status; the first one's staff is given. */
export function customers(staff: readonly SeedPerson[]): readonly SeedCustomer[] {
  return [
    {
      ...{ name: "Acme Logistics", externalId: "acme", plan: "enterprise", city: "Hamburg" },
      status: "active",
      policies: [],
      people: staff,
    },
    {
      ...{ name: "Northwind Traders", externalId: "northwind", plan: "enterprise", city: "Rotterdam" },
      status: "active",
      policies: [WORKING_DAY, GUARDED],
      people: [
        person("Noor de Vries", "northwind.example", "admin", "operations", TWO_FACTORS),
        person("Pieter Bakker", "northwind.example", "manager", "sales"),
        person("Lotte Visser", "northwind.example", "viewer", "finance"),
      ],
    },
    {
      ...{ name: "Blue Heron Logistics", externalId: "blue-heron", plan: "business", city: "Gdynia" },
      status: "active",
      policies: [STAFF_ONLY],
      people: [
        person("Zofia Kowalska", "blueheron.example", "manager", "operations"),
        person("Tomasz Nowak", "blueheron.example", "support", "support"),
        person("Eva Contractor", "agency.example", "viewer", "sales"),
      ],
    },
    {
      ...{ name: "Alpenglow Optics", externalId: "alpenglow", plan: "business", city: "Innsbruck" },
      status: "active",
      policies: [MFA, WORKING_DAY],
      people: [
        person("Lukas Gruber", "alpenglow.example", "admin", "engineering", TWO_FACTORS),
        person("Miriam Hofer", "alpenglow.example", "viewer", "finance"),
      ],
    },
    {
      ...{ name: "Old Mill Bakery", externalId: "old-mill", plan: "starter", city: "York" },
      status: "suspended",
      policies: [],
      people: [person("Grace Miller", "oldmill.example", "manager", "sales")],
    },
    {
      ...{ name: "Saffron & Salt", externalId: "saffron", plan: "starter", city: "Lisbon" },
      status: "archived",
      policies: [],
      people: [person("Rui Almeida", "saffron.example", "viewer", "operations")],
    },
  ];
}

/** Somebody who can sign in everywhere. */
export const EVERYWHERE: NewPerson = {
  ...person("Sam Support", "platform.example", "support", "support", TWO_FACTORS),
  customer_id: null,
};

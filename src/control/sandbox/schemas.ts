import * as z from "zod";
import { inBackticks } from "../../text/index.ts";
import { listQuery } from "../platform/frame/list.ts";
import { emailAddress, nameText, pathId, timestamp } from "../platform/frame/schemas.ts";
import { attributes as userAttributes } from "../resources/users/schemas.ts";
import { CLAIMS_OF_SCOPES } from "./claims.ts";

/** They are members of their own. */
const NO_ATTRIBUTES: readonly string[] = ["role", "department", "permissions"];

const label = nameText(100);
const described = {
  email: emailAddress().meta({ description: "The address by which the person is chosen at sign-in." }),
  name: nameText(),
  role: label.nullable().default(null),
  department: label.nullable().default(null),
  permissions: z.array(label).max(200).default([]),
  attributes: userAttributes
    .refine((members) => !NO_ATTRIBUTES.some((name) => Object.hasOwn(members, name)), {
      error: `must not contain ${inBackticks(NO_ATTRIBUTES)}`,
    })
    .default({})
    .meta({ description: "Other attributes that policies read: `groups`, `assigned_customers`, ..." }),
  amr: z
    .array(z.string().regex(/^[\x21-\x7e]{1,50}$/, "must be 1 to 50 visible ASCII characters"))
    .max(20)
    .default(["pwd"])
    .meta({ description: "Authentication methods (RFC 8176); `mfa` means more than one factor." }),
};

/** The body of POST /sandbox/people. */
export const newPerson = z
  .strictObject({
    customer_id: pathId()
      .nullable()
      .default(null)
      .meta({ description: "`null` if the person can sign in at every customer." }),
    ...described,
  })
  .meta({ id: "NewSandboxPerson" });
export type NewPersonBody = z.output<typeof newPerson>;

/** A person as it is answered. */
export const person = z
  .object({
    id: z.string(),
    customer_id: z.string().nullable(),
    email: z.string(),
    name: z.string(),
    role: z.string().nullable(),
    department: z.string().nullable(),
    permissions: z.array(z.string()),
    attributes: z.record(z.string(), z.unknown()),
    amr: z.array(z.string()),
    created_at: timestamp(),
  })
  .meta({ id: "SandboxPerson" });

export const personPath = z.object({ id: pathId() });
export const deletedPerson = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: "DeletedSandboxPerson" });

/** The query of GET /sandbox/people. */
export const peopleList = listQuery(["created_at", "name", "email"], {
  customer_id: pathId().optional().meta({ description: "Only people who can sign in at this customer." }),
  role: label.optional(),
  email: emailAddress().optional(),
});

const SCOPES = Object.keys(CLAIMS_OF_SCOPES) as (keyof typeof CLAIMS_OF_SCOPES)[];
const YEAR = 31_536_000;

/** The body of POST /sandbox/tokens. */
export const tokensBody = z
  .strictObject({
    customer_id: pathId(),
    login: z.string().min(1).max(320).optional().meta({ description: "The e-mail address of a person." }),
    person: z
      .strictObject(described)
      .optional()
      .meta({ description: "A person who is not in the list: the same address is always the same user." }),
    scopes: z.array(z.enum(SCOPES)).max(10).optional(),
    expires_in: z
      .int()
      .min(-YEAR)
      .max(YEAR)
      .optional()
      .meta({ description: "In seconds; negative for an access token that has already expired." }),
  })
  .refine((body) => (body.login === undefined) !== (body.person === undefined), {
    error: "one of `login` and `person` is required",
    when: ({ issues }) => issues.length === 0,
  })
  .meta({ id: "SandboxSignIn" });
export type TokensBody = z.output<typeof tokensBody>;

/** How much of what there is after a reset. */
export const seeded = z
  .object({
    customers: z.int(),
    people: z.int(),
    users: z.int(),
    sessions: z.int(),
    policies: z.int(),
    policy_sets: z.int(),
    webhooks: z.int(),
    api_keys: z.int(),
    decisions: z.int(),
    events: z.int(),
  })
  .meta({ id: "SandboxContents" });
export type Seeded = z.output<typeof seeded>;

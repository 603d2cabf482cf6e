import * as z from "zod";
import { listQuery, timestampParameter } from "../../platform/frame/list.ts";
import { mergedMember } from "../../platform/frame/merge-patch.ts";
import {
  anyNumber,
  emailAddress,
  longText,
  nameFilter,
  nameText,
  pathId,
  someOf,
  timestamp,
} from "../../platform/frame/schemas.ts";
import { attributeName } from "../../tenancy/attributes.ts";

const MAX_ATTRIBUTES = 50;
const MAX_LIST = 200;
const MAX_TEXT = 500;
/** Maximum size of all attributes of a user, as JSON. */
const MAX_BYTES = 32_768;

/** The provider's claims that are not accepted, for a user or a sign-in. */
export const droppedClaim = z
  .object({
    claim: z.string(),
    values: z.array(z.string()).describe("the first 20, shortened"),
    count: z.int().describe("the total number"),
    reason: z.string().describe("in words"),
  })
  .meta({ id: "DroppedClaim" });

const attributeText = longText(MAX_TEXT);

const attributeValue = z.union(
  [attributeText, anyNumber(), z.boolean(), z.array(attributeText).max(MAX_LIST)],
  { error: `must be a string of at most ${MAX_TEXT} characters, a number, a boolean or a list of strings` },
);

/** Attributes set by administrators. Limited in size, because tokens and gateways' caches contain them. */
export const attributes = z
  .record(attributeName, attributeValue)
  .refine((members) => Object.keys(members).length <= MAX_ATTRIBUTES, {
    error: `must have at most ${MAX_ATTRIBUTES} members`,
  })
  .refine((members) => Buffer.byteLength(JSON.stringify(members)) <= MAX_BYTES, {
    error: `must have at most ${MAX_BYTES} bytes of JSON`,
  });

const status = z.enum(["active", "suspended"]);

/** The parameters of a list of users; the same with and without a customer in the path. */
const filters = {
  status: status.optional(),
  email: emailAddress().optional(),
  name: nameFilter(),
  subject: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: "The `sub` at the identity provider, exactly." }),
  created_after: timestampParameter().optional(),
  created_before: timestampParameter().optional(),
  role: z.string().min(1).max(MAX_TEXT).optional(),
};
const sortable = ["created_at", "updated_at", "email", "last_sign_in_at"] as const;

export const usersOfCustomerQuery = listQuery(sortable, filters);
export const usersQuery = listQuery(sortable, { ...filters, customer_id: pathId().optional() });

export const userParams = z.strictObject({ id: pathId() });

export const newUserBody = z
  .strictObject({
    subject: nameText(255).describe("the user's `sub` at the customer's identity provider"),
    email: emailAddress().optional(),
    name: nameText().optional(),
    attributes: attributes.default({}),
  })
  .meta({ id: "NewUser" });

export const userBody = someOf({
  status,
  attributes: attributes.describe("replaces all attributes that were set before"),
}).meta({ id: "UserUpdate" });

/** The body of PATCH /users/{id}. */
export const userPatch = someOf({ status, attributes: mergedMember() }).meta({ id: "UserPatch" });
export const MERGED_OF_USER = ["attributes"] as const;

/** The provider's value may be any JSON. */
const values = z.record(z.string(), z.unknown());

export const userData = z
  .object({
    id: z.string(),
    customer_id: z.string(),
    issuer: z.string().nullable().describe("the identity provider; null until the first sign-in"),
    subject: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    status,
    profile: values.describe("the identity provider's claims about the user, as far as they are accepted"),
    dropped_claims: droppedClaim
      .array()
      .describe("claims of the last sign-in that the customer's current lists do not accept"),
    attributes: values.describe("set by administrators; they override the profile and need no list"),
    effective_attributes: values.describe("what conditions read as `user` and tokens contain"),
    created_at: timestamp(),
    updated_at: timestamp(),
    last_sign_in_at: timestamp().nullable(),
  })
  .meta({ id: "User" });

export const deletedUserData = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: "DeletedUser" });

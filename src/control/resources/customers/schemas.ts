import * as z from "zod";
import { listQuery, timestampParameter } from "../../platform/frame/list.ts";
import { mergedMember } from "../../platform/frame/merge-patch.ts";
import { metadata, nameText, pathId, someOf, timestamp, nameFilter } from "../../platform/frame/schemas.ts";
import { claimRules } from "./claim-rule-schemas.ts";
import { policyIds } from "../policies/schemas.ts";
import { returnUrls } from "./return-url.ts";
import { CUSTOMER_STATUSES } from "../../tenancy/customers.ts";

export const customerPath = z.object({ id: pathId() });

const externalId = z
  .string()
  .regex(/^[!-~]{1,200}$/, "must be 1 to 200 visible ASCII characters")
  .meta({ description: "The customer's id in your own system; unique among customers." });

const fields = {
  name: nameText(),
  external_id: externalId.nullable(),
  allowed_return_urls: returnUrls().meta({ description: "Where users may be sent back to after sign-in." }),
  metadata: metadata(),
  ...claimRules,
};

/** The body of POST /customers. */
export const newCustomer = z
  .strictObject({
    name: fields.name,
    external_id: fields.external_id.default(null),
    status: z.enum(["active", "suspended"]).default("active"),
    allowed_return_urls: fields.allowed_return_urls.default([]),
    metadata: fields.metadata.default({}),
    allowed_roles: fields.allowed_roles.default(null),
    allowed_permissions: fields.allowed_permissions.default(null),
    allowed_groups: fields.allowed_groups.default(null),
    allowed_claims: fields.allowed_claims.default(null),
    role_mapping: fields.role_mapping.default({}),
    policy_ids: policyIds(0).default([]).meta({
      description: "Policies to assign, besides those with `assign_to_new_customers`.",
    }),
  })
  .meta({ id: "NewCustomer" });

/** The body of PUT /customers/{id}: the given members change. */
export const customerUpdate = someOf({ ...fields, status: z.enum(CUSTOMER_STATUSES) }).meta({
  id: "CustomerUpdate",
});
export type CustomerUpdate = z.output<typeof customerUpdate>;

/** The members of a customer that PATCH merges. */
export const MERGED_OF_CUSTOMER = ["metadata", "role_mapping"] as const;

/** The body of PATCH /customers/{id}. */
export const customerPatch = someOf({
  ...fields,
  status: z.enum(CUSTOMER_STATUSES),
  metadata: mergedMember(),
  role_mapping: mergedMember(),
}).meta({ id: "CustomerPatch" });

/** A customer as returned by the API. */
export const customer = z
  .object({
    id: z.string(),
    external_id: z.string().nullable(),
    name: z.string(),
    status: z.enum(CUSTOMER_STATUSES),
    allowed_return_urls: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
    allowed_roles: z.array(z.string()).nullable(),
    allowed_permissions: z.array(z.string()).nullable(),
    allowed_groups: z.array(z.string()).nullable(),
    allowed_claims: z.array(z.string()).nullable(),
    role_mapping: z.record(z.string(), z.array(z.string())),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: "Customer" });

export const deletedCustomer = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: "DeletedCustomer" });

/** The query of GET /customers. */
export const customerList = listQuery(["created_at", "updated_at", "name", "status"], {
  status: z.enum(CUSTOMER_STATUSES).optional(),
  name: nameFilter(),
  external_id: externalId.optional(),
  created_after: timestampParameter().optional(),
  created_before: timestampParameter().optional(),
});
export type CustomerList = z.output<typeof customerList>;

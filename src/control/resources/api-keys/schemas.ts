import * as z from "zod";
import { SCOPES } from "../../platform/actor.ts";
import { ENVIRONMENTS } from "../../platform/environment.ts";
import { ipRange } from "../../platform/frame/ip-range.ts";
import { listQuery, timestampParameter } from "../../platform/frame/list.ts";
import { actorReference, nameText, pathId, someOf, timestamp } from "../../platform/frame/schemas.ts";

export const KEY_STATUSES = ["active", "expired", "revoked"] as const;
export type ApiKeyStatus = (typeof KEY_STATUSES)[number];

/** Default overlap of a rolled key, in seconds. */
export const DEFAULT_OVERLAP = 86_400;
const MAX_OVERLAP = 30 * 86_400;

const allowedAddresses = z.array(ipRange).max(100).meta({
  description:
    "Addresses, or networks in CIDR notation, from which the key may be used; empty: from everywhere. Not for the scope `caller`.",
});

export const newApiKey = z
  .strictObject({
    name: nameText(),
    scope: z.enum(SCOPES),
    customer_id: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .meta({ description: "Limits the key to this customer." }),
    permissions: z
      .array(z.string().min(1).max(128))
      .max(100)
      .optional()
      .meta({ description: "Only for the scope `caller`: `user.permissions` in conditions." }),
    allowed_addresses: allowedAddresses.optional(),
    expires_at: timestampParameter().optional(),
  })
  .meta({ id: "NewApiKey" });

export const apiKeyUpdate = someOf({
  name: nameText(),
  allowed_addresses: allowedAddresses,
  expires_at: timestampParameter().nullable(),
}).meta({ id: "ApiKeyUpdate" });

export const apiKeyRoll = z
  .strictObject({
    overlap: z.int().min(0).max(MAX_OVERLAP).default(DEFAULT_OVERLAP).meta({
      description:
        "Seconds for which the rolled key stays valid; with 0 it is revoked from the next request on.",
    }),
  })
  .meta({ id: "ApiKeyRoll" })
  .optional();

export const apiKeyPath = z.strictObject({ id: pathId() });

export const apiKeyList = listQuery(["created_at", "name"], {
  status: z.enum(KEY_STATUSES).optional(),
  scope: z.enum(SCOPES).optional(),
  customer_id: z.string().max(128).optional(),
  family_id: z.string().max(128).optional(),
});

/** A key as returned by the API, without the key itself. */
export const apiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(SCOPES),
    environment: z.enum(ENVIRONMENTS),
    customer_id: z.string().nullable(),
    permissions: z.array(z.string()).meta({ description: "`user.permissions` of a caller." }),
    allowed_addresses: z
      .array(z.string())
      .meta({ description: "From where the key may be used; empty: from everywhere." }),
    hint: z.string().meta({ description: "The last four characters of the key." }),
    status: z.enum(KEY_STATUSES),
    created_by: actorReference,
    created_at: timestamp(),
    updated_at: timestamp(),
    expires_at: timestamp().nullable(),
    last_used_at: timestamp().nullable().meta({ description: "Accurate to the minute." }),
    revoked_at: timestamp().nullable(),
    family_id: z.string().meta({
      description:
        "The first key in the chain of rolled keys, or this one: the `client_id` of the tokens that it requests.",
    }),
    rolled_from: z.string().nullable().meta({ description: "The key that this one replaces." }),
    rolled_to: z
      .string()
      .nullable()
      .meta({ description: "The key that replaces this one; this one is refused from `expires_at` on." }),
  })
  .meta({ id: "ApiKey" });

export const createdApiKey = apiKey
  .extend({ key: z.string().meta({ description: "The key itself, shown only once." }) })
  .meta({ id: "CreatedApiKey" });

export const rolledApiKey = createdApiKey
  .extend({ previous: apiKey })
  .meta({ id: "RolledApiKey", description: "The new key, and in `previous` the rolled one." });

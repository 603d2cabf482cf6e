import * as z from "zod";
import { listQuery } from "../../platform/frame/list.ts";
import { actorReference, nameText, pathId, someOf, timestamp } from "../../platform/frame/schemas.ts";

/** With these limits, all scopes of a client fit into a token. */
const MAX_SCOPES = 50;
const MAX_SCOPE = 100;
/** OpenID Connect Core 1.0, sections 3.1.2.1 and 11: they apply only to a user who has signed in. */
const SCOPES_OF_USERS: readonly string[] = ["openid", "offline_access"];
/** A week. */
const MAX_OVERLAP_SECONDS = 604_800;

const scopes = z
  .array(
    z
      .string()
      .max(MAX_SCOPE, `must have at most ${MAX_SCOPE} characters`)
      // RFC 6749, section 3.3
      .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be visible ASCII characters without `"` and `\\`')
      .refine((scope) => !SCOPES_OF_USERS.includes(scope), "is a scope for users only"),
  )
  .max(MAX_SCOPES, `must have at most ${MAX_SCOPES} entries`)
  .refine((all) => new Set(all).size === all.length, "must not repeat an entry");

export const newClient = z
  .strictObject({
    name: nameText(),
    customer_id: z.string().min(1).max(128).optional().meta({
      description: "The customer that the client acts for: `customer_id` of its tokens. Optional.",
    }),
    scopes: scopes
      .default([])
      .meta({ description: "The scopes that it may request; without `scope`, a token gets all of them." }),
  })
  .meta({ id: "NewClient" });

export const clientUpdate = someOf({ name: nameText(), scopes }).meta({ id: "ClientUpdate" });

export const clientRotation = z
  .strictObject({
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(86_400).meta({
      description:
        "How long the old secret stays valid next to the new one. With 0 it is refused at once, and so are existing tokens.",
    }),
  })
  .prefault({})
  .meta({ id: "ClientSecretRotation" });

export const clientPath = z.strictObject({ id: pathId() });

export const clientList = listQuery(["created_at", "name"], {
  customer_id: z.string().max(128).optional(),
});

/** A client as returned by the API, without its secret. */
export const client = z
  .object({
    id: z.string().meta({ description: "The `client_id`, and `sub` of its tokens." }),
    name: z.string(),
    customer_id: z.string().nullable(),
    scopes: z.array(z.string()),
    hint: z.string().meta({ description: "The last four characters of the secret." }),
    previous_secret_expires_at: timestamp().nullable(),
    created_by: actorReference,
    created_at: timestamp(),
    updated_at: timestamp(),
    last_used_at: timestamp().nullable().meta({ description: "Accurate to the minute." }),
  })
  .meta({ id: "Client" });

export const clientWithSecret = client
  .extend({ client_secret: z.string().meta({ description: "The secret itself, shown only once." }) })
  .meta({ id: "ClientWithSecret" });

export const deletedClient = z.object({ id: z.string() }).meta({ id: "DeletedClient" });

import * as z from "zod";
import { EVENT_TYPES } from "../../platform/events.ts";
import { listQuery } from "../../platform/frame/list.ts";
import { longText, pathId, someOf, timestamp } from "../../platform/frame/schemas.ts";
import { CANCELLED_REASONS, DELIVERY_STATUSES } from "./delivery-store.ts";
import { EVERY_EVENT } from "./enqueue.ts";
import { TEST_EVENT } from "./payload.ts";
import { webhookSecret } from "./secret.ts";
import { DISABLED_REASONS } from "./store.ts";

/** Checks the form; `checkTarget` checks the address. */
const url = z
  .string()
  .max(2048, "must have at most 2048 characters")
  .refine((text) => !/[\s\p{Cc}]/u.test(text), "must not contain spaces or control characters")
  .refine((text) => ["http:", "https:"].includes(URL.parse(text)?.protocol ?? ""), "must be an http(s) URL")
  .refine((text) => !text.includes("#"), "must not have a fragment")
  .meta({ format: "uri" });

const MAX_TYPES = EVENT_TYPES.length + 1;

/** `"*"` alone means a list of it. */
const events = z
  .preprocess(
    (value) => (value === EVERY_EVENT ? [EVERY_EVENT] : value),
    z
      .array(z.enum([...EVENT_TYPES, EVERY_EVENT]), {
        error: "must be a list of event types, or `*` for all",
      })
      .refine(({ length }) => length > 0, "must have at least one event type, or `*`")
      .refine(({ length }) => length <= MAX_TYPES, `must have at most ${MAX_TYPES} entries`)
      .transform((types) => [...new Set(types)]),
  )
  .meta({
    type: ["array", "string"],
    anyOf: [
      { const: EVERY_EVENT },
      {
        type: "array",
        items: { type: "string", enum: [...EVENT_TYPES, EVERY_EVENT] },
        minItems: 1,
        maxItems: MAX_TYPES,
      },
    ],
    description: "event types, or `*` for all, alone or in the list",
  });

const description = longText(500).nullable();

export const newWebhook = z
  .strictObject({
    url,
    events,
    secret: webhookSecret().optional(),
    description: description.default(null),
    customer_id: z.string().min(1).max(128).nullable().default(null),
    enabled: z.boolean().default(true),
  })
  .meta({ id: "NewWebhook" });

export const webhookChanges = someOf({ url, events, description, enabled: z.boolean() }).meta({
  id: "WebhookUpdate",
});

/** A week: a longer overlap would amount to two permanent secrets. */
const MAX_OVERLAP_SECONDS = 7 * 86_400;

export const rotation = z
  .strictObject({
    secret: webhookSecret().optional(),
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(86_400),
  })
  .meta({ id: "WebhookSecretRotation" });

export const webhook = z
  .object({
    id: z.string(),
    customer_id: z.string().nullable(),
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(z.enum([...EVENT_TYPES, EVERY_EVENT])),
    enabled: z.boolean(),
    disabled_reason: z.enum(DISABLED_REASONS).nullable(),
    disabled_at: timestamp().nullable(),
    previous_secret_expires_at: timestamp().nullable(),
    paused_until: timestamp()
      .nullable()
      .describe(
        "set if the receiver does not respond: nothing is sent until then, when one delivery is tried",
      ),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: "Webhook" });

/** The only answers that contain the secret. */
export const webhookWithSecret = webhook.extend({ secret: z.string() }).meta({ id: "WebhookWithSecret" });

export const deletedWebhook = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: "DeletedWebhook" });

export const webhookPath = z.object({ id: pathId() });

export const webhookList = listQuery(["created_at", "updated_at"], {
  status: z.enum(["enabled", "disabled"]).optional(),
  customer_id: z.string().min(1).max(128).optional(),
});

const deliveryEvent = z.enum([...EVENT_TYPES, TEST_EVENT]);

export const delivery = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    event_id: z.string(),
    event_type: deliveryEvent,
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    created_at: timestamp(),
    last_attempt_at: timestamp().nullable(),
    next_attempt_at: timestamp().nullable(),
    finished_at: timestamp().nullable(),
    response_status: z.int().nullable(),
    response_body: z.string().nullable(),
    duration_ms: z.int().nullable(),
    error: z.string().nullable(),
    cancelled_reason: z.enum(CANCELLED_REASONS).nullable(),
  })
  .meta({ id: "WebhookDelivery" });

export const deliveryWithPayload = delivery
  .extend({
    payload: z.object({
      id: z.string(),
      type: deliveryEvent,
      timestamp: z.iso.datetime(),
      data: z.record(z.string(), z.unknown()),
    }),
  })
  .meta({ id: "WebhookDeliveryWithPayload" });

export const deliveryPath = z.object({ id: pathId(), delivery_id: pathId() });

export const deliveryList = listQuery(["created_at"], {
  status: z.enum(DELIVERY_STATUSES).optional(),
  type: deliveryEvent.optional(),
});

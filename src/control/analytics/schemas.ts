import * as z from "zod";
import { EVENT_TYPES, type EventType } from "../platform/events.ts";
import { listQuery, MAX_LIMIT, timestampParameter, wholeNumber } from "../platform/frame/list.ts";
import { timestamp } from "../platform/frame/schemas.ts";
import { cursorParameter } from "./records/trail.ts";

const text = (max: number) => z.string().min(1).max(max);
const count = z.int().nonnegative();

/** Names for several types of events at once. */
export const EVENT_FAMILIES = Object.groupBy(EVENT_TYPES, familyOf) as Readonly<
  Record<EventFamily, readonly EventType[]>
>;
export type EventFamily = FamilyOf<EventType>;

/** What stands before the point; `user.*` is called `authentication`. */
type FamilyOf<Type> = Type extends `user.${string}`
  ? "authentication"
  : Type extends `${infer Family}.${string}`
    ? Family
    : never;

function familyOf(type: EventType): EventFamily {
  const family = type.split(".", 1)[0] as EventFamily | "user";
  return family === "user" ? "authentication" : family;
}

const typeFilter = z
  .enum([...EVENT_TYPES, ...(Object.keys(EVENT_FAMILIES) as EventFamily[])])
  .optional()
  .meta({ description: "A type of event, or a family of types: `authentication` is all of `user.*`." });

export const eventsQuery = listQuery(["timestamp"], {
  type: typeFilter,
  customer_id: text(512).optional(),
  user_id: text(512).optional(),
  from: timestampParameter().optional(),
  to: timestampParameter().optional(),
  cursor: cursorParameter().optional(),
});
export type EventsQuery = z.output<typeof eventsQuery>;

/** As webhooks deliver it (specification, section 6). */
const event = z
  .object({
    id: z.string(),
    type: z.enum(EVENT_TYPES),
    timestamp: timestamp(),
    customer_id: z.string().nullable(),
    user_id: z.string().nullable(),
    data: z.looseObject({}),
  })
  .meta({ id: "Event" });

export const eventItems = z.array(event);

const MAX_FEED = 500;

export const feedQuery = z.strictObject({
  after: text(500).optional().meta({
    description:
      "The `cursor` of the previous answer; `latest` for events from now on. Without it, the feed begins with the oldest event.",
  }),
  limit: wholeNumber("limit", 1, MAX_FEED).prefault("100"),
  type: typeFilter,
  customer_id: text(512).optional(),
});
export type FeedQuery = z.output<typeof feedQuery>;

export const feedPart = z
  .object({
    events: z.array(event),
    cursor: z.string().meta({ description: "The `after` of the next call." }),
    more: z
      .boolean()
      .meta({ description: "There may be more already: continue at once, even if `events` is empty." }),
    waiting_since: timestamp().nullable().meta({
      description:
        "The time of the oldest event that cannot be shown yet, because a transaction that began before its own has not ended.",
    }),
  })
  .meta({ id: "EventFeed" });

export const dashboardQuery = z.strictObject({
  from: timestampParameter().optional(),
  to: timestampParameter().optional(),
  customer_id: text(512).optional(),
  interval: z.enum(["minute", "hour", "day"]).optional(),
  top: z
    .string()
    .regex(/^\d{1,3}$/, `\`top\` must be a whole number from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .refine((n) => n >= 1 && n <= MAX_LIMIT, `\`top\` must be a whole number from 1 to ${MAX_LIMIT}`)
    .meta({
      type: "integer",
      minimum: 1,
      maximum: MAX_LIMIT,
      description: "Entries of each list. Default: 10.",
    })
    .prefault("10"),
});
export type DashboardQuery = z.output<typeof dashboardQuery>;

const share = z.number().min(0).max(1).nullable();
const milliseconds = z.number().nonnegative().nullable();

export const dashboard = z
  .object({
    from: timestamp(),
    to: timestamp(),
    interval: z.enum(["minute", "hour", "day"]),
    customer_id: z.string().nullable(),
    requests: z.object({ total: count, allowed: count, denied: count }),
    by_reason: z.array(
      z.object({ decision: z.enum(["ALLOW", "DENY"]), reason: z.string(), requests: count }),
    ),
    by_resource: z.object({
      top: z.array(z.object({ resource: z.string().nullable(), requests: count, denied: count })),
      other: z.object({ requests: count, denied: count }),
    }),
    by_customer: z
      .object({
        top: z.array(z.object({ customer_id: z.string().nullable(), requests: count, denied: count })),
        other: z.object({ requests: count, denied: count }),
      })
      .nullable()
      .meta({ description: "null for a single customer." }),
    over_time: z.array(
      z.object({
        start: timestamp(),
        requests: count,
        allowed: count,
        denied: count,
        sign_ins: count,
        failures: count,
      }),
    ),
    sign_ins: z.object({ succeeded: count, failed: count, signed_out: count }),
    policy_violations: count,
    users: z.object({ active: count, last_day: count, last_week: count, last_month: count }),
    sessions: z.object({ active: count }),
    latency: z
      .object({ measured: count, p50_ms: milliseconds, p95_ms: milliseconds, p99_ms: milliseconds })
      .nullable()
      .meta({ description: "Of decisions, at most 9 % too high; null for a single customer." }),
    caches: z
      .array(
        z.object({
          name: z.string(),
          hits: count,
          misses: count,
          evictions: count,
          hit_rate: share,
          eviction_rate: share,
        }),
      )
      .nullable()
      .meta({ description: "Of gateways; null for a single customer." }),
    audit: z
      .object({ decided: count, recorded: count, dropped: count })
      .nullable()
      .meta({ description: "As reported by gateways; null for a single customer." }),
  })
  .meta({ id: "Analytics" });
export type Dashboard = z.input<typeof dashboard>;

export const usersQuery = listQuery(
  ["last_seen_at", "requests", "denied", "sign_ins", "first_seen_at", "user_id"],
  {
    customer_id: text(512).optional(),
    seen_since: timestampParameter().optional(),
  },
);
export type UsersQuery = z.output<typeof usersQuery>;

const activity = { requests: count, denied: count, sign_ins: count };

const userActivity = z
  .object({
    user_id: z.string(),
    customer_id: z.string().nullable(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    ...activity,
    first_seen_at: timestamp(),
    last_seen_at: timestamp(),
    recent: z.object(activity).meta({ description: "Of the last 30 days (UTC), today included." }),
  })
  .meta({ id: "UserActivity" });

export const userItems = z.array(userActivity);

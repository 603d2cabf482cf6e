import { onlyCustomerOf, type Actor } from "../platform/actor.ts";
import type { ControlContext } from "../platform/context.ts";
import { invalidCustomer } from "../platform/errors.ts";
import type { EventType } from "../platform/events.ts";
import { ok, page, readRoute, type Answer, type Call, type Route } from "../platform/frame/route.ts";
import { keptSince } from "./records/partitions.ts";
import { readTrail, TRAIL_HEADERS } from "./records/trail.ts";
import { readDashboard } from "./dashboard.ts";
import { readFeed } from "./event-feed.ts";
import { countEvents, eventRows, type EventFilters, type EventRow } from "./events.ts";
import {
  dashboard,
  dashboardQuery,
  EVENT_FAMILIES,
  eventItems,
  eventsQuery,
  feedPart,
  feedQuery,
  userItems,
  usersQuery,
  type EventFamily,
  type EventsQuery,
} from "./schemas.ts";
import { readUsers } from "./users.ts";

/** The event history, the dashboard, and user activity. */
export function analyticsRoutes(context: ControlContext): Route[] {
  const { db, box, clock, settings } = context;
  const common = { method: "get", tag: "Analytics", group: "analytics", permission: "read" } as const;
  const whose = { tenancy: "handler", errors: ["INVALID_CUSTOMER"] } as const;
  return [
    readRoute({
      ...common,
      ...whose,
      path: "/analytics/dashboard",
      operation: "getAnalytics",
      summary: "Read the metrics of the dashboard",
      description: DASHBOARD,
      query: dashboardQuery,
      answers: { 200: dashboard },
      read: async ({ query, actor }) => {
        const customer = customerOf(query.customer_id, actor);
        return ok(await readDashboard(db, { ...query, customer_id: customer }, clock(), settings.retention));
      },
    }),
    readRoute({
      ...common,
      ...whose,
      path: "/analytics/events",
      operation: "listEvents",
      summary: "List the history of events",
      description:
        "Newest first. Pages reach the first 10,000 events; the header `X-Next-Cursor` of a page is the `cursor` of the next one at any depth. `X-Total-Exact` is `false` if there are more than `total_items`, which is possible with `user_id`.",
      query: eventsQuery,
      answers: { 200: eventItems },
      headers: TRAIL_HEADERS,
      paginated: true,
      read: (call) => readEvents(context, call),
    }),
    readRoute({
      ...common,
      tag: "Events",
      group: "management",
      tenancy: "handler",
      errors: ["INVALID_CUSTOMER", "CURSOR_EXPIRED"],
      path: "/events",
      operation: "getEventFeed",
      summary: "Follow events",
      description: FEED,
      query: feedQuery,
      answers: { 200: feedPart },
      read: async ({ query: { after, limit, type, customer_id }, actor }) => {
        const source = { db, box, now: clock(), keptMs: settings.retention.eventsMs };
        const types = type === undefined ? undefined : typesOf(type);
        return ok(await readFeed(source, { after, limit, types, customer: customerOf(customer_id, actor) }));
      },
    }),
    readRoute({
      ...common,
      ...whose,
      path: "/analytics/users",
      operation: "listUserActivity",
      summary: "List user activity",
      description: "Users who made requests or signed in, with totals since they were first seen.",
      query: usersQuery,
      answers: { 200: userItems },
      paginated: true,
      read: async ({ query, actor }) => {
        const customer = customerOf(query.customer_id, actor);
        const { items, total } = await readUsers(db, { ...query, customer_id: customer }, clock());
        return page(items, { ...query, total });
      },
    }),
  ];
}

const FEED =
  `Oldest first, in the order of their transactions. Continue with \`cursor\`: no event is missed, and none comes twice, however many
are written meanwhile. Call again at once while \`more\` is true, otherwise after a few seconds. An event appears when no transaction
that began before its own is still writing. 410 if events after the cursor are no longer kept, or the database was restored from a
backup.`.replaceAll("\n", " ");

const DASHBOARD =
  `Counts of the last day, or of a range, in whole periods of \`interval\`: \`from\` and \`to\` of the answer
are the actual range. Counts per minute are kept for 8 days, per hour for 100 days, per day for two years. For one customer,
counts per hour are kept for 8 days and per day for 100, and there are none of latency, caches and audit, which belong to
gateways. \`sessions.active\` and the last day, week and month of \`users\` are current. In a range that has ended, active
users are counted by whole days.`.replaceAll("\n", " ");

async function readEvents(
  { db, clock, settings }: ControlContext,
  { query, actor }: Call<undefined, EventsQuery, undefined>,
): Promise<Answer> {
  const now = clock();
  const since = keptSince(now, settings.retention.eventsMs);
  const filters: EventFilters = {
    from: Math.max(query.from?.getTime() ?? since, since),
    to: query.to?.getTime() ?? Number.POSITIVE_INFINITY,
    types: query.type === undefined ? undefined : typesOf(query.type),
    customer: customerOf(query.customer_id, actor),
    user: query.user_id,
  };
  const [read, { total, exact }] = await Promise.all([
    readTrail<EventRow>(eventRows(db, filters), "events", query),
    countEvents(db, filters, now, settings.retention),
  ]);
  const headers = {
    "x-total-exact": String(exact),
    ...(read.next !== undefined && { "x-next-cursor": read.next }),
  };
  const answer = page(read.rows, { ...query, total });
  return answer.kind === "data" ? { ...answer, headers } : answer;
}

function typesOf(type: EventType | EventFamily): readonly EventType[] {
  return type in EVENT_FAMILIES ? EVENT_FAMILIES[type as EventFamily] : [type as EventType];
}

/** The requested customer. @throws ApiError 404 if the key is limited to another one */
function customerOf(asked: string | undefined, actor: Actor): string | undefined {
  const only = onlyCustomerOf(actor);
  if (only !== undefined && asked !== undefined && asked !== only) throw invalidCustomer(asked, "path");
  return only ?? asked;
}

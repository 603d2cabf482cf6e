import type { Knex } from "knex";
import * as z from "zod";
import { isObject } from "../../json/index.ts";
import { eventRows, type EventRow } from "../analytics/events.ts";
import { eventItems } from "../analytics/schemas.ts";
import { logEntries } from "../analytics/audit/schemas.ts";
import { entryOf, selectInputs, withoutMaker, type AuditRow } from "../analytics/audit/store.ts";
import { CHANGES_OF_USER } from "../platform/changes-of-user.ts";
import type { ControlContext } from "../platform/context.ts";
import { REFUSED_SIGN_INS, subjectDetail, withoutAddresses } from "../platform/personal-data.ts";
import { timestamp } from "../platform/frame/schemas.ts";
import { inputsKeptMs, keptSince } from "../analytics/records/partitions.ts";
import { exportTrail } from "../analytics/records/trail.ts";
import { sessionAnswer, sessionSchema } from "../resources/sessions/schemas.ts";
import { currentSession, sessionColumns, type StoredSession } from "../resources/sessions/endings.ts";
import { userData } from "../resources/users/schemas.ts";
import { presentUsers } from "../resources/users/service.ts";
import type { UserRow } from "../resources/users/store.ts";

/** Everything that is kept of one user. */
export const userExport = z
  .object({
    exported_at: timestamp(),
    user: userData.extend({
      claimed: z.record(z.string(), z.unknown()).nullable().meta({
        description:
          "All claims of the identity provider at `claimed_at`; `null` if they are those in `profile`.",
      }),
      claimed_at: timestamp().nullable().meta({
        description: "If it differs from `last_sign_in_at`, `profile` has all claims of the last sign-in.",
      }),
    }),
    activity: z
      .object({
        requests: z.int(),
        denied: z.int(),
        sign_ins: z.int(),
        first_seen_at: timestamp(),
        last_seen_at: timestamp(),
      })
      .nullable(),
    sessions: sessionSchema.array(),
    events: eventItems,
    refusals: eventItems.describe(
      "sign-ins refused before the user existed, found by the `sub` of the identity provider",
    ),
    decisions: logEntries.describe(
      "decisions on the user's requests, and their outcomes; without `trace` and `detail`, which may contain data about others, and with the e-mail addresses of others as `***`",
    ),
    changes: logEntries.describe(
      "changes to the user and to their sessions; the person or key that made a change is identified only by id",
    ),
  })
  .meta({ id: "UserExport" });

const CHUNK = 1_000;
/** Kinds of rows that are about a user's requests. */
const OF_REQUESTS: readonly AuditRow["kind"][] = ["decision", "response", "connection", "shadow"];

interface ExportOptions {
  readonly now: Date;
  /** The customer that the caller is limited to. It must not see what was recorded for others under the user's id. */
  readonly only: string | undefined;
}

/**
 * Writes it as one JSON document, part by part: nothing is held in memory but a thousand rows. Oldest first; what happens
 * meanwhile is not in it.
 */
export async function* exportUser(
  { db, settings }: Pick<ControlContext, "db" | "settings">,
  row: UserRow,
  { now, only }: ExportOptions,
): AsyncGenerator<string> {
  const activity = await db("rollup_users")
    .where({ customer_id: row.customer_id, user_id: row.id })
    .first<object | undefined>("requests", "denied", "sign_ins", "first_seen_at", "last_seen_at");
  const [presented] = await presentUsers({ settings }, db, [row]);
  const user = userExport.shape.user.parse(presented);
  yield `{${member("exported_at", now)},${member("user", user)},${member("activity", activity ?? null)}`;
  yield* list("sessions", sessionsOf(db, row, now));
  const { auditMs, eventsMs } = settings.retention;
  const kept = { from: keptSince(now.getTime(), eventsMs), to: now.getTime() + 1 };
  yield* list("events", eventsOf(eventRows(db, { ...kept, customer: only, user: row.id }), row));
  const refused = eventRows(db, { ...kept, customer: row.customer_id, types: REFUSED_SIGN_INS }).whereNull(
    "user_id",
  );
  yield* list("refusals", refusalsOf(refused, row));
  const records = () => {
    const query = db("audit_records")
      .where("timestamp", ">=", new Date(keptSince(now.getTime(), auditMs)))
      .where("timestamp", "<=", now);
    return only === undefined ? query : query.where({ customer_id: only });
  };
  const decisions = records()
    .where({ user_id: row.id })
    .whereNot({ user_id: "" })
    // a later release that runs beside this one may write others, which this one cannot present
    .whereIn("kind", [...OF_REQUESTS]);
  selectInputs(db, decisions, keptSince(now.getTime(), inputsKeptMs(settings.retention)));
  yield* list("decisions", decisionsOf(decisions, row));
  const changes = records().whereRaw(CHANGES_OF_USER, { id: row.id });
  yield* list("changes", changesOf(changes));
  yield "}";
}

function member(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

async function* list(name: string, items: AsyncIterable<unknown>): AsyncGenerator<string> {
  yield `,${JSON.stringify(name)}:[`;
  let separator = "";
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ",";
  }
  yield "]";
}

async function* sessionsOf(db: Knex, { id }: UserRow, now: Date): AsyncGenerator {
  let after: readonly [Date, string] | undefined;
  for (;;) {
    const query = db("sessions")
      .select(...sessionColumns(db))
      .where({ user_id: id })
      .where("created_at", "<=", now)
      .orderBy(["created_at", "id"])
      .limit(CHUNK);
    if (after !== undefined) void query.whereRaw("(created_at, id) > (?, ?)", [...after]);
    const rows = (await query) as StoredSession[];
    for (const row of rows) yield sessionSchema.parse(sessionAnswer(currentSession(row), now));
    const last = rows.at(-1);
    if (rows.length < CHUNK || last === undefined) return;
    after = [last.created_at, last.id];
  }
}

async function* eventsOf(events: Knex.QueryBuilder, user: UserRow): AsyncGenerator {
  for await (const event of exportTrail<EventRow>(events, "events", { order: "asc" })) {
    const { detail } = event.data;
    if (typeof detail !== "string") yield event;
    else yield { ...event, data: { ...event.data, detail: ofUserAlone(detail, user) } };
  }
}

/**
 * Looked through here, for no index finds them: a statement that finds few would take too long. A detail that is not the whole `sub`
 * may be another's.
 */
async function* refusalsOf(refusals: Knex.QueryBuilder, { subject }: UserRow): AsyncGenerator {
  const theirs = subjectDetail(subject);
  if (theirs !== `sub ${subject}`) return;
  for await (const event of exportTrail<EventRow>(refusals, "events", { order: "asc" }))
    if (event.data["detail"] === theirs) yield event;
}

/** What a rule has looked up may be about others: their attributes stand in the explanation. */
async function* decisionsOf(rows: Knex.QueryBuilder, user: UserRow): AsyncGenerator {
  for await (const row of exportTrail<AuditRow>(rows, "audit_records", { order: "asc" })) {
    const { trace, detail, candidate_detail, ...entry } = entryOf(row);
    // of an outcome it is a code
    const kept = row.kind === "decision" ? { ...entry, ...ownInputs(entry["inputs"]) } : { ...entry, detail };
    yield JSON.parse(JSON.stringify(kept), (_, value: unknown) =>
      typeof value === "string" ? ofUserAlone(value, user) : value,
    );
  }
}

/** Of what the rules read, the user's own attributes: a look-up may be about others. */
function ownInputs(inputs: unknown): object {
  if (!isObject(inputs)) return {};
  const { values } = inputs;
  const own = Object.entries(isObject(values) ? values : {}).filter(([name]) => /^user[.[]/.test(name));
  return { inputs: { values: Object.fromEntries(own) } };
}

/** Hides all addresses but the user's own. */
function ofUserAlone(text: string, { email }: UserRow): string {
  const own = email?.toLowerCase();
  return withoutAddresses(text, (read) => read.toLowerCase() === own);
}

/** Who changed something of the user is another person: their name and address are not the user's to have. */
async function* changesOf(rows: Knex.QueryBuilder): AsyncGenerator {
  for await (const row of exportTrail<AuditRow>(rows, "audit_records", { order: "asc" })) {
    const entry = entryOf(row);
    const { kind } = entry["actor"] as { readonly kind: string };
    yield kind === "anonymous" ? entry : withoutMaker(entry);
  }
}

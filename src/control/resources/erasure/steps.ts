import type { Knex } from "knex";
import { inSlices } from "../../../runtime/in-slices.ts";
import { CHANGES_OF_USER } from "../../platform/changes-of-user.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { eraseDeliveries, hiddenDetail } from "./deliveries.ts";
import {
  ERASED_USER,
  type ErasureKind,
  type ErasureRow,
  type ErasurePosition,
  type StepName,
} from "./store.ts";
import {
  IMPERSONAL_DATA,
  IMPERSONAL_BY_KIND,
  IMPERSONAL_OUTCOME,
  REFUSED_SIGN_INS,
  subjectDetail,
  withoutAddresses,
} from "../../platform/personal-data.ts";

/** Rows of one transaction. */
const BATCH = 1_000;
/** The same where rows are only looked at. */
const WINDOW = 5_000;

/** What one transaction has done. */
export interface Batch {
  /** Rows that were looked at. */
  readonly rows: number;
  /** Where the next one goes on; `undefined`: the step is done. */
  readonly position: ErasurePosition | undefined;
}

interface Key {
  readonly at: string;
  readonly id: string;
  readonly kind?: string;
}

type Step<Of = ErasureRow> = (unit: UnitOfWork, of: Of) => Promise<Batch>;

interface Owned extends Key {
  readonly customer_id: string | null;
}

/**
 * Each step erases some rows, those behind the erasure's position, and can do so again: an erasure that was interrupted goes
 * on where it was, and running one concurrently does no harm.
 */
export const ERASE: Readonly<Record<StepName, Step>> = {
  users: eraseUsers,
  sessions: eraseSessions,
  events: eraseEvents,
  refusals: eraseRefusals,
  deliveries: eraseLastingDeliveries,
  records: ({ trx }, erasure) => eraseRecords(trx, erasure, whose(erasure)),
  changes: ({ trx }, erasure) => eraseRecords(trx, erasure, CHANGES_OF_USER),
  acts: ({ trx }, erasure) =>
    updateRecords(trx, erasure, "user_id = :id and user_id <> '' and kind = 'change'", [
      "record = r.record #- '{actor,name}'",
    ]),
  membership: ({ trx }, erasure) =>
    updateRecords(trx, erasure, "kind = 'change' and resource = 'dashboard_user/' || :id::text", [
      "record = r.record #- '{before,email}' #- '{before,name}' #- '{after,email}' #- '{after,name}'",
    ]),
  keys: eraseMakers,
  user_events: ofEachUser(eraseEvents),
  user_deliveries: ofEachUser(eraseLastingDeliveries),
  user_records: ofEachUser(({ trx }, erasure) => eraseRecords(trx, erasure, whose(erasure))),
};

/** Users of one transaction. */
const USERS = 100;

/**
 * A step for each user of a customer: what names them may have been recorded under another customer, or under none. The
 * position is that of the user, and of the row where there are more of theirs.
 */
function ofEachUser(step: Step<Subject>): Step {
  return async (unit, erasure) => {
    const [after = "", ...within] = erasure.position ?? [];
    const users = await unit
      .trx("users")
      .where({ customer_id: erasure.id })
      .where("id", within.length === 0 ? ">" : ">=", after)
      .orderBy("id")
      .limit(USERS)
      .pluck<string[]>("id");
    let rows = 0;
    for (const id of users) {
      const position = id === after ? within : null;
      const done = await step(unit, { ...erasure, id, kind: "member", position });
      rows += done.rows;
      if (done.position !== undefined) return { rows, position: [id, ...done.position] };
      if (rows >= BATCH) return { rows, position: [id] };
    }
    const last = users.length < USERS ? undefined : users.at(-1);
    return { rows, position: last === undefined ? undefined : [last] };
  };
}

/** What a step works on: an erasure, or one of the users of a customer's. */
type Subject = Omit<ErasureRow, "kind"> & { readonly kind: ErasureKind | "member" };

/** A condition on the rows of a user, or of a customer's users. */
function whose({ kind }: Subject): string {
  // as the conditions of the indexes have it
  return kind === "customer" ? "customer_id = :id" : "user_id = :id and user_id <> ''";
}

/** What is recorded under the customer of a member is erased with the customer's. */
function theirsOf<Row extends { readonly customer_id: string | null }>(
  { kind, customer_id: customer }: Subject,
  rows: readonly Row[],
): readonly Row[] {
  return kind === "member" ? rows.filter((row) => row.customer_id !== customer) : rows;
}

async function eraseUsers({ trx, now }: UnitOfWork, { id, kind }: ErasureRow): Promise<Batch> {
  if (kind === "customer") await trx("sandbox_people").where({ customer_id: id }).delete();
  const { length: rows } = await trx("users")
    .whereIn(
      "id",
      trx("users")
        .where({ [kind === "customer" ? "customer_id" : "id"]: id })
        .whereNull("erased_at")
        .orderBy("id")
        .limit(BATCH)
        .select("id")
        .forUpdate(),
    )
    .update({
      ...{ ...ERASED_USER, subject: trx.ref("id"), erased_at: now },
      ...{ updated_at: now, revision: trx.raw("revision + 1") },
    })
    .returning("id");
  return { rows, position: rows < BATCH ? undefined : [] };
}

async function eraseSessions({ trx }: UnitOfWork, erasure: ErasureRow): Promise<Batch> {
  const { rows } = await trx.raw<{ rows: Key[] }>(
    `with found as (
       select id, created_at from sessions
       where ${whose(erasure)} and (created_at, id) > (:at::timestamptz, :after)
       order by created_at, id limit :limit for update
     ), done as (
       update sessions s set ip_address = '', user_agent = '', id_token = null, acr = null
       from found where s.id = found.id
     )
     select created_at::text as at, id from found order by created_at, id`,
    bindingsOf(erasure),
  );
  return batchOf(rows);
}

/** The first part says by itself which partitions need not be looked at. */
const BEHIND = `"timestamp" >= :at::timestamptz and ("timestamp", id) > (:at::timestamptz, :after)`;

async function eraseEvents({ trx }: UnitOfWork, erasure: Subject): Promise<Batch> {
  const { rows } = await trx.raw<{ rows: (Owned & { detail: string | null })[] }>(
    `select "timestamp"::text as at, id, customer_id, data ->> 'detail' as detail from events
     where ${whose(erasure)} and ${BEHIND}
     order by "timestamp", id limit :limit`,
    bindingsOf(erasure),
  );
  const theirs = theirsOf(erasure, rows);
  await trx.raw(
    `update events e set data = (
           select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(e.data) where key = any(:kept)
         )
         || case when e.data -> 'user' is null then '{}'
              else jsonb_build_object('user', (e.data -> 'user') - 'email') end
         || case when e.data -> 'session' is null then '{}'
              else jsonb_build_object('session', e.data -> 'session' || '{"ip_address":"","user_agent":""}') end
         || case when found.detail is null then '{}' else jsonb_build_object('detail', found.detail) end
     from unnest(:times::timestamptz[], :ids::text[], :details::text[]) as found (at, id, detail)
     where e."timestamp" = found.at and e.id = found.id`,
    {
      ...keysOf(theirs),
      details: await inSlices(theirs, ({ detail }) => (detail === null ? null : hiddenDetail(detail))),
      kept: [...IMPERSONAL_DATA],
    },
  );
  await eraseDeliveries(
    trx,
    theirs.map(({ id }) => id),
  );
  return { ...batchOf(rows), rows: theirs.length };
}

/**
 * Sign-ins that were refused before the user existed contain the provider's identifier of the person. Versions before
 * kept addresses in what a provider said of a refusal: nobody's stays.
 */
async function eraseRefusals({ trx }: UnitOfWork, erasure: ErasureRow): Promise<Batch> {
  const { customer_id: customer, subject } = erasure;
  if (subject === null || customer === null) return { rows: 0, position: undefined };
  const { rows } = await trx.raw<{ rows: (Key & { detail: string | null })[] }>(
    `select "timestamp"::text as at, id, data ->> 'detail' as detail
     from events where customer_id = :customer and user_id is null and ${BEHIND}
     order by "timestamp", id limit :limit`,
    { ...bindingsOf(erasure, WINDOW), customer },
  );
  const looked = await inSlices(rows, (row) => ({ ...row, masked: maskedRefusal(row.detail, subject) }));
  const theirs = looked.filter(({ detail, masked }) => masked !== detail);
  for (const { at, id, masked } of theirs)
    await trx.raw(
      `update events set data = data || jsonb_build_object('detail', ?::text)
       where "timestamp" = ?::timestamptz and id = ?`,
      [masked, at, id],
    );
  await eraseDeliveries(
    trx,
    theirs.map(({ id }) => id),
  );
  return { ...batchOf(rows, WINDOW), rows: theirs.length };
}

/** What is kept of why a sign-in was refused; where it is about another, all of it. */
function maskedRefusal(detail: string | null, subject: string): string | null {
  const isAnothers = detail === null || (detail.startsWith("sub ") && detail !== subjectDetail(subject));
  return isAnothers ? detail : hiddenDetail(detail);
}

const USER_TOLD = "(payload::jsonb #>> '{data,user,id}')";
const CUSTOMER_TOLD =
  "coalesce(payload::jsonb #>> '{data,user,customer_id}', payload::jsonb #>> '{data,customer,id}')";

/**
 * Erases deliveries whose events may have been pruned, because events may be kept for a shorter time. Their payloads name
 * the user or customer.
 */
async function eraseLastingDeliveries({ trx }: UnitOfWork, erasure: Subject): Promise<Batch> {
  const { id, kind, customer_id: customer, subject, position } = erasure;
  const told = kind === "customer" ? CUSTOMER_TOLD : USER_TOLD;
  const { rows } = await trx.raw<{ rows: { id: string; is_theirs: boolean; detail: string | null }[] }>(
    `select distinct on (event_id) event_id as id, coalesce(${told} = :id, false) as is_theirs,
       payload::jsonb #>> '{data,detail}' as detail
     from webhook_deliveries
     where (${told} = :id
         or ${CUSTOMER_TOLD} = :refusedBy and event_type = any(:refused) and ${USER_TOLD} is null)
       and event_id > :after
     order by event_id limit :limit`,
    {
      ...{ id, after: position?.[0] ?? "", limit: BATCH },
      ...{ refusedBy: subject === null ? null : customer, refused: [...REFUSED_SIGN_INS] },
    },
  );
  const theirs = await inSlices(
    rows,
    ({ is_theirs: all, detail }) => all || maskedRefusal(detail, subject ?? "") !== detail,
  );
  await eraseDeliveries(
    trx,
    rows.filter((_, index) => theirs[index]).map((row) => row.id),
  );
  const last = rows.length < BATCH ? undefined : rows.at(-1);
  return { rows: rows.length, position: last && [last.id] };
}

/** A change of a user, or of one of the sandbox's people. */
const OF_USER = `(r.kind = 'change' and (starts_with(r.resource, 'user/') or starts_with(r.resource, 'sandbox_person/')))`;
/** By the user's own browser, at a sign-in or at its end: nobody else is named by an address. */
const BY_THEMSELVES = `((${OF_USER} or (r.kind = 'change' and starts_with(r.resource, 'session/')))
  and r.record #>> '{actor,kind}' = 'anonymous')`;

/** Decisions, their outcomes, and changes of users and sessions: what `withoutPerson` does. Of all others nothing changes. */
function eraseRecords(trx: Knex.Transaction, erasure: Subject, condition: string): Promise<Batch> {
  return updateRecords(trx, erasure, condition, [
    `client_ip = case when r.kind = 'decision' or ${BY_THEMSELVES} then '' else r.client_ip end`,
    `user_id = case when ${BY_THEMSELVES} then '' else r.user_id end`,
    "resource = case when r.kind in ('decision', 'shadow') then found.hidden else r.resource end",
    `record = case
       when r.kind <> 'change' then (
         select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(r.record)
         where key = any(case r.kind when 'decision' then :decision::text[] when 'shadow' then :shadow::text[]
           else :outcome::text[] end)
       )
       else r.record - case when ${OF_USER} then '{before,after}'::text[] else '{}'::text[] end
         || case when ${BY_THEMSELVES} then '{"actor":{"kind":"anonymous","id":""}}'::jsonb else '{}'::jsonb end
       end`,
  ]);
}

async function updateRecords(
  trx: Knex.Transaction,
  erasure: Subject,
  condition: string,
  changes: readonly string[],
): Promise<Batch> {
  const { rows } = await trx.raw<{ rows: (Owned & { resource: string })[] }>(
    `select "timestamp"::text as at, id, kind, customer_id, resource from audit_records
     where ${condition} and "timestamp" >= :at::timestamptz
       and ("timestamp", id, kind) > (:at::timestamptz, :after, :kind)
     order by "timestamp", id, kind limit :limit`,
    bindingsOf(erasure),
  );
  const theirs = theirsOf(erasure, rows);
  await trx.raw(
    `update audit_records r set ${changes.join(", ")}
     from unnest(:times::timestamptz[], :ids::text[], :kinds::text[], :hidden::text[]) as found (at, id, kind, hidden)
     where r."timestamp" = found.at and r.id = found.id and r.kind = found.kind`,
    {
      ...keysOf(theirs),
      hidden: await inSlices(theirs, ({ resource }) => withoutAddresses(resource)),
      ...{ decision: [...IMPERSONAL_BY_KIND.decision], shadow: [...IMPERSONAL_BY_KIND.shadow] },
      outcome: [...IMPERSONAL_OUTCOME],
    },
  );
  await trx.raw(
    `delete from record_inputs i using unnest(:times::timestamptz[], :ids::text[], :kinds::text[]) as found (at, id, kind)
     where i."timestamp" = found.at and i.id = found.id and found.kind = 'decision'`,
    keysOf(theirs),
  );
  return { ...batchOf(rows), rows: theirs.length };
}

/** Who made keys and clients and published sets: few rows, and found by no index. */
async function eraseMakers({ trx }: UnitOfWork, { id }: ErasureRow): Promise<Batch> {
  for (const [table, column] of [
    ["api_keys", "created_by"],
    ["clients", "created_by"],
    ["policy_set_versions", "published_by"],
    ["policy_rollouts", "started_by"],
    ["policy_rollouts", "ended_by"],
  ] as const)
    await trx.raw("update ?? set ?? = ?? - 'name' where ?? ->> 'id' = ?", [
      table,
      column,
      column,
      column,
      id,
    ]);
  return { rows: 0, position: undefined };
}

function bindingsOf({ id, position }: Subject, limit = BATCH) {
  const [at = "-infinity", after = "", kind = ""] = position ?? [];
  return { id, at, after, kind, limit };
}

/** Columns for `unnest`. */
function keysOf(rows: readonly Key[]) {
  return {
    times: rows.map(({ at }) => at),
    ids: rows.map(({ id }) => id),
    kinds: rows.map(({ kind = "" }) => kind),
  };
}

function batchOf(rows: readonly Key[], limit = BATCH): Batch {
  const last = rows.length < limit ? undefined : rows.at(-1);
  if (last === undefined) return { rows: rows.length, position: undefined };
  const { at, id, kind } = last;
  return { rows: rows.length, position: [at, id, ...(kind === undefined ? [] : [kind])] };
}

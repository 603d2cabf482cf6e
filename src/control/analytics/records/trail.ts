import type { Knex } from "knex";
import * as z from "zod";
import { ApiError } from "../../platform/errors.ts";
import { isStorable } from "../../platform/frame/json-text.ts";
import type { AnswerHeader } from "../../platform/frame/route.ts";
import { isCanceled } from "../../../storage/index.ts";
import type { DailyTable } from "./partitions.ts";

/** Tables that are read in the order of time. */
export type Trail = Exclude<DailyTable, "record_inputs">;

/** The columns that order a trail: time first, then columns that distinguish records of the same time. */
const KEYS = {
  audit_records: ["timestamp", "id", "kind"],
  events: ["timestamp", "id"],
} as const satisfies Record<Trail, readonly string[]>;

/** The number of records that pages reach. Deeper ones are read by cursor, which costs the same at any depth. */
export const REACH = 10_000;
const EXPORT_CHUNK = 1000;
/** The end of the year 9999, Unix ms: nothing that was stored is later. */
const LATEST = 253_402_300_799_999;

export interface TrailRequest {
  readonly page: number;
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly cursor?: TrailPosition | undefined;
}

export interface TrailPage<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page. */
  readonly next: string | undefined;
}

/** Where to continue: the key of the last record that was read. */
export type TrailPosition = readonly [Date, ...string[]];

/** What {@link readTrail} adds to the answers of its routes. */
export const TRAIL_HEADERS = {
  "X-Next-Cursor": {
    description: "The `cursor` of the next page, if there is one.",
    type: "string",
    required: false,
  },
  "X-Total-Exact": {
    description: "`false` if there are more than `total_items`. An export has no total.",
    type: "boolean",
    required: false,
  },
} as const satisfies Readonly<Record<string, AnswerHeader>>;

/** Any record with its key. */
type Keyed = Readonly<Record<string, unknown>> & { readonly timestamp: Date };

/**
 * Reads one page of a trail, by its number or from a cursor on.
 *
 * @param query - the filtered records, without order and limit
 */
export async function readTrail<Row extends Keyed>(
  query: Knex.QueryBuilder,
  table: Trail,
  { page, limit, order, cursor }: TrailRequest,
): Promise<TrailPage<Row>> {
  if (cursor !== undefined && page !== 1)
    throw notValid("page", "`page` and `cursor` cannot be used together");
  if (page * limit > REACH)
    throw notValid(
      "page",
      `pages reach only the first ${REACH} records; use \`cursor\`, or narrow \`from\` and \`to\``,
    );
  const ordered = inOrder(
    cursor === undefined ? query.clone() : after(query.clone(), table, order, cursor),
    table,
    order,
  );
  const found = (await orTooMany(ordered.limit(limit + 1).offset((page - 1) * limit))) as Row[];
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows,
    next: found.length > limit && last !== undefined ? encodeCursor(keyOf(last, table)) : undefined,
  };
}

/** Reads a whole trail, a thousand records at a time, without locks and without holding it in memory. */
export async function* exportTrail<Row extends Keyed>(
  query: Knex.QueryBuilder,
  table: Trail,
  { order, cursor }: Pick<TrailRequest, "order" | "cursor">,
): AsyncGenerator<Row> {
  let position = cursor;
  for (;;) {
    const rest = position === undefined ? query.clone() : after(query.clone(), table, order, position);
    const rows = (await orTooMany(inOrder(rest, table, order).limit(EXPORT_CHUNK))) as Row[];
    yield* rows;
    const last = rows.at(-1);
    if (rows.length < EXPORT_CHUNK || last === undefined) return;
    position = keyOf(last, table);
  }
}

/** Counts records, up to what pages reach. */
export async function countWithin(
  query: Knex.QueryBuilder,
  db: Knex,
): Promise<{ total: number; exact: boolean }> {
  const some = query
    .clone()
    .clearSelect()
    .clearOrder()
    .select(db.raw("1"))
    .limit(REACH + 1);
  const rows = await orTooMany(db.from(some.as("some")).count({ total: "*" }));
  const total = (rows as { total: number }[])[0]?.total ?? 0;
  return { total: Math.min(total, REACH), exact: total <= REACH };
}

/** The `cursor` parameter. */
export function cursorParameter() {
  return z
    .string()
    .max(1000)
    .transform((text, context) => {
      const position = decodeCursor(text);
      if (position !== undefined) return position;
      context.addIssue("is not a cursor from a previous page");
      return z.NEVER;
    })
    .meta({ type: "string", maxLength: 1000, description: "`X-Next-Cursor` of the previous page." });
}

function keyOf(row: Keyed, table: Trail): TrailPosition {
  const [, ...rest] = KEYS[table];
  return [row.timestamp, ...rest.map((name) => String(row[name]))];
}

function inOrder(query: Knex.QueryBuilder, table: Trail, order: "asc" | "desc"): Knex.QueryBuilder {
  return query.orderBy(KEYS[table].map((column) => ({ column, order })));
}

function after(
  query: Knex.QueryBuilder,
  table: Trail,
  order: "asc" | "desc",
  position: TrailPosition,
): Knex.QueryBuilder {
  const names = KEYS[table];
  if (position.length !== names.length) throw notValid("cursor", "is not a cursor for this list");
  const beyond = order === "desc" ? "<" : ">";
  return (
    query
      // this condition alone lets PostgreSQL skip partitions
      .where("timestamp", `${beyond}=`, position[0])
      .whereRaw(`(${names.map(() => "??").join(", ")}) ${beyond} (${names.map(() => "?").join(", ")})`, [
        ...names,
        ...position,
      ])
  );
}

function encodeCursor([timestamp, ...rest]: TrailPosition): string {
  return Buffer.from(JSON.stringify([timestamp.getTime(), ...rest])).toString("base64url");
}

function decodeCursor(text: string): TrailPosition | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (!Array.isArray(parsed) || parsed.length > 3) return undefined;
    const [time, ...rest] = parsed as unknown[];
    if (typeof time !== "number" || !Number.isInteger(time) || time < 0 || time > LATEST) return undefined;
    if (!rest.every((part) => typeof part === "string" && isStorable(part))) return undefined;
    return [new Date(time), ...(rest as string[])];
  } catch {
    return undefined;
  }
}

async function orTooMany(query: Knex.QueryBuilder): Promise<unknown> {
  try {
    return await query;
  } catch (error) {
    if (isCanceled(error))
      throw notValid("from", "too many records to search in time: narrow `from` and `to`", error);
    throw error;
  }
}

/** A parameter of the query that cannot be used. */
export function notValid(parameter: string, message: string, cause?: unknown): ApiError {
  return new ApiError("INVALID_PARAMETER", {
    message: `the parameter \`${parameter}\` of the query is not valid: ${message}`,
    details: { parameters: [{ parameter, message }] },
    cause,
  });
}

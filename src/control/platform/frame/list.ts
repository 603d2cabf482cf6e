import type { Knex } from "knex";
import * as z from "zod";

/** The bounds of specification 4.6, and ours where it leaves them open. */
export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;
/** With it, the largest offset is still a number that PostgreSQL accepts. */
const MAX_PAGE = 1_000_000;

/** A parameter that is a whole number in decimal, of at most seven digits. */
export const wholeNumber = (name: string, min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,7}$/, `\`${name}\` must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `\`${name}\` must be a whole number from ${min} to ${max}`)
    .meta({ type: "integer", minimum: min, maximum: max });

/**
 * The query parameters of a list: page, limit, sort, order, and its own filters.
 *
 * @param sortable - the values of `sort`; the first one is the default
 */
export function listQuery<const S extends readonly [string, ...string[]], F extends z.ZodRawShape>(
  sortable: S,
  filters: F,
) {
  return z.strictObject({
    page: wholeNumber("page", 1, MAX_PAGE).prefault("1"),
    limit: wholeNumber("limit", 1, MAX_LIMIT).prefault(String(DEFAULT_LIMIT)),
    sort: z.enum(sortable).default(sortable[0] as S[number]),
    order: z.enum(["asc", "desc"]).default("desc"),
    ...filters,
  });
}

/** The parsed parameters of a list. */
export interface ListRequest {
  readonly page: number;
  readonly limit: number;
  readonly sort: string;
  readonly order: "asc" | "desc";
}

/** Facts that make a list cheaper. */
export interface PageOptions {
  /** The number of all rows, if it is known without counting. */
  readonly total?: () => Promise<number>;
}

/**
 * Reads one page and the number of all rows. Rows with equal keys have a fixed order, by their id.
 *
 * The ids of the page are found first, by an index alone and from the nearer end: a page far down skips index entries
 * rather than rows, and the last page costs as much as the first.
 *
 * @param query - the filtered rows, without order and limit, each id once
 * @param columns - column by name of `sort`; the id's column under `id`
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- who asks knows what it selects
export async function readPage<Row>(
  query: Knex.QueryBuilder,
  { page, limit, sort, order }: ListRequest,
  columns: Readonly<Record<string, string>> & { readonly id: string },
  options: PageOptions = {},
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const column = columns[sort];
  if (column === undefined) throw new Error(`no column for sort key ${sort}`);
  const total = await (options.total?.() ?? count(query));
  const skipped = (page - 1) * limit;
  const wanted = Math.min(limit, total - skipped);
  if (wanted <= 0) return { rows: [], total };
  const after = total - skipped - wanted;
  const fromEnd = after < skipped;
  const ids = query
    .clone()
    .clearSelect()
    .select(columns.id)
    .modify(orderBy, [column, columns.id], (order === "desc") === fromEnd ? "asc" : "desc")
    .limit(wanted)
    .offset(fromEnd ? after : skipped);
  const rows: unknown = await query
    .clone()
    .whereIn(columns.id, ids)
    .modify(orderBy, [column, columns.id], order);
  return { rows: rows as Row[], total };
}

async function count(query: Knex.QueryBuilder): Promise<number> {
  const counted = await query
    .clone()
    .clearSelect()
    .clearOrder()
    .count({ total: "*" })
    .first<{ total: number | string }>();
  return Number(counted.total);
}

function orderBy(query: Knex.QueryBuilder, columns: readonly string[], order: "asc" | "desc"): void {
  for (const column of columns) void query.orderBy(column, order);
}

/** The years 0 to 9999 in UTC, Unix ms: times in responses have four-digit years. */
const EARLIEST = -62_167_219_200_000;
const LATEST = 253_402_300_799_999;

/** A filter by exact time: ISO 8601 with zone. */
export function timestampParameter() {
  return z.iso
    .datetime({ offset: true, error: "must be a time such as `2026-01-31T12:00:00Z`" })
    .transform((text) => new Date(text))
    .refine((time) => time.getTime() >= EARLIEST && time.getTime() <= LATEST, {
      error: "must be in the years 0 to 9999 of UTC",
    })
    .meta({ type: "string", format: "date-time" });
}

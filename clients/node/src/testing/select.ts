import type { Row } from "./store.ts";
import { textOf, type JsonObject } from "./validate.ts";

const NOT_FILTERS: ReadonlySet<string> = new Set(["page", "limit", "sort", "order"]);

/** The rows that pass the filters of a query, sorted, and one page of them. */
export function selected(rows: readonly Row[], query: Readonly<Record<string, string>>) {
  const filters = Object.entries(query).filter(([name]) => !NOT_FILTERS.has(name));
  const found = rows.filter(({ data }) => filters.every(([name, value]) => passes(data, name, value)));
  const { sort = "created_at", order = "desc" } = query;
  const direction = order === "asc" ? 1 : -1;
  const sorted = found.toSorted(
    (a, b) => direction * (compare(a.data[sort], b.data[sort]) || a.order - b.order),
  );
  const [page, limit] = [Number(query["page"] ?? 1), Number(query["limit"] ?? 20)];
  return {
    data: sorted.slice((page - 1) * limit, page * limit).map(({ data }) => data),
    pagination: {
      current_page: page,
      total_pages: Math.ceil(sorted.length / limit),
      total_items: sorted.length,
      page_size: limit,
    },
  };
}

function passes(data: JsonObject, name: string, value: string): boolean {
  switch (name) {
    case "created_after":
      return textOf(data["created_at"]) > value;
    case "created_before":
      return textOf(data["created_at"]) < value;
    case "name":
      return textOf(data["name"]).toLowerCase().startsWith(value.toLowerCase());
    case "email":
      return textOf(data["email"]).toLowerCase() === value.toLowerCase();
    case "role":
      return (data["profile"] as JsonObject | undefined)?.["role"] === value;
    case "status":
      // a webhook has no status, but is enabled or not
      return data["status"] === undefined
        ? data["enabled"] === (value === "enabled")
        : data["status"] === value;
    default:
      return data[name] === value;
  }
}

function compare(one: unknown, other: unknown): number {
  const [a, b] = [String(one).toLowerCase(), String(other).toLowerCase()];
  return a < b ? -1 : Number(a > b);
}

import type { ComponentChildren } from "preact";
import type { Loaded } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Failure, Loading } from "./parts.tsx";
import type { UrlState } from "./url-state.ts";

export interface Column<Row> {
  readonly title: string;
  /** The API's name for sorting by it. */
  readonly sort?: string;
  readonly numeric?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly loaded: Loaded<readonly Row[]>;
  readonly columns: readonly Column<Row>[];
  readonly idOf: (row: Row) => string;
  readonly empty: ComponentChildren;
  /** Where page and sorting stand; without it, the table has one page. */
  readonly url?: UrlState;
}

/** A list of the API: it pages, sorts and filters on the server, whatever its length. */
export function Table<Row>({ caption, loaded, columns, idOf, empty, url }: TableProps<Row>) {
  const { answer, failure, loading, reload } = loaded;
  if (failure) return <Failure failure={failure} retry={reload} />;
  if (answer === undefined) return <Loading />;
  const pages = answer.pagination;
  if (answer.data.length === 0 && (pages?.current_page ?? 1) <= 1) return <>{empty}</>;
  return (
    <>
      <div class="scrolled" tabIndex={0} role="region" aria-label={caption}>
        {/* the roles stay where style sheets show the rows as a list */}
        <table class="listed" role="table" aria-busy={loading}>
          <caption class="hidden">{caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <Heading key={column.title} column={column} url={url} />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {answer.data.map((row) => (
              <tr key={idOf(row)} role="row">
                {columns.map(({ title, cell, numeric }) => (
                  <td
                    key={title}
                    role="cell"
                    data-title={title}
                    class={numeric === true ? "numeric" : undefined}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {url && pages && <Pages pages={pages} url={url} />}
    </>
  );
}

function Heading<Row>({ column, url }: { readonly column: Column<Row>; readonly url: UrlState | undefined }) {
  const { title, sort, numeric } = column;
  const className = numeric === true ? "numeric" : undefined;
  if (sort === undefined || url === undefined)
    return (
      <th scope="col" role="columnheader" class={className}>
        {title}
      </th>
    );
  const sorted = url.values["sort"] === sort;
  const order = url.values["order"] === "asc" ? "asc" : "desc";
  const next = sorted && order === "asc" ? "desc" : "asc";
  return (
    <th
      scope="col"
      role="columnheader"
      class={className}
      aria-sort={sorted ? (order === "asc" ? "ascending" : "descending") : undefined}
    >
      <button
        type="button"
        class="sort"
        onClick={() => {
          url.set({ sort, order: next });
        }}
      >
        {title}
        <span aria-hidden="true">{sorted ? (order === "asc" ? " ▲" : " ▼") : " ⇅"}</span>
      </button>
    </th>
  );
}

function Pages({
  pages,
  url,
}: {
  readonly pages: NonNullable<Loaded<unknown>["answer"]>["pagination"];
  readonly url: UrlState;
}) {
  if (!pages) return null;
  const { current_page: page, total_pages: last, total_items: total } = pages;
  // at either end the buttons do nothing, but keep the focus
  const go = (to: number) => () => {
    if (to >= 1 && to <= last) url.set({ page: String(to) });
  };
  return (
    <nav class="pages" aria-label={messages.table.pages}>
      <button type="button" aria-disabled={page <= 1} onClick={go(page - 1)}>
        {messages.table.previous}
      </button>
      <span>{messages.table.page(page, last, total)}</span>
      <button type="button" aria-disabled={page >= last} onClick={go(page + 1)}>
        {messages.table.next}
      </button>
    </nav>
  );
}

/** `page`, `sort` and `order` of the address, as the API takes them. */
export function listQuery<Sort extends string>(
  { values }: UrlState,
  sortable: readonly Sort[],
): { page: number; limit: number; sort?: Sort; order?: "asc" | "desc" } {
  const page = Number(values["page"]);
  const sort = sortable.find((name) => name === values["sort"]);
  const order = (["asc", "desc"] as const).find((name) => name === values["order"]);
  return {
    page: Number.isInteger(page) && page > 0 ? page : 1,
    limit: 25,
    ...(sort && { sort }),
    ...(order && { order }),
  };
}

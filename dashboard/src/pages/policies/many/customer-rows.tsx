import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useQuery } from "../../../api/use-query.ts";
import { many as texts } from "../../../messages/many.ts";

/** Each name is a request. */
const AT_ONCE = 20;

interface CustomerRowsProps<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly {
    readonly title: string;
    readonly numeric?: boolean;
    readonly cell: (row: Row) => ComponentChildren;
  }[];
}

/** What is said of some customers, whose names are read a few at a time. */
export function CustomerRows<Row extends { readonly customer_id: string }>({
  caption,
  rows,
  columns,
}: CustomerRowsProps<Row>) {
  const [most, setMost] = useState(AT_ONCE);
  return (
    <>
      <div class="scrolled spaced" tabIndex={0} role="region" aria-label={caption}>
        <table class="listed" role="table">
          <caption class="hidden">{caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              <th scope="col" role="columnheader">
                {texts.customer}
              </th>
              {columns.map(({ title, numeric }) => (
                <th
                  key={title}
                  scope="col"
                  role="columnheader"
                  class={numeric === true ? "numeric" : undefined}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.slice(0, most).map((row) => (
              <tr key={row.customer_id} role="row">
                <td role="cell" data-title={texts.customer}>
                  <CustomerName id={row.customer_id} />
                </td>
                {columns.map(({ title, numeric, cell }) => (
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
      {rows.length > most && (
        <p>
          <button
            type="button"
            onClick={() => {
              setMost((before) => before + AT_ONCE);
            }}
          >
            {texts.showMore}
          </button>
        </p>
      )}
    </>
  );
}

/** A customer may have been deleted since: then its id is all that is known. */
function CustomerName({ id }: { readonly id: string }) {
  const { answer } = useQuery("/customers/{id}", { params: { id } });
  return <Link href={`/customers/${id}`}>{answer?.data.name ?? <code>{id}</code>}</Link>;
}

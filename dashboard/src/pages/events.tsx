import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Item, Query } from "../api/types.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Filters, TextFilter } from "../ui/filters.tsx";
import { Copyable, Dialog, Empty, Time } from "../ui/parts.tsx";
import { Table, listQuery } from "../ui/table.tsx";
import { useUrlState } from "../ui/url-state.ts";

const texts = messages.activity;
const NAMES = ["type", "customer_id", "user_id", "from", "to"] as const;
type Event = Item<"/analytics/events">;

/** What happened to users, sessions and customers: what webhooks are told. */
export function Events() {
  const url = useUrlState();
  const given = Object.fromEntries(
    NAMES.flatMap((name) => (url.values[name] === undefined ? [] : [[name, url.values[name]]])),
  ) as Query<"/analytics/events">;
  const loaded = useQuery("/analytics/events", {
    query: { ...listQuery(url, ["timestamp"] as const), ...given },
  });
  const [shown, setShown] = useState<Event>();
  return (
    <Page title={texts.title}>
      <Filters url={url} names={NAMES}>
        {NAMES.map((name) => (
          <TextFilter key={name} name={name} label={texts.filters[name]} value={url.values[name]} />
        ))}
      </Filters>
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={(event) => event.id}
        empty={<Empty title={texts.none} />}
        columns={[
          { title: texts.at, sort: "timestamp", cell: (event) => <Time at={event.timestamp} /> },
          { title: texts.type, cell: (event) => <code>{event.type}</code> },
          { title: texts.user, cell: (event) => event.user_id !== null && <code>{event.user_id}</code> },
          {
            title: texts.customer,
            cell: ({ customer_id: id }) =>
              id !== null && (
                <Link href={`/customers/${id}`}>
                  <code>{id}</code>
                </Link>
              ),
          },
          {
            title: messages.actions,
            cell: (event) => (
              <button
                type="button"
                aria-label={texts.showOf(event.id)}
                onClick={() => {
                  setShown(event);
                }}
              >
                {texts.show}
              </button>
            ),
          },
        ]}
      />
      {shown && (
        <Dialog
          title={shown.type}
          onClose={() => {
            setShown(undefined);
          }}
        >
          <Copyable text={JSON.stringify(shown, null, 2)} label={shown.type} />
          <button
            type="button"
            onClick={() => {
              setShown(undefined);
            }}
          >
            {messages.close}
          </button>
        </Dialog>
      )}
    </Page>
  );
}

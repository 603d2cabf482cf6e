import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { Empty, Time } from "../../ui/parts.tsx";
import { Table, listQuery } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";

const texts = messages.activity;

/** The history of a customer's events. */
export function Activity({ id }: { readonly id: string }) {
  const url = useUrlState();
  const loaded = useQuery("/analytics/events", {
    query: { ...listQuery(url, ["timestamp"] as const), customer_id: id },
  });
  return (
    <Table
      caption={messages.customers.tabs.activity}
      loaded={loaded}
      url={url}
      idOf={(event) => event.id}
      empty={<Empty title={texts.none} />}
      columns={[
        { title: texts.at, cell: (event) => <Time at={event.timestamp} /> },
        { title: texts.type, cell: (event) => <code>{event.type}</code> },
        { title: texts.user, cell: (event) => event.user_id !== null && <code>{event.user_id}</code> },
      ]}
    />
  );
}

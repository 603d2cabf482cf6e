import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call, may } from "../api/client.ts";
import type { Item, Query } from "../api/types.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Choice, Filters, TextFilter, asIs, oneOf } from "../ui/filters.tsx";
import { Badge, Empty, Time } from "../ui/parts.tsx";
import { Table, listQuery, type Column } from "../ui/table.tsx";
import { useUrlState, type UrlState } from "../ui/url-state.ts";

const texts = messages.sessions;
const STATUSES = ["active", "expired", "ended"] as const;
const IDS = ["customer_id", "user_id"] as const;
type Session = Item<"/sessions">;

/** Those of all customers; of one, they are on its page. */
export function AllSessions() {
  const url = useUrlState();
  const { values } = url;
  const status = oneOf(STATUSES, values["status"]);
  const given = Object.fromEntries(
    IDS.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  ) as Query<"/sessions">;
  const isFiltered = status !== undefined || Object.keys(given).length > 0;
  return (
    <Page title={texts.title}>
      <Filters url={url} names={["status", ...IDS]}>
        <Choice name="status" label={texts.status} url={url} options={asIs(STATUSES)} />
        {IDS.map((name) => (
          <TextFilter key={name} name={name} label={texts.filters[name]} value={values[name]} />
        ))}
      </Filters>
      <SessionTable
        caption={texts.title}
        url={url}
        filter={{ ...given, ...(status && { status }) }}
        empty={isFiltered ? texts.noMatch : texts.none}
        besides={[
          {
            title: texts.customer,
            cell: ({ customer_id: id }) => (
              <Link href={`/customers/${encodeURIComponent(id)}?tab=sessions`}>
                <code>{id}</code>
              </Link>
            ),
          },
        ]}
      />
    </Page>
  );
}

interface SessionTableProps {
  readonly caption: string;
  readonly url: UrlState;
  readonly filter: Query<"/sessions">;
  readonly empty: string;
  /** Shown first. */
  readonly besides?: readonly Column<Session>[];
}

/** Sessions, each of which can be ended. */
export function SessionTable({ caption, url, filter, empty, besides = [] }: SessionTableProps) {
  const loaded = useQuery("/sessions", {
    query: { ...listQuery(url, ["created_at", "last_used_at", "expires_at"] as const), ...filter },
  });
  const [ending, setEnding] = useState<string>();
  return (
    <>
      <Table
        caption={caption}
        loaded={loaded}
        url={url}
        idOf={(session) => session.id}
        empty={<Empty title={empty} />}
        columns={[
          ...besides,
          { title: texts.user, cell: (session) => <code>{session.user_id}</code> },
          { title: texts.status, cell: (session) => <Badge of={session.status} /> },
          { title: texts.address, cell: (session) => session.ip_address },
          { title: texts.agent, cell: (session) => session.user_agent },
          { title: texts.since, sort: "created_at", cell: (session) => <Time at={session.created_at} /> },
          {
            title: texts.lastUsed,
            sort: "last_used_at",
            cell: (session) => <Time at={session.last_used_at} />,
          },
          ...(may("configure")
            ? [
                {
                  title: messages.actions,
                  cell: ({ id: session, ended_at: ended }: Session) =>
                    ended === null && (
                      <button
                        type="button"
                        aria-label={texts.endOf(session)}
                        onClick={() => {
                          setEnding(session);
                        }}
                      >
                        {texts.end}
                      </button>
                    ),
                },
              ]
            : []),
        ]}
      />
      {ending !== undefined && (
        <Confirm
          title={texts.endTitle}
          text={texts.endText}
          action={texts.end}
          danger
          done={texts.ended}
          onConfirm={async () => {
            await call("delete", "/sessions/{id}", { params: { id: ending } });
            loaded.reload();
          }}
          onClose={() => {
            setEnding(undefined);
          }}
        />
      )}
    </>
  );
}

import { useState } from "preact/hooks";
import { call, may } from "../../api/client.ts";
import type { Item } from "../../api/types.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Badge, Empty, Time } from "../../ui/parts.tsx";
import { Table, listQuery } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";

const texts = messages.sessions;
type Session = Item<"/sessions">;

/** The sessions of a customer's users. */
export function Sessions({ id }: { readonly id: string }) {
  const url = useUrlState();
  const loaded = useQuery("/sessions", {
    query: { ...listQuery(url, ["created_at", "last_used_at", "expires_at"] as const), customer_id: id },
  });
  const [ending, setEnding] = useState<string>();
  return (
    <>
      <Table
        caption={messages.customers.tabs.sessions}
        loaded={loaded}
        url={url}
        idOf={(session) => session.id}
        empty={<Empty title={texts.none} />}
        columns={[
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

import { useState } from "preact/hooks";
import { call, may } from "../../api/client.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Badge, Empty, Time, announce } from "../../ui/parts.tsx";
import { Table, listQuery } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";

const texts = messages.users;

/** The users of a customer; each can be signed out everywhere. */
export function Users({ id }: { readonly id: string }) {
  const url = useUrlState();
  const loaded = useQuery("/customers/{id}/users", {
    params: { id },
    query: listQuery(url, ["created_at", "updated_at", "email", "last_sign_in_at"] as const),
  });
  const [ending, setEnding] = useState<{ readonly id: string; readonly name: string }>();
  return (
    <>
      <Table
        caption={messages.customers.tabs.users}
        loaded={loaded}
        url={url}
        idOf={(user) => user.id}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
          </Empty>
        }
        columns={[
          { title: texts.email, sort: "email", cell: (user) => user.email ?? <code>{user.subject}</code> },
          { title: texts.name, cell: (user) => user.name },
          { title: texts.status, cell: (user) => <Badge of={user.status} /> },
          {
            title: texts.lastSignIn,
            sort: "last_sign_in_at",
            cell: (user) => <Time at={user.last_sign_in_at} />,
          },
          ...(may("authenticate")
            ? [
                {
                  title: messages.actions,
                  cell: (user: { id: string; email: string | null; subject: string }) => {
                    const name = user.email ?? user.subject;
                    return (
                      <button
                        type="button"
                        aria-label={texts.endAllOf(name)}
                        onClick={() => {
                          setEnding({ id: user.id, name });
                        }}
                      >
                        {texts.endAll}
                      </button>
                    );
                  },
                },
              ]
            : []),
        ]}
      />
      {ending && (
        <Confirm
          title={texts.endAllOf(ending.name)}
          text={texts.endAllText}
          action={texts.endAll}
          danger
          onConfirm={async () => {
            const { data } = await call("delete", "/auth/logout", { body: { user_id: ending.id } });
            announce(texts.ended(data.ended));
          }}
          onClose={() => {
            setEnding(undefined);
          }}
        />
      )}
    </>
  );
}

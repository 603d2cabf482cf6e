import { useState } from "preact/hooks";
import { changeAsShown } from "../api/as-shown.ts";
import { call, may } from "../api/client.ts";
import type { ApiKey } from "../api/types.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Confirm, ShownOnce } from "../ui/confirm.tsx";
import { Choice, Filters, asIs, oneOf } from "../ui/filters.tsx";
import { Badge, Empty, Field, Time } from "../ui/parts.tsx";
import { Table, listQuery, type Column } from "../ui/table.tsx";
import { useUrlState } from "../ui/url-state.ts";
import { NewKey, SCOPES } from "./new-key.tsx";

const texts = messages.keys;
const STATUSES = ["active", "expired", "revoked"] as const;
type Opened =
  | { readonly kind: "new" }
  | { readonly kind: "shown"; readonly secret: string }
  | { readonly kind: "roll" | "revoke"; readonly key: ApiKey };

export function Keys() {
  const url = useUrlState();
  const status = oneOf(STATUSES, url.values["status"]);
  const scope = oneOf(SCOPES, url.values["scope"]);
  const loaded = useQuery("/api-keys", {
    query: {
      ...listQuery(url, ["created_at", "name"] as const),
      ...(status && { status }),
      ...(scope && { scope }),
    },
  });
  const wanted = url.values["new"];
  const [opened, setOpened] = useState<Opened | undefined>(
    wanted !== undefined && may("keys") ? { kind: "new" } : undefined,
  );
  const close = () => {
    setOpened(undefined);
    if (wanted !== undefined) url.set({ new: undefined }, true);
  };
  const show = (secret: string) => {
    setOpened({ kind: "shown", secret });
    loaded.reload();
  };
  const filtered = status !== undefined || scope !== undefined;
  return (
    <Page
      title={texts.title}
      actions={
        may("keys") && (
          <button
            type="button"
            class="main"
            onClick={() => {
              setOpened({ kind: "new" });
            }}
          >
            {texts.generate}
          </button>
        )
      }
    >
      {may("keys") && (
        <Filters url={url} names={["status", "scope"]}>
          <Choice name="status" label={texts.status} url={url} options={asIs(STATUSES)} />
          <Choice name="scope" label={texts.scope} url={url} options={asIs(SCOPES)} />
        </Filters>
      )}
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={(key) => key.id}
        empty={
          <Empty title={filtered ? texts.noMatch : texts.none}>{!filtered && <p>{texts.noneText}</p>}</Empty>
        }
        columns={columns((kind, key) => {
          setOpened({ kind, key });
        })}
      />
      {opened?.kind === "new" && <NewKey scope={oneOf(SCOPES, wanted)} onCreated={show} onClose={close} />}
      {opened?.kind === "shown" && (
        <ShownOnce
          title={texts.shownTitle}
          text={texts.shownText}
          label={texts.key}
          secret={opened.secret}
          done={texts.stored}
          onClose={close}
        />
      )}
      {opened?.kind === "roll" && (
        <Roll
          apiKey={opened.key}
          onRolled={show}
          reload={loaded.reload}
          onClose={() => {
            // the new key is shown in place of this dialog
            setOpened((now) => (now?.kind === "roll" ? undefined : now));
          }}
        />
      )}
      {opened?.kind === "revoke" && (
        <Confirm
          title={texts.revokeTitle}
          text={texts.revokeText(opened.key.name)}
          action={texts.revoke}
          danger
          done={texts.revoked}
          based={basedOn(opened.key, loaded.reload)}
          onConfirm={async () => {
            const { id } = opened.key;
            await asShown(opened.key, (ifMatch) =>
              call("delete", "/api-keys/{id}", { params: { id }, ifMatch }),
            );
            loaded.reload();
          }}
          onClose={close}
        />
      )}
    </Page>
  );
}

function columns(open: (kind: "roll" | "revoke", key: ApiKey) => void): readonly Column<ApiKey>[] {
  return [
    { title: texts.name, sort: "name", cell: (key) => key.name },
    { title: texts.scope, cell: (key) => <code>{key.scope}</code> },
    {
      title: texts.customer,
      cell: (key) => (key.customer_id === null ? messages.all : <code>{key.customer_id}</code>),
    },
    { title: texts.status, cell: (key) => <Badge of={key.status} /> },
    { title: texts.hint, cell: (key) => <code>…{key.hint}</code> },
    { title: texts.expires, cell: (key) => <Time at={key.expires_at} /> },
    { title: texts.lastUsed, cell: (key) => <Time at={key.last_used_at} /> },
    {
      title: messages.actions,
      cell: (key) =>
        key.status === "active" && (
          <div class="row">
            <button
              type="button"
              aria-label={texts.rollOf(key.name)}
              onClick={() => {
                open("roll", key);
              }}
            >
              {texts.roll}
            </button>
            <button
              type="button"
              class="danger"
              aria-label={texts.revokeOf(key.name)}
              onClick={() => {
                open("revoke", key);
              }}
            >
              {texts.revoke}
            </button>
          </div>
        ),
    },
  ];
}

const read = ({ id }: ApiKey) => call("get", "/api-keys/{id}", { params: { id } });
const asShown = <R,>(key: ApiKey, change: (etag: string | null) => Promise<R>) =>
  changeAsShown(key, ["last_used_at"], () => read(key), change);
const basedOn = (key: ApiKey, reload: () => void) => ({
  on: key,
  reread: async () => (await read(key)).data,
  reload,
});

interface RollProps {
  readonly apiKey: ApiKey;
  readonly onRolled: (secret: string) => void;
  readonly reload: () => void;
  readonly onClose: () => void;
}

function Roll({ apiKey, onRolled, reload, onClose }: RollProps) {
  const [overlap, setOverlap] = useState("86400");
  return (
    <Confirm
      title={texts.rollTitle}
      text={texts.rollText}
      action={texts.roll}
      based={basedOn(apiKey, reload)}
      onConfirm={async () => {
        const { id } = apiKey;
        const body = { overlap: Number(overlap) };
        const { data } = await asShown(apiKey, (ifMatch) =>
          call("post", "/api-keys/{id}/roll", { params: { id }, body, ifMatch }),
        );
        onRolled(data.key);
      }}
      onClose={onClose}
    >
      <Field name="overlap" label={texts.overlap}>
        {(given) => (
          <select
            {...given}
            value={overlap}
            onChange={({ currentTarget }) => {
              setOverlap(currentTarget.value);
            }}
          >
            {Object.entries(texts.overlaps).map(([seconds, title]) => (
              <option key={seconds} value={seconds}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Confirm>
  );
}

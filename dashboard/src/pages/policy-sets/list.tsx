import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { may } from "../../api/client.ts";
import { useQuery } from "../../api/use-query.ts";
import { draftNames } from "../../editor/drafts.ts";
import { messages } from "../../messages/index.ts";
import { policySets as texts } from "../../messages/policy-sets.ts";
import { Page } from "../../shell.tsx";
import { Dialog, Empty, Field, Time } from "../../ui/parts.tsx";
import { Table, listQuery } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";

const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The policy sets, with what is in force of each. */
export function PolicySets() {
  const url = useUrlState();
  const loaded = useQuery("/policy-sets", {
    query: listQuery(url, ["created_at", "updated_at", "name"] as const),
  });
  const [creating, setCreating] = useState(false);
  const drafts = draftNames();
  return (
    <Page
      title={texts.title}
      actions={
        may("configure") && (
          <button
            type="button"
            class="main"
            onClick={() => {
              setCreating(true);
            }}
          >
            {texts.create}
          </button>
        )
      }
    >
      {drafts.length > 0 && (
        <div class="card">
          <h2>{texts.drafts}</h2>
          <ul class="files">
            {drafts.map((name) => (
              <li key={name}>
                <Link class="button" href={`/policy-sets/${encodeURIComponent(name)}?tab=edit`}>
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={({ name }) => name}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
          </Empty>
        }
        columns={[
          {
            title: texts.name,
            sort: "name",
            cell: ({ name }) => <Link href={`/policy-sets/${encodeURIComponent(name)}`}>{name}</Link>,
          },
          {
            title: texts.active,
            cell: ({ active_version: version }) => version ?? <span class="quiet">{texts.noActive}</span>,
          },
          {
            title: texts.rollout,
            cell: ({ rollout }) =>
              rollout ? (
                <span class="badge">
                  {texts.rolloutShort(rollout.version, rollout.mode, rollout.percentage)}
                </span>
              ) : (
                <span class="quiet">{texts.noRollout}</span>
              ),
          },
          { title: texts.versions, numeric: true, cell: ({ versions }) => versions },
          { title: texts.activatedAt, cell: ({ activated_at: at }) => <Time at={at} /> },
        ]}
      />
      {creating && (
        <NewSet
          onClose={() => {
            setCreating(false);
          }}
        />
      )}
    </Page>
  );
}

/** A set begins as a draft: it exists for others once a version is published. */
function NewSet({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState(false);
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (LABEL.test(name)) navigate(`/policy-sets/${name}?tab=edit&new=1`);
          else setWrong(true);
        }}
      >
        <Field name="name" label={texts.name} hint={texts.nameHint}>
          {(given) => (
            <input
              {...given}
              autocomplete="off"
              aria-invalid={wrong}
              value={name}
              onInput={({ currentTarget }) => {
                setName(currentTarget.value.trim());
              }}
            />
          )}
        </Field>
        {wrong && (
          <p class="problem" role="alert">
            {texts.nameWrong}
          </p>
        )}
        <div class="row">
          <button type="submit" class="main">
            {texts.write}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

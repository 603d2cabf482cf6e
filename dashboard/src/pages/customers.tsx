import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call, may } from "../api/client.ts";
import { useAction } from "../api/use-action.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Choice, Filters, TextFilter, asIs, oneOf } from "../ui/filters.tsx";
import { Badge, Dialog, Empty, Field, FormFailure, NamedEnvironment, Time, announce } from "../ui/parts.tsx";
import { readForm } from "../ui/read-form.ts";
import { Table, listQuery } from "../ui/table.tsx";
import { useUrlState } from "../ui/url-state.ts";

const texts = messages.customers;
const STATUSES = ["active", "suspended", "archived"] as const;

export function Customers() {
  const url = useUrlState();
  const status = oneOf(STATUSES, url.values["status"]);
  const name = url.values["name"];
  const loaded = useQuery("/customers", {
    query: {
      ...listQuery(url, ["created_at", "updated_at", "name", "status"] as const),
      ...(status && { status }),
      ...(name !== undefined && { name }),
    },
  });
  const [creating, setCreating] = useState(url.values["new"] === "1" && may("configure"));
  const filtered = status !== undefined || name !== undefined;
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
      <Filters url={url} names={["name", "status"]}>
        <TextFilter name="name" label={texts.search} value={name} />
        <Choice name="status" label={texts.status} url={url} options={asIs(STATUSES)} />
      </Filters>
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={({ id }) => id}
        empty={
          <Empty title={filtered ? texts.noMatch : texts.none}>{!filtered && <p>{texts.noneText}</p>}</Empty>
        }
        columns={[
          {
            title: texts.name,
            sort: "name",
            cell: ({ id, name: shown }) => <Link href={`/customers/${id}`}>{shown}</Link>,
          },
          { title: texts.status, sort: "status", cell: (row) => <Badge of={row.status} /> },
          {
            title: texts.externalId,
            cell: ({ external_id: id }) => id ?? <span class="quiet">{messages.none}</span>,
          },
          { title: texts.createdAt, sort: "created_at", cell: ({ created_at: at }) => <Time at={at} /> },
          { title: texts.id, cell: ({ id }) => <code>{id}</code> },
        ]}
      />
      {creating && (
        <NewCustomer
          onClose={() => {
            setCreating(false);
            url.set({ new: undefined }, true);
          }}
        />
      )}
    </Page>
  );
}

function NewCustomer({ onClose }: { readonly onClose: () => void }) {
  const { run, busy, failure } = useAction();
  const [, navigate] = useLocation();
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { text } = readForm(form);
      const urls = text("allowed_return_urls")
        .split(/\s+/)
        .filter((line) => line !== "");
      const { data, warnings } = await call("post", "/customers", {
        body: {
          name: text("name"),
          ...(text("external_id") !== "" && { external_id: text("external_id") }),
          allowed_return_urls: urls,
        },
      });
      announce([texts.created, ...warnings].join(" "));
      navigate(`/customers/${data.id}?tab=provider`);
    });
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="name" label={texts.name} failure={failure}>
          {(given) => <input {...given} required autocomplete="off" />}
        </Field>
        <Field name="external_id" label={texts.externalId} hint={texts.externalIdHint} failure={failure}>
          {(given) => <input {...given} autocomplete="off" />}
        </Field>
        <Field
          name="allowed_return_urls"
          label={texts.returnUrls}
          hint={texts.returnUrlsHint}
          failure={failure}
        >
          {(given) => <textarea {...given} rows={3} />}
        </Field>
        <NamedEnvironment />
        <FormFailure failure={failure} fields={["name", "external_id"]} />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy}>
            {texts.create}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

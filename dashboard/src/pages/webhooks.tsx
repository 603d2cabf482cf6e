import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call, may } from "../api/client.ts";
import type { Body } from "../api/types.ts";
import { useAction } from "../api/use-action.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { ShownOnce } from "../ui/confirm.tsx";
import { Choice, Filters, asIs, oneOf } from "../ui/filters.tsx";
import { Badge, Dialog, Empty, Field, FormFailure, NamedEnvironment, Time } from "../ui/parts.tsx";
import { readForm } from "../ui/read-form.ts";
import { Table, listQuery } from "../ui/table.tsx";
import { useUrlState } from "../ui/url-state.ts";

const texts = messages.webhooks;
const STATUSES = ["enabled", "disabled"] as const;
interface Registered {
  readonly id: string;
  readonly secret: string;
}

export function Webhooks() {
  const url = useUrlState();
  const status = oneOf(STATUSES, url.values["status"]);
  const loaded = useQuery("/webhooks", {
    query: { ...listQuery(url, ["created_at", "updated_at"] as const), ...(status && { status }) },
  });
  const [opened, setOpened] = useState<"form" | Registered>();
  const [, navigate] = useLocation();
  return (
    <Page
      title={texts.title}
      actions={
        may("configure") && (
          <button
            type="button"
            class="main"
            onClick={() => {
              setOpened("form");
            }}
          >
            {texts.register}
          </button>
        )
      }
    >
      <Filters url={url} names={["status"]}>
        <Choice name="status" label={texts.status} url={url} options={asIs(STATUSES)} />
      </Filters>
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={(webhook) => webhook.id}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
          </Empty>
        }
        columns={[
          {
            title: texts.url,
            cell: (webhook) => <Link href={`/webhooks/${webhook.id}`}>{webhook.url}</Link>,
          },
          { title: texts.events, cell: (webhook) => webhook.events.join(" ") },
          { title: texts.status, cell: (webhook) => <Badge of={webhook.enabled ? "enabled" : "disabled"} /> },
          { title: texts.createdAt, sort: "created_at", cell: (webhook) => <Time at={webhook.created_at} /> },
        ]}
      />
      {opened === "form" && (
        <Register
          onRegistered={setOpened}
          onClose={() => {
            setOpened(undefined);
          }}
        />
      )}
      {typeof opened === "object" && (
        <ShownOnce
          title={texts.secretTitle}
          text={texts.secretText}
          label={texts.secret}
          secret={opened.secret}
          done={texts.stored}
          onClose={() => {
            navigate(`/webhooks/${opened.id}`);
          }}
        />
      )}
    </Page>
  );
}

interface RegisterProps {
  readonly onRegistered: (webhook: Registered) => void;
  readonly onClose: () => void;
}

function Register({ onRegistered, onClose }: RegisterProps) {
  const { run, busy, failure } = useAction();
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { text } = readForm(form);
      const events = text("events").split(/\s+/);
      // the API says which of them it does not know
      const body = { url: text("url"), events } as Body<"/webhooks", "post">;
      const { data } = await call("post", "/webhooks", { body });
      onRegistered({ id: data.id, secret: data.secret });
    });
  return (
    <Dialog title={texts.register} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="url" label={texts.url} failure={failure}>
          {(given) => <input {...given} type="url" required autocomplete="off" />}
        </Field>
        <Field name="events" label={texts.events} hint={texts.eventsHint} failure={failure}>
          {(given) => <input {...given} defaultValue="*" required />}
        </Field>
        <NamedEnvironment />
        <FormFailure failure={failure} fields={["url", "events"]} />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy}>
            {texts.register}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

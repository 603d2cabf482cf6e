import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { call, may } from "../api/client.ts";
import { useAction } from "../api/use-action.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Confirm, ShownOnce } from "../ui/confirm.tsx";
import {
  Badge,
  Copyable,
  Dialog,
  Empty,
  Failure,
  FormFailure,
  Loading,
  Time,
  announce,
} from "../ui/parts.tsx";
import { PendingPage } from "../ui/pending-page.tsx";
import { Table, listQuery } from "../ui/table.tsx";
import { useUrlState } from "../ui/url-state.ts";

const texts = messages.webhooks;
type Opened = "toggle" | "roll" | "remove" | { readonly secret: string } | { readonly delivery: string };

export function Webhook({ id }: { readonly id: string }) {
  const url = useUrlState();
  const { answer, failure, reload } = useQuery("/webhooks/{id}", { params: { id } });
  const deliveries = useQuery("/webhooks/{id}/deliveries", {
    params: { id },
    query: listQuery(url, ["created_at"] as const),
    every: 2_000,
  });
  const [opened, setOpened] = useState<Opened>();
  const [, navigate] = useLocation();
  const { run, busy, failure: notDone } = useAction();
  const close = () => {
    setOpened(undefined);
  };
  if (failure || !answer) return <PendingPage title={texts.title} failure={failure} retry={reload} />;
  const { data: webhook, etag } = answer;
  const test = () =>
    run(async () => {
      await call("post", "/webhooks/{id}/test", { params: { id } });
      announce(texts.tested);
      deliveries.reload();
    });
  const based = {
    on: webhook,
    reread: async () => (await call("get", "/webhooks/{id}", { params: { id } })).data,
    reload,
  };
  return (
    <Page
      title={webhook.url}
      actions={
        may("configure") && (
          <>
            <button
              type="button"
              aria-disabled={busy}
              disabled={!webhook.enabled}
              onClick={() => void test()}
            >
              {texts.test}
            </button>
            <button
              type="button"
              onClick={() => {
                setOpened("toggle");
              }}
            >
              {webhook.enabled ? texts.disable : texts.enable}
            </button>
            <button
              type="button"
              onClick={() => {
                setOpened("roll");
              }}
            >
              {texts.roll}
            </button>
            <button
              type="button"
              class="danger"
              onClick={() => {
                setOpened("remove");
              }}
            >
              {texts.remove}
            </button>
          </>
        )
      }
    >
      <FormFailure failure={notDone} fields={[]} />
      <div class="card">
        <dl class="facts">
          <dt>{texts.status}</dt>
          <dd>
            <Badge of={webhook.enabled ? "enabled" : "disabled"} />
          </dd>
          {webhook.disabled_reason !== null && (
            <>
              <dt>{texts.disabledReason}</dt>
              <dd>{webhook.disabled_reason}</dd>
            </>
          )}
          <dt>{texts.events}</dt>
          <dd>{webhook.events.join(" ")}</dd>
          <dt>{texts.createdAt}</dt>
          <dd>
            <Time at={webhook.created_at} />
          </dd>
        </dl>
      </div>
      <h2>{texts.deliveries}</h2>
      <Table
        caption={texts.deliveries}
        loaded={deliveries}
        url={url}
        idOf={(delivery) => delivery.id}
        empty={<Empty title={texts.noDeliveries} />}
        columns={[
          { title: texts.at, sort: "created_at", cell: (delivery) => <Time at={delivery.created_at} /> },
          { title: texts.event, cell: (delivery) => <code>{delivery.event_type}</code> },
          { title: texts.status, cell: (delivery) => <Badge of={delivery.status} /> },
          { title: texts.attempts, numeric: true, cell: (delivery) => delivery.attempts },
          {
            title: texts.response,
            cell: (delivery) => delivery.response_status ?? delivery.error ?? messages.none,
          },
          {
            title: messages.actions,
            cell: (delivery) => (
              <button
                type="button"
                aria-label={texts.showOf(delivery.id)}
                onClick={() => {
                  setOpened({ delivery: delivery.id });
                }}
              >
                {messages.open}
              </button>
            ),
          },
        ]}
      />
      {opened === "toggle" && (
        <Confirm
          title={webhook.enabled ? texts.disableTitle : texts.enableTitle}
          text={webhook.enabled ? texts.disableText : texts.enableText}
          action={webhook.enabled ? texts.disable : texts.enable}
          done={webhook.enabled ? texts.disabled : texts.enabled}
          based={based}
          onConfirm={async () => {
            if (webhook.enabled)
              await call("put", "/webhooks/{id}", {
                params: { id },
                body: { enabled: false },
                ifMatch: etag,
              });
            else await call("post", "/webhooks/{id}/enable", { params: { id } });
            reload();
          }}
          onClose={close}
        />
      )}
      {opened === "roll" && (
        <Confirm
          title={texts.roll}
          text={texts.rollText}
          action={texts.roll}
          onConfirm={async () => {
            const { data } = await call("post", "/webhooks/{id}/rotate-secret", { params: { id }, body: {} });
            setOpened({ secret: data.secret });
          }}
          onClose={() => {
            // the new secret is shown in place of this dialog
            setOpened((now) => (now === "roll" ? undefined : now));
          }}
        />
      )}
      {opened === "remove" && (
        <Confirm
          title={texts.removeTitle}
          text={texts.removeText}
          action={texts.remove}
          danger
          done={texts.removed}
          based={based}
          onConfirm={async () => {
            await call("delete", "/webhooks/{id}", { params: { id }, ifMatch: etag });
            navigate("/webhooks");
          }}
          onClose={close}
        />
      )}
      {typeof opened === "object" && "secret" in opened && (
        <ShownOnce
          title={texts.secretTitle}
          text={texts.secretText}
          label={texts.secret}
          secret={opened.secret}
          done={texts.stored}
          onClose={close}
        />
      )}
      {typeof opened === "object" && "delivery" in opened && (
        <Delivery id={id} delivery={opened.delivery} onClose={close} onRedelivered={deliveries.reload} />
      )}
    </Page>
  );
}

interface DeliveryProps {
  readonly id: string;
  readonly delivery: string;
  readonly onClose: () => void;
  readonly onRedelivered: () => void;
}

/** What was sent, and what was answered. */
function Delivery({ id, delivery, onClose, onRedelivered }: DeliveryProps) {
  const { answer, failure, reload } = useQuery("/webhooks/{id}/deliveries/{delivery_id}", {
    params: { id, delivery_id: delivery },
  });
  const { run, busy, failure: notDone } = useAction();
  const again = () =>
    run(async () => {
      await call("post", "/webhooks/{id}/deliveries/{delivery_id}/redeliver", {
        params: { id, delivery_id: delivery },
      });
      announce(texts.redelivered);
      onRedelivered();
      onClose();
    });
  return (
    <Dialog title={texts.delivery} onClose={onClose}>
      {failure && <Failure failure={failure} retry={reload} />}
      {!answer && !failure && <Loading />}
      {answer && (
        <>
          <h3>{texts.payload}</h3>
          <Copyable text={JSON.stringify(answer.data.payload, null, 2)} label={texts.payload} />
          <h3>
            {texts.answer} {answer.data.response_status}
          </h3>
          {answer.data.error !== null && (
            <p class="problem">
              {texts.error}: {answer.data.error}
            </p>
          )}
          {answer.data.response_body !== null && answer.data.response_body !== "" && (
            <Copyable text={answer.data.response_body} label={texts.answer} />
          )}
        </>
      )}
      <FormFailure failure={notDone} fields={[]} />
      <div class="row">
        {may("configure") && (
          <button
            type="button"
            class="main"
            aria-disabled={busy}
            disabled={!answer}
            onClick={() => void again()}
          >
            {texts.redeliver}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {messages.close}
        </button>
      </div>
    </Dialog>
  );
}

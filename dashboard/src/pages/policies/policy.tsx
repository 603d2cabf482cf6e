import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call, may } from "../../api/client.ts";
import type { Item } from "../../api/types.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { requirements as texts } from "../../messages/requirements.ts";
import { Page } from "../../shell.tsx";
import { many } from "../../messages/many.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Badge, Empty, Time, announce } from "../../ui/parts.tsx";
import { PendingPage } from "../../ui/pending-page.tsx";
import { Table, listQuery, type Column } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { Assign } from "./assign.tsx";
import { PolicyForm } from "./form.tsx";
import { ManyCustomers } from "./many/many.tsx";
import { requiredBy } from "./required-by.ts";

const TABS = ["customers", "many"] as const;
type Assignee = Item<"/policies/{id}/customers">;
type Opened = "edit" | "remove" | "assign" | Assignee;

/** One policy, and the customers that it is assigned to. */
export function Policy({ id }: { readonly id: string }) {
  const url = useUrlState();
  const { answer, failure, reload } = useQuery("/policies/{id}", { params: { id } });
  const tab = TABS.find((one) => one === url.values["tab"]) ?? "customers";
  const customers = useQuery("/policies/{id}/customers", {
    params: { id },
    query: listQuery(url, ["assigned_at"] as const),
    off: tab !== "customers",
  });
  const [opened, setOpened] = useState<Opened>();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const [, navigate] = useLocation();
  const close = () => {
    setOpened(undefined);
  };
  if (failure || !answer) return <PendingPage title={texts.title} failure={failure} retry={reload} />;
  const { data: policy, etag } = answer;
  const button = (what: "edit" | "remove" | "assign", title: string, className?: string) => (
    <button
      type="button"
      class={className}
      onClick={() => {
        setOpened(what);
      }}
    >
      {title}
    </button>
  );
  return (
    <Page
      title={policy.name}
      actions={
        may("configure") && (
          <>
            {button("edit", texts.edit)}
            {button("assign", texts.assign)}
            {button("remove", texts.remove, "danger")}
          </>
        )
      }
    >
      {warnings.map((warning) => (
        <p key={warning} class="card" role="status">
          {warning}
        </p>
      ))}
      <div class="card">
        <dl class="facts">
          <dt>{texts.status}</dt>
          <dd>
            <Badge of={policy.status} />
          </dd>
          <dt>{texts.type}</dt>
          <dd>{texts.types[policy.type]}</dd>
          <dt>{texts.conditions}</dt>
          <dd>
            {requiredBy(policy.conditions).map((line) => (
              <div key={line}>{line}</div>
            ))}
          </dd>
          <dt>{texts.description}</dt>
          <dd>{policy.description || messages.none}</dd>
          <dt>{texts.id}</dt>
          <dd>
            <code>{policy.id}</code>
          </dd>
          <dt>{texts.createdAt}</dt>
          <dd>
            <Time at={policy.created_at} />
          </dd>
          <dt>{texts.updatedAt}</dt>
          <dd>
            <Time at={policy.updated_at} />
          </dd>
        </dl>
      </div>
      <nav class="row card" aria-label={many.tabs.label}>
        {TABS.map((one) => (
          <Link
            key={one}
            class={one === tab ? "button main" : "button"}
            href={`/policies/${id}${one === "customers" ? "" : `?tab=${one}`}`}
            aria-current={one === tab ? "true" : undefined}
          >
            {many.tabs[one]}
          </Link>
        ))}
      </nav>
      <section aria-label={many.tabs[tab]}>
        {tab === "many" ? (
          <ManyCustomers policy={policy} />
        ) : (
          <Table
            caption={texts.customers}
            loaded={customers}
            url={url}
            idOf={(customer) => customer.id}
            empty={<Empty title={texts.noCustomers} />}
            columns={columnsOf(setOpened)}
          />
        )}
      </section>
      {opened === "edit" && (
        <PolicyForm
          title={texts.edit}
          given={{ policy, etag }}
          save={async ({ type: _same, ...body }, ifMatch) => {
            const saved = await call("put", "/policies/{id}", { params: { id }, body, ifMatch });
            setWarnings(saved.warnings);
            announce(texts.saved);
            reload();
          }}
          onClose={() => {
            close();
            reload();
          }}
        />
      )}
      {opened === "remove" && (
        <Confirm
          title={texts.remove}
          text={texts.removeText(policy.name)}
          action={texts.remove}
          danger
          done={texts.removed}
          based={{
            on: policy,
            reread: async () => (await call("get", "/policies/{id}", { params: { id } })).data,
            reload,
          }}
          onConfirm={async () => {
            await call("delete", "/policies/{id}", { params: { id }, ifMatch: etag });
            navigate("/policies");
          }}
          onClose={close}
        />
      )}
      {opened === "assign" && (
        <Assign
          policy={policy}
          onClose={close}
          onAssigned={(said) => {
            setWarnings(said);
            close();
            customers.reload();
          }}
        />
      )}
      {typeof opened === "object" && (
        <Confirm
          title={texts.unassignOf(opened.name)}
          text={texts.unassignText}
          action={texts.unassign}
          danger
          done={texts.unassigned}
          onConfirm={async () => {
            await call("delete", "/customers/{id}/policies/{policy_id}", {
              params: { id: opened.id, policy_id: id },
            });
            customers.reload();
          }}
          onClose={close}
        />
      )}
    </Page>
  );
}

function columnsOf(open: (customer: Assignee) => void): Column<Assignee>[] {
  return [
    { title: texts.customer, cell: ({ id, name }) => <Link href={`/customers/${id}`}>{name}</Link> },
    { title: texts.status, cell: ({ status }) => <Badge of={status} /> },
    { title: texts.assignedAt, sort: "assigned_at", cell: ({ assigned_at: at }) => <Time at={at} /> },
    ...(may("configure")
      ? [
          {
            title: messages.actions,
            cell: (customer: Assignee) => (
              <button
                type="button"
                aria-label={texts.unassignOf(customer.name)}
                onClick={() => {
                  open(customer);
                }}
              >
                {texts.unassign}
              </button>
            ),
          },
        ]
      : []),
  ];
}

import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call, may } from "../api/client.ts";
import { useQuery } from "../api/use-query.ts";
import { environment } from "../environment.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Badge, Time } from "../ui/parts.tsx";
import { PendingPage } from "../ui/pending-page.tsx";
import { useUrlState } from "../ui/url-state.ts";
import { Activity } from "./customer/activity.tsx";
import { AssignedPolicies } from "./customer/policies.tsx";
import { People } from "./customer/people.tsx";
import { Provider } from "./customer/provider.tsx";
import { Sessions } from "./customer/sessions.tsx";
import { Users } from "./customer/users.tsx";

const texts = messages.customers;
const TABS = ["details", "provider", "users", "sessions", "policies", "activity", "people"] as const;
/** Not every tab is there for everybody. */
const isOffered = (tab: (typeof TABS)[number]) =>
  tab !== "people" || (environment === "sandbox" && may("sandbox"));

export function Customer({ id }: { readonly id: string }) {
  const { values } = useUrlState();
  const tab = TABS.filter(isOffered).find((name) => name === values["tab"]) ?? "details";
  const loaded = useQuery("/customers/{id}", { params: { id } });
  const [changing, setChanging] = useState(false);
  const { answer, failure, reload } = loaded;
  if (failure || !answer) return <PendingPage title={texts.title} failure={failure} retry={reload} />;
  const { data: customer, etag } = answer;
  const isActive = customer.status === "active";
  return (
    <Page
      title={customer.name}
      actions={
        may("configure") && (
          <button
            type="button"
            class={isActive ? "danger" : undefined}
            onClick={() => {
              setChanging(true);
            }}
          >
            {isActive ? texts.suspend : texts.activate}
          </button>
        )
      }
    >
      <nav class="row card" aria-label={texts.tabs.label}>
        {TABS.filter(isOffered).map((name) => (
          <Link
            key={name}
            class={name === tab ? "button main" : "button"}
            href={name === "details" ? `/customers/${id}` : `/customers/${id}?tab=${name}`}
            aria-current={name === tab ? "true" : undefined}
          >
            {texts.tabs[name]}
          </Link>
        ))}
      </nav>
      <section aria-label={texts.tabs[tab]}>
        {tab === "details" && (
          <div class="card">
            <dl class="facts">
              <dt>{texts.status}</dt>
              <dd>
                <Badge of={customer.status} />
              </dd>
              <dt>{texts.id}</dt>
              <dd>
                <code>{customer.id}</code>
              </dd>
              <dt>{texts.externalId}</dt>
              <dd>{customer.external_id ?? messages.none}</dd>
              <dt>{texts.returnUrls}</dt>
              <dd>{customer.allowed_return_urls.join(", ") || messages.none}</dd>
              <dt>{texts.roles}</dt>
              <dd>{customer.allowed_roles?.join(", ") ?? messages.none}</dd>
              <dt>{texts.createdAt}</dt>
              <dd>
                <Time at={customer.created_at} />
              </dd>
              <dt>{texts.updatedAt}</dt>
              <dd>
                <Time at={customer.updated_at} />
              </dd>
            </dl>
          </div>
        )}
        {tab === "provider" && <Provider id={id} />}
        {tab === "users" && <Users id={id} />}
        {tab === "sessions" && <Sessions id={id} />}
        {tab === "policies" && <AssignedPolicies id={id} />}
        {tab === "activity" && <Activity id={id} />}
        {tab === "people" && <People id={id} />}
      </section>
      <p>
        <Link href={`/audit?customer_id=${encodeURIComponent(id)}`}>{texts.audit}</Link>
      </p>
      {changing && (
        <Confirm
          title={isActive ? texts.suspend : texts.activate}
          text={isActive ? texts.suspendText(customer.name) : texts.activateText(customer.name)}
          action={isActive ? texts.suspend : texts.activate}
          danger={isActive}
          done={texts.statusChanged}
          based={{
            on: customer,
            reread: async () => (await call("get", "/customers/{id}", { params: { id } })).data,
            reload,
          }}
          onConfirm={async () => {
            const body = { status: isActive ? "suspended" : "active" } as const;
            await call("put", "/customers/{id}", { params: { id }, body, ifMatch: etag });
            reload();
          }}
          onClose={() => {
            setChanging(false);
          }}
        />
      )}
    </Page>
  );
}

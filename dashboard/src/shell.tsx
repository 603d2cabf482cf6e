import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link, Route, Switch, useLocation } from "wouter-preact";
import { call, session, sessionLost } from "./api/client.ts";
import type { Session } from "./api/types.ts";
import { useAction } from "./api/use-action.ts";
import { environment, environmentName } from "./environment.ts";
import { messages } from "./messages/index.ts";
import { Audit } from "./pages/audit.tsx";
import { Customer } from "./pages/customer.tsx";
import { Customers } from "./pages/customers.tsx";
import { Events } from "./pages/events.tsx";
import { Gateways } from "./pages/gateways.tsx";
import { Keys } from "./pages/keys.tsx";
import { Overview } from "./pages/overview.tsx";
import { AllSessions } from "./pages/sessions.tsx";
import { Webhook } from "./pages/webhook.tsx";
import { Webhooks } from "./pages/webhooks.tsx";
import { ErrorBoundary } from "./ui/error-boundary.tsx";
import { lazyPage } from "./ui/lazy-page.tsx";
import { useKeptFocus } from "./ui/kept-focus.ts";
import { announce } from "./ui/parts.tsx";
import { setTheme, theme, THEMES } from "./ui/theme.ts";

const PAGES = [
  ["/", messages.nav.overview],
  ["/customers", messages.nav.customers],
  ["/sessions", messages.nav.sessions],
  ["/policies", messages.nav.policies],
  ["/policy-sets", messages.nav.policySets],
  ["/keys", messages.nav.keys],
  ["/audit", messages.nav.audit],
  ["/explain", messages.nav.explain],
  ["/events", messages.nav.events],
  ["/gateways", messages.nav.gateways],
  ["/webhooks", messages.nav.webhooks],
  ["/settings", messages.nav.settings],
] as const;

const Policies = lazyPage(async () => (await import("./pages/policies/list.tsx")).Policies);
const Policy = lazyPage(async () => (await import("./pages/policies/policy.tsx")).Policy);
const PolicySets = lazyPage(async () => (await import("./pages/policy-sets/list.tsx")).PolicySets);
const PolicySet = lazyPage(async () => (await import("./pages/policy-sets/set.tsx")).PolicySet);
const Settings = lazyPage(async () => (await import("./pages/settings/settings.tsx")).Settings);
const Explain = lazyPage(async () => (await import("./pages/explain/explain.tsx")).Explain);

export function EnvironmentBar() {
  return <div class="environment">{messages.environmentBar[environment]}</div>;
}

export function Shell({ who }: { readonly who: Session }) {
  const [location] = useLocation();
  useKeptFocus();
  return (
    <>
      <a class="skip" href="#content">
        {messages.skip}
      </a>
      <header>
        <EnvironmentBar />
      </header>
      <div class="shell">
        <div class="side">
          <p class="brand">{messages.product}</p>
          <nav aria-label={messages.nav.label}>
            <ul>
              {PAGES.map(([path, title]) => (
                <li key={path}>
                  <Link href={path} aria-current={isWithin(location, path) ? "page" : undefined}>
                    {title}
                  </Link>
                </li>
              ))}
              <li>
                <a href="/docs">{messages.nav.api}</a>
              </li>
            </ul>
          </nav>
        </div>
        <div>
          <PersonBar who={who} />
          <main id="content" tabIndex={-1}>
            <ErrorBoundary>
              <Switch>
                <Route path="/" component={Overview} />
                <Route path="/customers" component={Customers} />
                <Route path="/customers/:id">{({ id }) => <Customer key={id} id={id} />}</Route>
                <Route path="/sessions" component={AllSessions} />
                <Route path="/policies" component={Policies} />
                <Route path="/policies/:id">{({ id }) => <Policy key={id} id={id} />}</Route>
                <Route path="/policy-sets" component={PolicySets} />
                <Route path="/policy-sets/:id">{({ id }) => <PolicySet key={id} name={id} />}</Route>
                <Route path="/keys" component={Keys} />
                <Route path="/audit" component={Audit} />
                <Route path="/explain" component={Explain} />
                <Route path="/events" component={Events} />
                <Route path="/gateways" component={Gateways} />
                <Route path="/webhooks" component={Webhooks} />
                <Route path="/settings" component={Settings} />
                <Route path="/webhooks/:id">{({ id }) => <Webhook key={id} id={id} />}</Route>
                <Route>
                  <Page title={messages.notFound.title}>
                    <p>{messages.notFound.text}</p>
                  </Page>
                </Route>
              </Switch>
            </ErrorBoundary>
          </main>
        </div>
      </div>
    </>
  );
}

function isWithin(location: string, path: string): boolean {
  return location === path || (path !== "/" && location.startsWith(`${path}/`));
}

function PersonBar({ who }: { readonly who: Session }) {
  const { run, busy, failure } = useAction();
  const signOut = () =>
    run(async () => {
      await call("post", "/dashboard/logout");
      sessionLost.value = false;
      session.value = null;
      announce(messages.signIn.done);
    });
  return (
    <div class="person" role="region" aria-label={who.user.name}>
      {failure && <span class="problem">{failure.message}</span>}
      <span>
        {who.user.name} <span class="quiet">({who.user.role})</span>
      </span>
      <label class="row">
        <span class="quiet">{messages.person.theme}</span>
        <select
          value={theme.value}
          onChange={({ currentTarget }) => {
            const chosen = THEMES.find((name) => name === currentTarget.value);
            if (chosen) setTheme(chosen);
          }}
        >
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {messages.person[name]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" aria-disabled={busy} onClick={() => void signOut()}>
        {messages.person.signOut}
      </button>
    </div>
  );
}

interface PageProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page: its heading takes the focus when the page opens, as after a real navigation. */
export function Page({ title, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
  }, []);
  useEffect(() => {
    document.title = `${title} · ${messages.product} ${environmentName}`;
  }, [title]);
  return (
    <>
      <div class="heading">
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {actions && <div class="row">{actions}</div>}
      </div>
      {children}
    </>
  );
}

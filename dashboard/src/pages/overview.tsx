import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Data, Item } from "../api/types.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { DecisionChart } from "../ui/chart.tsx";
import { Empty, Failure, Loading, Time } from "../ui/parts.tsx";
import { Table, listQuery } from "../ui/table.tsx";
import { useUrlState } from "../ui/url-state.ts";
import { FirstSteps } from "./first-steps.tsx";

const texts = messages.overview;
const HOURS = { "1h": 1, "24h": 24, "7d": 168, "30d": 720 } as const;
type Range = keyof typeof HOURS;
type Dashboard = Data<"/analytics/dashboard">;

/** What the gateways decided; or, before the first decision, the way to it. */
export function Overview() {
  const first = useQuery("/audit/logs", { query: { kind: "decision", limit: 1 } });
  const [started, setStarted] = useState(false);
  if (first.failure)
    return (
      <Page title={texts.title}>
        <Failure failure={first.failure} retry={first.reload} />
      </Page>
    );
  if (first.answer === undefined)
    return (
      <Page title={texts.title}>
        <Loading />
      </Page>
    );
  if (first.answer.data.length === 0 && !started)
    return (
      <FirstSteps
        onDone={() => {
          setStarted(true);
        }}
      />
    );
  return <Figures />;
}

function Figures() {
  const { values, set } = useUrlState();
  const range: Range = (Object.keys(HOURS) as Range[]).find((name) => name === values["range"]) ?? "24h";
  const { answer, failure, reload } = useQuery("/analytics/dashboard", {
    lastMs: HOURS[range] * 3_600_000,
    every: 10_000,
  });
  return (
    <Page
      title={texts.title}
      actions={
        <label class="row">
          <span>{texts.range}</span>
          <select
            value={range}
            onChange={({ currentTarget }) => {
              set({ range: currentTarget.value });
            }}
          >
            {Object.entries(texts.ranges).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      }
    >
      {failure && <Failure failure={failure} retry={reload} />}
      {answer ? <Panels figures={answer.data} /> : !failure && <Loading />}
    </Page>
  );
}

const number = (value: number) => value.toLocaleString("en");

function Panels({ figures }: { readonly figures: Dashboard }) {
  const { from, to, requests, by_reason, by_resource, by_customer, sign_ins, users, sessions, latency } =
    figures;
  const audit = (more: Readonly<Record<string, string>>) =>
    `/audit?${new URLSearchParams({ from, to, kind: "decision", ...more }).toString()}`;
  const events = (type: string) => `/events?${new URLSearchParams({ from, to, type }).toString()}`;
  const denials = by_reason.filter(({ decision }) => decision === "DENY");
  return (
    <>
      <div class="cards">
        <Figure title={texts.decisions} value={number(requests.total)} href={audit({})} />
        <Figure title={texts.allowed} value={number(requests.allowed)} href={audit({ decision: "ALLOW" })} />
        <Figure title={texts.denied} value={number(requests.denied)} href={audit({ decision: "DENY" })} />
        <Figure
          title={texts.signIns}
          value={number(sign_ins.succeeded)}
          href={events("user.authenticated")}
          note={
            <Link href={events("user.authentication_failed")}>
              {texts.signInsFailed(number(sign_ins.failed))}
            </Link>
          }
        />
        <Figure title={texts.activeUsers} value={number(users.active)} href={`#${ACTIVE_USERS}`} />
        <Figure title={texts.sessions} value={number(sessions.active)} href="/sessions?status=active" />
        {latency && (
          <Figure
            title={texts.latency}
            value={texts.milliseconds(latency.p99_ms)}
            href={audit({})}
            note={texts.percentiles(texts.milliseconds(latency.p50_ms), texts.milliseconds(latency.p95_ms))}
          />
        )}
      </div>
      <section class="card">
        <h2>{texts.overTime}</h2>
        <DecisionChart figures={figures} />
      </section>
      <div class="pair">
        <section class="card">
          <h2>{texts.byReason}</h2>
          {denials.length === 0 && <p class="quiet">{texts.noDenials}</p>}
          <Bars
            rows={denials.map(({ reason, requests: count }) => ({
              name: reason,
              share: count / Math.max(requests.denied, 1),
              text: number(count),
              href: audit({ decision: "DENY", reason }),
            }))}
          />
        </section>
        <section class="card">
          <h2>{texts.byResource}</h2>
          <Bars
            rows={by_resource.top.map(({ resource, requests: count, denied }) => ({
              name: resource ?? texts.unknown,
              share: denied / Math.max(count, 1),
              text: texts.ofWhichDenied(number(count), number(denied)),
              ...(resource !== null && { href: audit(recordsOf(resource)) }),
            }))}
          />
        </section>
        {by_customer && (
          <section class="card">
            <h2>{texts.byCustomer}</h2>
            <Bars
              rows={by_customer.top.map(({ customer_id: id, requests: count, denied }) => ({
                name: id ?? texts.unknown,
                share: denied / Math.max(count, 1),
                text: texts.ofWhichDenied(number(count), number(denied)),
                ...(id !== null && { href: audit({ customer_id: id }) }),
              }))}
            />
          </section>
        )}
      </div>
      <ActiveUsers since={from} audit={audit} />
    </>
  );
}

const ACTIVE_USERS = "active-users";

interface ActiveUsersProps {
  readonly since: string;
  readonly audit: (more: Readonly<Record<string, string>>) => string;
}

/** Who is behind the number of active users; each leads to the own decisions. */
function ActiveUsers({ since, audit }: ActiveUsersProps) {
  const url = useUrlState();
  const loaded = useQuery("/analytics/users", {
    query: {
      ...listQuery(url, ["last_seen_at", "requests", "denied", "sign_ins"] as const),
      seen_since: since,
      limit: 10,
    },
  });
  return (
    <section id={ACTIVE_USERS} tabIndex={-1} aria-label={texts.activeUsers}>
      <h2>{texts.activeUsers}</h2>
      <Table
        caption={texts.activeUsers}
        loaded={loaded}
        url={url}
        idOf={({ user_id, customer_id }) => `${customer_id ?? ""} ${user_id}`}
        empty={<Empty title={texts.noUsers} />}
        columns={[
          {
            title: texts.user,
            cell: ({ user_id: id, email }) => (
              <Link href={audit({ user_id: id })}>{email ?? <code>{id}</code>}</Link>
            ),
          },
          {
            title: texts.customer,
            cell: ({ customer_id: id }) =>
              id !== null && (
                <Link href={`/customers/${encodeURIComponent(id)}`}>
                  <code>{id}</code>
                </Link>
              ),
          },
          ...(["requests", "denied", "sign_ins"] as const).map((name) => ({
            title: texts.ofUser[name],
            sort: name,
            numeric: true,
            cell: (user: Item<"/analytics/users">) => number(user[name]),
          })),
          { title: texts.lastSeen, sort: "last_seen_at", cell: (user) => <Time at={user.last_seen_at} /> },
        ]}
      />
    </section>
  );
}

/** The records of a rule's target, such as `GET /orders/{id}`: the trail is searched by the path's beginning. */
function recordsOf(resource: string): Readonly<Record<string, string>> {
  const [, method = "*", pattern = resource] = /^(\S+) (\S+)$/.exec(resource) ?? [];
  const literal = pattern.replace(/[{*].*$/, "");
  return {
    resource: literal === pattern ? pattern : `${literal}*`,
    ...(method !== "*" && { action: method }),
  };
}

interface FigureProps {
  readonly title: string;
  readonly value: string;
  readonly note?: ComponentChildren;
  readonly href: string;
}

function Figure({ title, value, note, href }: FigureProps) {
  return (
    <div class="card">
      <div class="quiet">{title}</div>
      <div class="figure">
        {href.startsWith("#") ? (
          // within the page, which the browser scrolls by itself
          <a href={href} aria-label={`${title}: ${value}`}>
            {value}
          </a>
        ) : (
          <Link href={href} aria-label={`${title}: ${value}`}>
            {value}
          </Link>
        )}
      </div>
      {note !== undefined && <div class="quiet">{note}</div>}
    </div>
  );
}

interface Bar {
  readonly name: string;
  /** 0 to 1. */
  readonly share: number;
  readonly text: string;
  readonly href?: string;
}

function Bars({ rows }: { readonly rows: readonly Bar[] }) {
  return (
    <ul class="bars">
      {rows.map(({ name, share, text, href }) => (
        <li key={name}>
          <div class="row">
            {href === undefined ? <code>{name}</code> : <Link href={href}>{name}</Link>}
            <span class="numeric">{text}</span>
          </div>
          <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
            <rect width={share * 100} height="1" />
          </svg>
        </li>
      ))}
    </ul>
  );
}

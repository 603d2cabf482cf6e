import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Item, Query } from "../api/types.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Choice, Filters, TextFilter, asIs, oneOf } from "../ui/filters.tsx";
import { Changes } from "../ui/changes.tsx";
import { Badge, Copyable, Dialog, Empty, Time } from "../ui/parts.tsx";
import { Table, listQuery, type Column } from "../ui/table.tsx";
import { Export } from "./audit-export.tsx";
import { useUrlState } from "../ui/url-state.ts";

const texts = messages.audit;
const VERDICTS = ["ALLOW", "DENY"] as const;
const TEXTS = [
  "reason",
  "customer_id",
  "user_id",
  "resource",
  "action",
  "rule",
  "request_id",
  "decision_id",
  "gateway",
] as const;
const TIMES = ["from", "to"] as const;
/** How soon a record shows while the page is live. */
const LIVE_MS = 1_000;
type Entry = Item<"/audit/logs">;

/** The trail: decisions, their outcomes, and changes. The address holds the search, so it can be shared. */
export function Audit() {
  const url = useUrlState();
  const { values } = url;
  const decision = oneOf(VERDICTS, values["decision"]);
  const given = Object.fromEntries(
    [...TEXTS, ...TIMES, "kind"].flatMap((name) =>
      values[name] === undefined ? [] : [[name, values[name]]],
    ),
  ) as Query<"/audit/logs">;
  const loaded = useQuery("/audit/logs", {
    query: { ...listQuery(url, ["timestamp"] as const), ...given, ...(decision && { decision }) },
    every: values["live"] === "1" ? LIVE_MS : undefined,
  });
  const [shown, setShown] = useState<Entry>();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Page
      title={texts.title}
      actions={
        <>
          <label class="row">
            <input
              type="checkbox"
              class="check"
              checked={values["live"] === "1"}
              onChange={({ currentTarget }) => {
                // new records are at the beginning, and none is before an end that has passed
                if (currentTarget.checked)
                  url.set({ live: "1", sort: undefined, order: undefined, to: undefined });
                else url.set({ live: undefined });
              }}
            />
            <span>{texts.live}</span>
          </label>
          <Export query={{ ...given, ...(decision && { decision }) }} />
        </>
      }
    >
      <Filters
        url={url}
        names={["kind", "decision", ...TIMES, ...TEXTS]}
        read={(name, value) => (name === "from" || name === "to" ? toInstant(value) : value)}
      >
        <Choice name="kind" label={texts.kind} url={url} options={texts.kinds} />
        <Choice name="decision" label={texts.filters.decision} url={url} options={asIs(VERDICTS)} />
        {TIMES.map((name) => (
          <TextFilter
            key={name}
            name={name}
            type="datetime-local"
            label={texts.filters[name]}
            value={toLocal(values[name])}
          />
        ))}
        <details open={TEXTS.some((name) => values[name] !== undefined)}>
          <summary>{texts.moreFilters}</summary>
          <div class="filters">
            {TEXTS.map((name) => (
              <TextFilter key={name} name={name} label={texts.filters[name]} value={values[name]} />
            ))}
          </div>
        </details>
      </Filters>
      <p class="quiet">{texts.zone(zone)}</p>
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={idOf}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
          </Empty>
        }
        columns={columns(setShown)}
      />
      {shown && (
        <Dialog
          title={texts.wholeRecord}
          onClose={() => {
            setShown(undefined);
          }}
        >
          {shown.kind === "change" && <Changes before={shown.before} after={shown.after} />}
          <Copyable text={JSON.stringify(shown, null, 2)} label={texts.wholeRecord} />
          <div class="row">
            {shown.kind === "decision" && (
              <Link class="button main" href={`/explain?decision=${encodeURIComponent(shown.decision_id)}`}>
                {texts.explain}
              </Link>
            )}
            <button
              type="button"
              onClick={() => {
                setShown(undefined);
              }}
            >
              {messages.close}
            </button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}

/** Unique within the trail. */
function idOf(entry: Entry): string {
  if (entry.kind === "change" || entry.kind === "shadow" || entry.kind === "refused_call") return entry.id;
  return `${entry.kind}/${entry.decision_id}/${entry.timestamp}`;
}

function columns(show: (entry: Entry) => void): readonly Column<Entry>[] {
  return [
    { title: texts.time, sort: "timestamp", cell: (entry) => <Time at={entry.timestamp} /> },
    {
      title: texts.verdict,
      cell: (entry) => <Badge of={entry.kind === "decision" ? entry.decision : entry.kind} />,
    },
    { title: texts.what, cell: (entry) => <code>{whatOf(entry)}</code> },
    {
      title: texts.who,
      cell: whoOf,
    },
    { title: texts.resource, cell: (entry) => <code>{resourceOf(entry)}</code> },
    { title: texts.customer, cell: customerOf },
    {
      title: texts.record,
      cell: (entry) => (
        <button
          type="button"
          aria-label={texts.showOf(idOf(entry))}
          onClick={() => {
            show(entry);
          }}
        >
          {texts.show}
        </button>
      ),
    },
  ];
}

function whatOf(entry: Entry): string {
  switch (entry.kind) {
    case "decision":
      return entry.reason;
    case "change":
      return entry.action;
    case "refused_call":
      return entry.code;
    case "outcome":
      return entry.event;
    case "shadow":
      return texts.candidate[entry.difference];
    case "rollout":
      return entry.change;
  }
}

function whoOf(entry: Entry) {
  if (entry.kind === "rollout") return entry.gateway;
  return entry.kind === "change" ? (entry.actor.name ?? entry.actor.id) : <code>{entry.user_id}</code>;
}

function customerOf(entry: Entry) {
  if (entry.kind === "rollout" || entry.customer_id === undefined) return undefined;
  return <code>{entry.customer_id}</code>;
}

function resourceOf(entry: Entry): string {
  switch (entry.kind) {
    case "decision":
    case "shadow":
      return `${entry.action} ${entry.resource}`;
    case "change":
      return `${entry.target.type}/${entry.target.id}`;
    case "refused_call":
      return `${entry.method} ${entry.path === "" ? entry.operation : entry.path}`;
    case "rollout":
      return entry.policy_set;
    case "outcome":
      return "";
  }
}

/** What a time field of the reader's zone says, as an instant. */
function toInstant(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString();
}

function toLocal(instant: string | undefined): string | undefined {
  const time = new Date(instant ?? "");
  if (Number.isNaN(time.getTime())) return undefined;
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { may } from "../../../api/client.ts";
import type { Item } from "../../../api/types.ts";
import { useQuery } from "../../../api/use-query.ts";
import { many as texts } from "../../../messages/many.ts";
import { messages } from "../../../messages/index.ts";
import { Badge, Empty, Time } from "../../../ui/parts.tsx";
import { Table, listQuery, type Column } from "../../../ui/table.tsx";
import { useUrlState } from "../../../ui/url-state.ts";
import type { Policy } from "../form.tsx";
import { JobCard } from "./job-card.tsx";
import { SelectionForm } from "./selection-form.tsx";
import { inWords, keepSelection, readSelection, type Selection } from "./selection.ts";

const REFRESH_MS = 2_000;
type Listed = Item<"/bulk-assignments">;

/** A policy for many customers: choose them, see whom it would lock out, do it, and watch it. The address names what is watched. */
export function ManyCustomers({ policy }: { readonly policy: Policy }) {
  const url = useUrlState();
  const { job } = url.values;
  const [selection, setSelection] = useState(() => readSelection(policy.id));
  const select = (next: Selection) => {
    keepSelection(policy.id, next);
    setSelection(next);
  };
  const loaded = useQuery("/bulk-assignments", {
    query: { ...listQuery(url, ["requested_at"] as const), policy_id: policy.id },
    every: REFRESH_MS,
  });
  const watch = (id: string) => {
    url.set({ job: id });
    loaded.reload();
  };
  return (
    <>
      {job !== undefined && (
        <JobCard key={job} id={job} policy={policy} selection={selection} onStarted={watch} />
      )}
      {may("configure") && (
        <SelectionForm policy={policy} selection={selection} select={select} onStarted={watch} />
      )}
      <h2>{texts.recent}</h2>
      <Table
        caption={texts.recent}
        loaded={loaded}
        url={url}
        idOf={({ id }) => id}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
          </Empty>
        }
        columns={columnsOf(policy.id)}
      />
    </>
  );
}

function columnsOf(policy: string): Column<Listed>[] {
  return [
    {
      title: texts.requestedAt,
      sort: "requested_at",
      cell: ({ requested_at: at }) => <Time at={at} />,
    },
    { title: texts.action, cell: ({ action }) => texts.kinds[action] },
    { title: texts.of, cell: ({ customers }) => inWords(customers) },
    { title: texts.state, cell: ({ status }) => <Badge of={texts.states[status]} /> },
    {
      title: texts.progress,
      cell: ({ progress: { done, total } }) => texts.progressText(done, total),
    },
    {
      title: texts.failed,
      numeric: true,
      cell: ({ progress: { failed } }) => failed.toLocaleString("en"),
    },
    { title: texts.requestedBy, cell: ({ requested_by: by }) => by.name ?? by.id },
    {
      title: messages.actions,
      cell: (one) => (
        <Link
          class="button"
          href={`/policies/${policy}?tab=many&job=${one.id}`}
          aria-label={texts.open(texts.jobTitle[one.action](inWords(one.customers)))}
        >
          {messages.open}
        </Link>
      ),
    },
  ];
}

import { Link } from "wouter-preact";
import type { Item } from "../../api/types.ts";
import { useQuery } from "../../api/use-query.ts";
import { history as texts, policySets, rollout } from "../../messages/policy-sets.ts";
import { Badge, Empty, Time } from "../../ui/parts.tsx";
import { Table, listQuery } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";

type Change = Extract<Item<"/audit/logs">, { kind: "change" }>;

/** Who published, activated and rolled out what, and when. */
export function SetHistory({ name }: { readonly name: string }) {
  const url = useUrlState();
  const resource = `policy_set/${name}`;
  const changes = useQuery("/audit/logs", {
    query: { ...listQuery(url, ["timestamp"] as const), kind: "change", resource },
  });
  const rollouts = useQuery("/policy-sets/{name}/rollouts", {
    params: { name },
    query: { limit: 25, sort: "started_at", order: "desc" },
  });
  return (
    <>
      <h2>{texts.changes}</h2>
      <Table
        caption={texts.changes}
        loaded={changes}
        url={url}
        idOf={(entry) => (entry as Change).id}
        empty={<Empty title={texts.none} />}
        columns={[
          { title: texts.at, sort: "timestamp", cell: ({ timestamp }) => <Time at={timestamp} /> },
          { title: texts.action, cell: (entry) => <code>{(entry as Change).action}</code> },
          { title: texts.by, cell: (entry) => byOf(entry as Change) },
          { title: texts.before, cell: (entry) => <Members of={(entry as Change).before} /> },
          { title: texts.after, cell: (entry) => <Members of={(entry as Change).after} /> },
        ]}
      />
      <p>
        <Link href={`/audit?kind=change&resource=${encodeURIComponent(resource)}`}>{texts.all}</Link>
      </p>
      <h2>{rollout.past}</h2>
      <Table
        caption={rollout.past}
        loaded={rollouts}
        idOf={({ id }) => id}
        empty={<Empty title={rollout.none} />}
        columns={[
          { title: rollout.since, cell: (one) => <Time at={one.started_at} /> },
          { title: rollout.candidate, cell: (one) => one.candidate.version },
          { title: rollout.stable, cell: (one) => one.stable.version },
          { title: rollout.state, cell: (one) => <Badge of={policySets.states[one.state]} /> },
          { title: rollout.cause, cell: (one) => one.detail ?? one.cause ?? "" },
          { title: rollout.ended, cell: (one) => one.ended_at !== null && <Time at={one.ended_at} /> },
          { title: rollout.by, cell: (one) => one.ended_by?.name ?? one.ended_by?.id ?? "" },
        ]}
      />
    </>
  );
}

function byOf(change: Change): string {
  const { actor } = change as { readonly actor?: { readonly id: string; readonly name?: string } };
  return actor?.name ?? actor?.id ?? "";
}

function Members({ of }: { readonly of: unknown }) {
  if (typeof of !== "object" || of === null) return null;
  return (
    <>
      {Object.entries(of).map(([name, value]) => (
        <div key={name}>
          <span class="quiet">{name}</span> {typeof value === "string" ? value : JSON.stringify(value)}
        </div>
      ))}
    </>
  );
}

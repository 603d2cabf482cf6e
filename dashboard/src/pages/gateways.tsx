import { Fragment, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { may } from "../api/client.ts";
import type { Item } from "../api/types.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { Page } from "../shell.tsx";
import { Choice, Filters, asIs, oneOf } from "../ui/filters.tsx";
import { Badge, Dialog, Empty, Time } from "../ui/parts.tsx";
import { Table, listQuery, type Column } from "../ui/table.tsx";
import { useUrlState } from "../ui/url-state.ts";

const texts = messages.gateways;
const STATUSES = ["alive", "lagging", "diverged", "lost"] as const;
const EVERY_MS = 5_000;

/** The fleet, as the gateways report it. */
export function Gateways() {
  const url = useUrlState();
  const status = oneOf(STATUSES, url.values["status"]);
  const loaded = useQuery("/gateways", {
    query: { ...listQuery(url, ["id", "last_seen_at"] as const), ...(status && { status }) },
    every: EVERY_MS,
  });
  const [shown, setShown] = useState<string>();
  const gateway = loaded.answer?.data.find(({ id }) => id === shown);
  return (
    <Page title={texts.title}>
      <Filters url={url} names={["status"]}>
        <Choice name="status" label={texts.status} url={url} options={asIs(STATUSES)} />
      </Filters>
      <Table
        caption={texts.title}
        loaded={loaded}
        url={url}
        idOf={(gateway) => gateway.id}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
            {may("keys") && (
              <Link class="button main" href="/keys?new=gateway">
                {texts.generateKey}
              </Link>
            )}
          </Empty>
        }
        columns={[
          ...COLUMNS,
          {
            title: messages.actions,
            cell: (gateway) => (
              <button
                type="button"
                aria-label={texts.detailsOf(gateway.name)}
                onClick={() => {
                  setShown(gateway.id);
                }}
              >
                {texts.details}
              </button>
            ),
          },
        ]}
      />
      {gateway && (
        <Dialog
          title={gateway.name}
          onClose={() => {
            setShown(undefined);
          }}
        >
          <Details gateway={gateway} />
          <button
            type="button"
            onClick={() => {
              setShown(undefined);
            }}
          >
            {messages.close}
          </button>
        </Dialog>
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Item<"/gateways">>[] = [
  {
    title: texts.name,
    cell: ({ name, address }) => (
      <>
        {name} <span class="quiet">{address}</span>
      </>
    ),
  },
  { title: texts.status, cell: ({ status }) => <Badge of={status} /> },
  { title: texts.version, cell: ({ version }) => version },
  { title: texts.set, cell: ({ policies }) => `${policies.set} ${policies.version ?? ""}` },
  {
    title: texts.digest,
    cell: ({ policies: { digest, active_digest: active } }) => (
      <>
        <code title={digest ?? undefined}>{short(digest)}</code>
        {active !== null && active !== digest && <div class="problem">{texts.published(short(active))}</div>}
      </>
    ),
  },
  { title: texts.rollout, cell: ({ rollout }) => rollout && texts.arm(rollout.mode, rollout.percentage) },
  { title: texts.workers, numeric: true, cell: ({ workers }) => `${workers.ready}/${workers.expected}` },
  { title: texts.clock, numeric: true, cell: ({ clock_offset_ms: ms }) => texts.clockOffset(ms) },
  { title: texts.lastSeen, sort: "last_seen_at", cell: ({ last_seen_at: at }) => <Time at={at} /> },
];

/** What a gateway says of itself, and what its status means. */
function Details({ gateway }: { readonly gateway: Item<"/gateways"> }) {
  const { status, policies, rollout, address, kind, version, workers, clock_offset_ms: clock } = gateway;
  const facts: readonly (readonly [title: string, value: ComponentChildren])[] = [
    [texts.id, gateway.id],
    [texts.address, address],
    [texts.kind, kind],
    [texts.version, version],
    [texts.source, texts.sources[policies.source]],
    [texts.set, `${policies.set} ${policies.version ?? ""}`],
    [texts.digest, <code>{policies.digest ?? messages.none}</code>],
    [texts.active, <code>{policies.active_digest ?? messages.none}</code>],
    [texts.enforcesSince, <Time at={policies.since} />],
    [texts.rollout, rollout === null ? messages.none : texts.arm(rollout.mode, rollout.percentage)],
    [texts.candidate, rollout === null ? messages.none : <code>{rollout.digest}</code>],
    [texts.decisions, rollout?.decisions === undefined ? messages.none : texts.ofEach(rollout.decisions)],
    [texts.workers, `${workers.ready}/${workers.expected}`],
    [texts.clock, texts.clockOffset(clock)],
    [texts.started, <Time at={gateway.started_at} />],
    [texts.registered, <Time at={gateway.registered_at} />],
    [texts.lastSeen, <Time at={gateway.last_seen_at} />],
    [texts.key, <code>{gateway.key}</code>],
  ];
  return (
    <>
      <p>
        <Badge of={status} /> {texts.means[status]}
      </p>
      <dl class="facts">
        {facts.map(([title, value]) => (
          <Fragment key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

function short(digest: string | null): string {
  return digest === null ? messages.none : digest.slice(0, 19);
}

import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call, may, type Answer } from "../../api/client.ts";
import type { Data, Item } from "../../api/types.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { policySets as texts } from "../../messages/policy-sets.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Badge, Empty, Time } from "../../ui/parts.tsx";
import { Table, listQuery, type Column } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { ChangedSince, isConflict, type Sides } from "./conflict.tsx";

export type LoadedSet = Answer<Data<"/policy-sets/{name}">>;
type Version = Item<"/policy-sets/{name}/versions">;
type Opened = "roll back" | { readonly activate: string } | { readonly changed: Sides };

interface VersionsProps {
  readonly name: string;
  readonly set: LoadedSet;
  readonly reload: () => void;
}

/** What is in force, and every version that could be. */
export function Versions({ name, set: { data: set, etag }, reload }: VersionsProps) {
  const url = useUrlState();
  const versions = useQuery("/policy-sets/{name}/versions", {
    params: { name },
    query: listQuery(url, ["published_at", "version"] as const),
  });
  const [opened, setOpened] = useState<Opened>();
  const close = () => {
    setOpened(undefined);
  };
  /** Makes a change to the set as it is shown; otherwise shows what it has become. */
  const change = async (make: () => Promise<unknown>) => {
    try {
      await make();
    } catch (failure) {
      if (!isConflict(failure)) throw failure;
      const { data: now } = await call("get", "/policy-sets/{name}", { params: { name } });
      setOpened({ changed: sidesOf(set, now) });
      return;
    }
    reload();
    versions.reload();
  };
  const encoded = encodeURIComponent(name);
  return (
    <>
      <div class="card">
        <dl class="facts">
          <dt>{texts.active}</dt>
          <dd>{set.active_version ?? <span class="quiet">{texts.noActive}</span>}</dd>
          <dt>{texts.digest}</dt>
          <dd>{set.active_digest === null ? messages.none : <code>{set.active_digest}</code>}</dd>
          <dt>{texts.activatedAt}</dt>
          <dd>
            <Time at={set.activated_at} />
          </dd>
          <dt>{texts.previous}</dt>
          <dd>{set.previous_version ?? messages.none}</dd>
          <dt>{texts.rollout}</dt>
          <dd>
            {set.rollout ? (
              <Link href={`/policy-sets/${encoded}?tab=rollout`}>
                {texts.rolloutShort(set.rollout.version, set.rollout.mode, set.rollout.percentage)}
              </Link>
            ) : (
              texts.noRollout
            )}
          </dd>
        </dl>
        {may("configure") && set.previous_version !== null && (
          <p class="row">
            <button
              type="button"
              class="danger"
              onClick={() => {
                setOpened("roll back");
              }}
            >
              {texts.rollBack}
            </button>
          </p>
        )}
      </div>
      <Table
        caption={texts.versions}
        loaded={versions}
        url={url}
        idOf={({ version }) => version}
        empty={<Empty title={texts.none} />}
        columns={columnsOf(encoded, (version) => {
          setOpened({ activate: version });
        })}
      />
      {opened === "roll back" && (
        <Confirm
          title={texts.rollBack}
          text={texts.rollBackText(set.active_version ?? "", set.previous_version ?? "")}
          action={texts.rollBack}
          danger
          done={texts.rolledBack(set.previous_version ?? "")}
          onConfirm={() =>
            change(() => call("post", "/policy-sets/{name}/rollback", { params: { name }, ifMatch: etag }))
          }
          onClose={() => {
            setOpened((now) => (now === "roll back" ? undefined : now));
          }}
        />
      )}
      {typeof opened === "object" && "activate" in opened && (
        <Confirm
          title={texts.activateOf(opened.activate)}
          text={texts.activateText(opened.activate, set.active_version ?? texts.noActive)}
          action={texts.activate}
          onConfirm={() =>
            change(() =>
              call("post", "/policy-sets/{name}/activate", {
                params: { name },
                body: { version: opened.activate },
                ifMatch: etag,
              }),
            )
          }
          onClose={() => {
            setOpened((now) => (now === opened ? undefined : now));
          }}
        />
      )}
      {typeof opened === "object" && "changed" in opened && (
        <ChangedSince
          title={texts.changedTitle}
          sides={opened.changed}
          onClose={() => {
            close();
            reload();
            versions.reload();
          }}
        />
      )}
    </>
  );
}

function columnsOf(encoded: string, activate: (version: string) => void): Column<Version>[] {
  return [
    {
      title: texts.version,
      sort: "version",
      cell: ({ version, active }) => (
        <>
          {version} {active && <Badge of="active" />}
        </>
      ),
    },
    { title: texts.rules, numeric: true, cell: ({ rules }) => rules.toLocaleString("en") },
    { title: texts.warnings, numeric: true, cell: ({ diagnostics }) => diagnostics.length },
    { title: texts.publishedAt, sort: "published_at", cell: ({ published_at: at }) => <Time at={at} /> },
    { title: texts.publishedBy, cell: ({ published_by: by }) => by.name ?? by.id },
    { title: texts.digest, cell: ({ digest }) => <code title={digest}>{digest.slice(0, 12)}</code> },
    {
      title: messages.actions,
      cell: ({ version, active }) => (
        <div class="row">
          <Link
            class="button"
            href={`/policy-sets/${encoded}?tab=edit&from=${encodeURIComponent(version)}`}
            aria-label={texts.openOf(version)}
          >
            {messages.open}
          </Link>
          {!active && (
            <Link
              class="button"
              href={`/policy-sets/${encoded}?tab=edit&from=${encodeURIComponent(version)}&compare=1`}
              aria-label={texts.compareOf(version)}
            >
              {texts.compare}
            </Link>
          )}
          {!active && may("configure") && (
            <button
              type="button"
              aria-label={texts.activateOf(version)}
              onClick={() => {
                activate(version);
              }}
            >
              {texts.activate}
            </button>
          )}
        </div>
      ),
    },
  ];
}

function sidesOf(seen: LoadedSet["data"], now: LoadedSet["data"]): Sides {
  return [
    [texts.active, seen.active_version ?? texts.noActive, now.active_version ?? texts.noActive],
    [texts.digest, seen.active_digest ?? messages.none, now.active_digest ?? messages.none],
    [texts.previous, seen.previous_version ?? messages.none, now.previous_version ?? messages.none],
    [texts.versionsCount, String(seen.versions), String(now.versions)],
  ];
}

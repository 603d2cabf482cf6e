import { useState } from "preact/hooks";
import { call, may } from "../../api/client.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { policySets, rollout as texts } from "../../messages/policy-sets.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Badge, Empty, Failure, Field, FormFailure, Loading, Time, announce } from "../../ui/parts.tsx";
import { useUrlState } from "../../ui/url-state.ts";
import { ChangedSince, isConflict, type Sides } from "./conflict.tsx";
import { GUARDS, Percentage, RolloutForm, type RolloutData } from "./rollout-form.tsx";
import { RolloutReports } from "./rollout-reports.tsx";
import "./policy-sets.css";

const REFRESH_MS = 2_000;
type Opened = "form" | "promote" | "abort" | { readonly changed: Sides };

interface RolloutProps {
  readonly name: string;
  readonly activeVersion: string | null;
  /** Reads the set again. */
  readonly reload: () => void;
}

/** The rollout that runs, or the last one, with what gateways say about it. */
export function Rollout({ name, activeVersion, reload: reloadSet }: RolloutProps) {
  const url = useUrlState();
  const start = url.values["start"];
  const { answer, failure, reload } = useQuery("/policy-sets/{name}/rollout", {
    params: { name },
    every: REFRESH_MS,
  });
  const [opened, setOpened] = useState<Opened | undefined>(
    start !== undefined && may("configure") ? "form" : undefined,
  );
  const none = failure?.status === 404;
  if (failure && !none) return <Failure failure={failure} retry={reload} />;
  if (!answer && !none) return <Loading />;
  const shown = none ? undefined : answer;
  const running = shown?.data.state === "running" ? shown.data : undefined;
  const etag = running ? (shown?.etag ?? null) : null;
  const close = () => {
    setOpened(undefined);
    if (start !== undefined) url.set({ start: undefined }, true);
  };
  const again = () => {
    close();
    reload();
    reloadSet();
  };
  const conflict = async (seen: RolloutData | undefined) => {
    const { data: now } = await call("get", "/policy-sets/{name}/rollout", { params: { name } });
    setOpened({ changed: sidesOf(seen ?? now, now) });
  };
  const change = async (seen: RolloutData, make: () => Promise<unknown>) => {
    try {
      await make();
    } catch (error) {
      if (!isConflict(error)) throw error;
      await conflict(seen);
      return;
    }
    reload();
    reloadSet();
  };
  return (
    <>
      {may("configure") && (
        <p class="row">
          {running ? (
            <>
              <Open what="promote" set={setOpened} className="main" />
              <Open what="form" set={setOpened} title={texts.change} />
              <Open what="abort" set={setOpened} className="danger" />
            </>
          ) : (
            activeVersion !== null && (
              <Open what="form" set={setOpened} title={texts.start} className="main" />
            )
          )}
        </p>
      )}
      {shown ? (
        <>
          <RolloutFacts data={shown.data} />
          {running?.mode === "enforce" && running.steps.length === 0 && may("configure") && (
            <Move key={running.revision} name={name} running={running} etag={etag} change={change} />
          )}
          <RolloutReports data={shown.data} name={name} />
        </>
      ) : (
        <Empty title={texts.none}>
          <p>{texts.noneText}</p>
        </Empty>
      )}
      {opened === "form" && (
        <RolloutForm
          name={name}
          activeVersion={activeVersion}
          running={running}
          etag={etag}
          candidate={start}
          onDone={again}
          onConflict={conflict}
          onClose={() => {
            setOpened((now) => (now === "form" ? undefined : now));
            if (start !== undefined) url.set({ start: undefined }, true);
          }}
        />
      )}
      {opened === "promote" && running && (
        <Promote
          name={name}
          running={running}
          etag={etag}
          change={change}
          onClose={() => {
            setOpened((now) => (now === "promote" ? undefined : now));
          }}
        />
      )}
      {opened === "abort" && running && (
        <Abort
          name={name}
          running={running}
          etag={etag}
          change={change}
          onClose={() => {
            setOpened((now) => (now === "abort" ? undefined : now));
          }}
        />
      )}
      {typeof opened === "object" && (
        <ChangedSince title={texts.changedTitle} sides={opened.changed} onClose={again} />
      )}
    </>
  );
}

interface OpenProps {
  readonly what: "form" | "promote" | "abort";
  readonly title?: string;
  readonly className?: string;
  readonly set: (opened: Opened) => void;
}

function Open({ what, title = what === "promote" ? texts.promote : texts.abort, className, set }: OpenProps) {
  return (
    <button
      type="button"
      class={className}
      onClick={() => {
        set(what);
      }}
    >
      {title}
    </button>
  );
}

function RolloutFacts({ data }: { readonly data: RolloutData }) {
  const { state, candidate, stable, mode, percentage, steps, sticky_by: sticky, guard } = data;
  return (
    <div class="card">
      <dl class="facts">
        <dt>{texts.state}</dt>
        <dd>
          <Badge of={policySets.states[state]} />
        </dd>
        <dt>{texts.candidate}</dt>
        <dd>{candidate.version}</dd>
        <dt>{texts.stable}</dt>
        <dd>{stable.version}</dd>
        <dt>{texts.mode}</dt>
        <dd>{texts.modes[mode]}</dd>
        {mode === "enforce" && (
          <>
            <dt>{texts.percentage}</dt>
            <dd>
              {texts.percent(percentage)}
              {steps.length > 0 && <span class="quiet"> ({steps.map(texts.percent).join(" → ")})</span>}
            </dd>
          </>
        )}
        <dt>{texts.stickyBy}</dt>
        <dd>{texts.sticky[sticky]}</dd>
        <dt>{texts.guardShort}</dt>
        <dd>
          {guard === null
            ? texts.noGuard
            : GUARDS.map(([name]) => (
                <div key={name}>
                  <span class="quiet">{texts.guards[name]}:</span> {guard[name]}
                </div>
              ))}
        </dd>
        <dt>{texts.since}</dt>
        <dd>
          <Time at={data.started_at} />{" "}
          <span class="quiet">{data.started_by.name ?? data.started_by.id}</span>
        </dd>
        {data.ended_at !== null && (
          <>
            <dt>{texts.ended}</dt>
            <dd>
              <Time at={data.ended_at} />{" "}
              <span class="quiet">{data.ended_by?.name ?? data.ended_by?.id ?? ""}</span>
            </dd>
          </>
        )}
        {data.cause !== null && (
          <>
            <dt>{texts.cause}</dt>
            <dd>
              {data.cause}
              {data.detail !== null && `: ${data.detail}`}
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

interface MoveProps {
  readonly name: string;
  readonly running: RolloutData;
  readonly etag: string | null;
  readonly change: (seen: RolloutData, make: () => Promise<unknown>) => Promise<void>;
}

/** The page reads the rollout again and again. A dialog is about the one that it was opened for. */
function useOpenedFor({ running, etag }: Pick<MoveProps, "running" | "etag">) {
  const [opened] = useState({ running, etag });
  return opened;
}

/** Moves the part of the callers, without the rest of the terms. */
function Move({ name, running, etag, change }: MoveProps) {
  const [value, setValue] = useState(running.percentage);
  const { run, busy, failure } = useAction();
  const { candidate, mode, sticky_by, guard } = running;
  const apply = () =>
    run(() =>
      change(running, async () => {
        const body = { version: candidate.version, mode, sticky_by, guard, percentage: value };
        await call("post", "/policy-sets/{name}/rollout", { params: { name }, body, ifMatch: etag });
        announce(texts.changed);
      }),
    );
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void apply();
      }}
    >
      <Percentage value={value} label={texts.move} onInput={setValue} />
      <FormFailure failure={failure} fields={[]} />
      <button type="submit" aria-disabled={busy} disabled={value === running.percentage}>
        {texts.apply(value)}
      </button>
    </form>
  );
}

function Promote({ name, change, onClose, ...now }: MoveProps & { readonly onClose: () => void }) {
  const { running, etag } = useOpenedFor(now);
  return (
    <Confirm
      title={texts.promote}
      text={texts.promoteText(running.candidate.version)}
      action={texts.promote}
      onConfirm={() =>
        change(running, async () => {
          await call("post", "/policy-sets/{name}/rollout/promote", { params: { name }, ifMatch: etag });
          announce(texts.promoted);
        })
      }
      onClose={onClose}
    />
  );
}

/** Ends a rollout, with the reason that people read later. */
function Abort({ name, change, onClose, ...now }: MoveProps & { readonly onClose: () => void }) {
  const { running, etag } = useOpenedFor(now);
  const [reason, setReason] = useState("");
  return (
    <Confirm
      title={texts.abort}
      text={texts.abortText(running.stable.version)}
      action={texts.abort}
      danger
      onConfirm={() =>
        change(running, async () => {
          const body = reason.trim() === "" ? {} : { detail: reason.trim() };
          await call("post", "/policy-sets/{name}/rollout/abort", { params: { name }, body, ifMatch: etag });
          announce(texts.aborted);
        })
      }
      onClose={onClose}
    >
      <Field name="detail" label={texts.abortReason}>
        {(given) => (
          <input
            {...given}
            maxLength={500}
            autocomplete="off"
            value={reason}
            onInput={({ currentTarget }) => {
              setReason(currentTarget.value);
            }}
          />
        )}
      </Field>
    </Confirm>
  );
}

function sidesOf(seen: RolloutData, now: RolloutData): Sides {
  const none = messages.none;
  return [
    [texts.state, policySets.states[seen.state], policySets.states[now.state]],
    [texts.candidate, seen.candidate.version, now.candidate.version],
    [texts.mode, seen.mode, now.mode],
    [texts.percentage, texts.percent(seen.percentage), texts.percent(now.percentage)],
    [texts.steps, seen.steps.join(" ") || none, now.steps.join(" ") || none],
    [texts.cause, seen.detail ?? seen.cause ?? none, now.detail ?? now.cause ?? none],
  ];
}

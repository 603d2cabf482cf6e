import { useEffect, useRef, useState } from "preact/hooks";
import { call, may } from "../../../api/client.ts";
import { useQuery } from "../../../api/use-query.ts";
import { many as texts } from "../../../messages/many.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Badge, Failure, Loading, Time, announce } from "../../../ui/parts.tsx";
import type { Policy } from "../form.tsx";
import { CustomerRows } from "./customer-rows.tsx";
import { ImpactExamples, ImpactText } from "./impact.tsx";
import { inWords, type Job, type Selection } from "./selection.ts";
import { ConfirmStart } from "./start.tsx";

const REFRESH_MS = 1_000;

interface JobCardProps {
  readonly id: string;
  readonly policy: Policy;
  readonly selection: Selection;
  readonly onStarted: (id: string) => void;
}

/** How far something for many customers has come, and what came of it. It is in the address, so a reload shows the same. */
export function JobCard({ id, policy, selection, onStarted }: JobCardProps) {
  const [ended, setEnded] = useState(false);
  const { answer, failure, reload } = useQuery("/bulk-assignments/{id}", {
    params: { id },
    every: ended ? undefined : REFRESH_MS,
  });
  const job = answer?.data;
  const isOver = job !== undefined && job.status !== "running";
  const heading = useRef<HTMLHeadingElement>(null);
  const seen = useRef<Job["status"]>();
  useEffect(() => {
    heading.current?.focus();
  }, [job === undefined]);
  useEffect(() => {
    if (!job) return;
    if (isOver) {
      setEnded(true);
      // one that had ended before the page was opened is no news
      if (seen.current === "running") announce(texts.ended[job.status]);
    }
    seen.current = job.status;
  }, [job?.status]);
  if (failure?.status === 404 || (job && job.policy_id !== policy.id))
    return (
      <p class="state" role="alert">
        {texts.notFound}
      </p>
    );
  if (!job) return failure ? <Failure failure={failure} retry={reload} /> : <Loading />;
  const title = texts.jobTitle[job.action](inWords(job.customers));
  return (
    <section class="card" aria-label={title}>
      <h2 tabIndex={-1} ref={heading}>
        {title}
      </h2>
      {failure && <Failure failure={failure} retry={reload} />}
      <Facts job={job} />
      {job.action === "preview" && (
        <>
          <h3>{texts.impact}</h3>
          <ImpactText job={job} />
          <ImpactExamples job={job} />
        </>
      )}
      <Failures job={job} />
      {may("configure") && (
        <Actions job={job} policy={policy} selection={selection} reload={reload} onStarted={onStarted} />
      )}
    </section>
  );
}

function Facts({ job }: { readonly job: Job }) {
  const { done, total, changed, failed } = job.progress;
  const text = texts.progressText(done, total);
  return (
    <dl class="facts">
      <dt>{texts.state}</dt>
      <dd>
        <Badge of={texts.states[job.status]} />
      </dd>
      <dt>{texts.progress}</dt>
      <dd>
        <progress
          max={Math.max(total, 1)}
          value={job.status === "finished" ? Math.max(total, 1) : done}
          aria-label={texts.progress}
          aria-valuetext={text}
        />{" "}
        {text}
      </dd>
      <dt>{texts.changed[job.action]}</dt>
      <dd>{changed.toLocaleString("en")}</dd>
      <dt>{texts.failed}</dt>
      <dd>{failed.toLocaleString("en")}</dd>
      {job.problem !== null && (
        <>
          <dt>{texts.problem}</dt>
          <dd class="problem">{job.problem}</dd>
        </>
      )}
      <dt>{texts.requestedAt}</dt>
      <dd>
        <Time at={job.requested_at} />{" "}
        <span class="quiet">{job.requested_by.name ?? job.requested_by.id}</span>
      </dd>
      {job.ended_at !== null && (
        <>
          <dt>{texts.endedAt}</dt>
          <dd>
            <Time at={job.ended_at} />
          </dd>
        </>
      )}
    </dl>
  );
}

function Failures({ job: { failures, progress } }: { readonly job: Job }) {
  if (failures.length === 0) return null;
  return (
    <>
      <h3>{texts.failures}</h3>
      {progress.failed > failures.length && (
        <p class="hint">{texts.failuresMore(progress.failed, failures.length)}</p>
      )}
      <CustomerRows
        caption={texts.failures}
        rows={failures}
        columns={[
          { title: texts.code, cell: ({ code }) => <code>{code}</code> },
          { title: texts.reason, cell: ({ message }) => message },
        ]}
      />
    </>
  );
}

interface ActionsProps extends Omit<JobCardProps, "id"> {
  readonly job: Job;
  readonly reload: () => void;
}

/** What there is to do now: cancel it, or do what was previewed. */
function Actions({ job, policy, selection, reload, onStarted }: ActionsProps) {
  const [opened, setOpened] = useState<"cancel" | "start">();
  const close = () => {
    setOpened(undefined);
  };
  const isRunning = job.status === "running";
  const isPreviewed = job.action === "preview" && job.status === "finished";
  const isSame = selection.preview === job.id;
  return (
    <>
      {isPreviewed && !isSame && <p class="hint">{texts.again}</p>}
      <p class="row">
        {isPreviewed && isSame && (
          <button
            type="button"
            class="main"
            onClick={() => {
              setOpened("start");
            }}
          >
            {texts.jobTitle.assign(inWords(job.customers))}
          </button>
        )}
        {isRunning && (
          <button
            type="button"
            class="danger"
            onClick={() => {
              setOpened("cancel");
            }}
          >
            {texts.cancel}
          </button>
        )}
      </p>
      {opened === "start" && (
        <ConfirmStart policy={policy} selection={selection} onStarted={onStarted} onClose={close} />
      )}
      {opened === "cancel" && (
        <Confirm
          title={texts.cancel}
          text={texts.cancelText}
          action={texts.cancel}
          danger
          done={texts.cancelled}
          onConfirm={async () => {
            await call("post", "/bulk-assignments/{id}/cancel", { params: { id: job.id } });
            reload();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { ApiFailure, call } from "../../api/client.ts";
import type { ChosenSet } from "../../explain/link.ts";
import { exampleOfRecord, type RecordedExample } from "../../explain/record.ts";
import { messages } from "../../messages/index.ts";
import { Badge } from "../../ui/parts.tsx";

const texts = messages.explain;
const MOST = 100;

export type WithSet = "deciding" | "active";

/** A record's example, and the set to explain it with. */
export interface FoundRecord extends RecordedExample {
  readonly decisionId: string;
  readonly with: WithSet;
  /** Absent if that set is not published here. */
  readonly set: ChosenSet | undefined;
}

interface State {
  readonly key: string;
  readonly found?: FoundRecord;
  readonly failure?: ApiFailure;
}

/** Reads a decision's record; `undefined` without an id. */
export function useRecord(decisionId: string | undefined, withSet: WithSet) {
  const key = `${decisionId ?? ""}/${withSet}`;
  const [state, setState] = useState<State>({ key });
  const [version, setVersion] = useState(0);
  useEffect(() => {
    if (decisionId === undefined) return undefined;
    const ended = new AbortController();
    find(decisionId, withSet, ended.signal).then(
      (found) => {
        setState({ key, found });
      },
      (failure: unknown) => {
        if (ended.signal.aborted) return;
        if (!(failure instanceof ApiFailure)) throw failure;
        setState({ key, failure });
      },
    );
    return () => {
      ended.abort();
    };
  }, [key, version]);
  if (decisionId === undefined) return undefined;
  return {
    ...(state.key === key && state),
    reload: () => {
      setVersion((before) => before + 1);
    },
  } as Partial<State> & { readonly reload: () => void };
}

async function find(decisionId: string, withSet: WithSet, abort: AbortSignal): Promise<FoundRecord> {
  const { data } = await call("get", "/audit/logs", {
    query: { kind: "decision", decision_id: decisionId, inputs: "true", limit: 1 },
    abort,
  });
  const [entry] = data;
  if (entry === undefined) throw new ApiFailure(404, "NOT_FOUND", messages.audit.noRecord(decisionId));
  const recorded = exampleOfRecord(entry);
  return { ...recorded, decisionId, with: withSet, set: await setFor(recorded, withSet, abort) };
}

/** The version with the record's digest, or the active one of the same name. */
async function setFor(
  { record }: RecordedExample,
  withSet: WithSet,
  abort: AbortSignal,
): Promise<ChosenSet | undefined> {
  const name = (record.customer_policy_set ?? record.policy_set).replace(/@[^@]*$/, "");
  if (name === "") return undefined;
  try {
    if (withSet === "active") {
      const { data } = await call("get", "/policy-sets/{name}", { params: { name }, abort });
      return data.active_version === null
        ? undefined
        : { kind: "published", name, version: data.active_version };
    }
    for (let page = 1; ; page += 1) {
      const query = { page, limit: MOST, sort: "published_at", order: "desc" } as const;
      const { data } = await call("get", "/policy-sets/{name}/versions", { params: { name }, query, abort });
      const found = data.find(({ digest }) => digest === record.policy_digest);
      if (found !== undefined) return { kind: "published", name, version: found.version };
      if (data.length < MOST) return undefined;
    }
  } catch (failure) {
    if (failure instanceof ApiFailure && failure.status === 404) return undefined;
    throw failure;
  }
}

/** What the record says, and the choice between the two sets. */
export function RecordBanner({ recorded }: { readonly recorded: FoundRecord }) {
  const { record, notKept, decisionId, with: withSet, set } = recorded;
  const href = (other: WithSet) =>
    `/explain?${new URLSearchParams({ decision: decisionId, with: other }).toString()}`;
  return (
    <div class="card">
      <p>
        <Badge of={record.decision} /> {texts.record(record.decision, record.reason)}{" "}
        <span class="quiet">{record.timestamp}</span>
      </p>
      <nav class="row" aria-label={texts.setPart}>
        {(["deciding", "active"] as const).map((one) => (
          <Link
            key={one}
            class={one === withSet ? "button main" : "button"}
            aria-current={one === withSet ? "true" : undefined}
            href={href(one)}
          >
            {one === "deciding" ? texts.withDeciding : texts.withActive}
          </Link>
        ))}
      </nav>
      {set === undefined && (
        <p class="problem">{withSet === "active" ? texts.noActive : texts.unpublished}</p>
      )}
      {notKept.length > 0 && <p class="quiet">{texts.notKept(notKept.join(", "))}</p>}
    </div>
  );
}

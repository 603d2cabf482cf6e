import { useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { useQuery } from "../../api/use-query.ts";
import { readDraft, type Draft } from "../../editor/drafts.ts";
import { Failure, Loading } from "../../ui/parts.tsx";
import { Editing } from "./editing.tsx";
import type { LoadedSet } from "./versions.tsx";
import "./policy-sets.css";

/** What a new set begins with: nobody may do anything until a rule says so. */
const NEW_SET = (name: string) => `policy_set: ${name}
version: v1

policies:
  - resource: "GET /api/customers/{customer_id}"
    condition: user.customer_id == path.customer_id
`;

interface EditSetProps {
  readonly name: string;
  /** Absent for a set of which nothing is published. */
  readonly set: LoadedSet | undefined;
  /** The version to begin with, in place of the draft or the active one. */
  readonly from: string | undefined;
  readonly onPublished: () => void;
}

/** Loads what the editor begins with: the draft that the browser keeps, or a version. */
export function EditSet({ name, set, from, onPublished }: EditSetProps) {
  const [, navigate] = useLocation();
  const [round, setRound] = useState(0);
  const kept = readDraft(name);
  const active = set?.data.active_version ?? undefined;
  const start = from ?? kept?.basedOn ?? active;
  const version = (wanted: string | undefined) => ({
    params: { name, version: wanted ?? "" },
    off: wanted === undefined,
  });
  const base = useQuery("/policy-sets/{name}/versions/{version}", version(start));
  const current = useQuery("/policy-sets/{name}/versions/{version}", version(active));
  // the address asks for a version, and the draft is of another one
  const draft = from === undefined || kept?.basedOn === from ? kept : undefined;
  for (const { failure, reload } of [base, current])
    if (failure && !(failure.status === 404 && draft)) return <Failure failure={failure} retry={reload} />;
  if ((start !== undefined && !base.answer && !base.failure) || (active !== undefined && !current.answer))
    return <Loading />;
  const published: Draft = base.answer
    ? { files: base.answer.data.files, suites: kept?.suites ?? [], basedOn: base.answer.data.version }
    : { files: [{ name: "main.yaml", text: NEW_SET(name) }], suites: [], basedOn: null };
  return (
    <Editing
      key={`${round}`}
      name={name}
      set={set}
      active={current.answer?.data}
      began={draft ?? published}
      isKept={draft !== undefined}
      onDiscarded={() => {
        navigate(set ? `/policy-sets/${encodeURIComponent(name)}?tab=edit` : "/policy-sets");
        setRound((before) => before + 1);
      }}
      onPublished={onPublished}
    />
  );
}

import { call } from "../../../api/client.ts";
import { useQuery } from "../../../api/use-query.ts";
import { many as texts } from "../../../messages/many.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { announce } from "../../../ui/parts.tsx";
import type { Policy } from "../form.tsx";
import { ImpactText } from "./impact.tsx";
import { customersOf, inWords, type Job, type Selection } from "./selection.ts";

/** Starts what a selection says, or its preview. @throws ApiFailure */
export async function start(policy: Policy, selection: Selection, action: Job["action"]): Promise<Job> {
  const { data } = await call("post", "/policies/{id}/assignments", {
    params: { id: policy.id },
    body: { action, customers: customersOf(selection) },
  });
  announce(action === "preview" ? texts.previewStarted : texts.started);
  return data;
}

interface ConfirmStartProps {
  readonly policy: Policy;
  readonly selection: Selection;
  readonly onStarted: (id: string) => void;
  readonly onClose: () => void;
}

/** Asks before it starts, with what a preview of the same customers has found. */
export function ConfirmStart({ policy, selection, onStarted, onClose }: ConfirmStartProps) {
  const { action, preview } = selection;
  const customers = inWords(customersOf(selection));
  return (
    <Confirm
      title={texts.jobTitle[action](customers)}
      text={texts.confirm[action](policy.name, customers)}
      action={texts[action]}
      danger
      onConfirm={async () => {
        const { id } = await start(policy, selection, action);
        onStarted(id);
      }}
      onClose={onClose}
    >
      {action === "assign" &&
        (preview === undefined ? <p class="problem">{texts.notPreviewed}</p> : <Previewed id={preview} />)}
    </Confirm>
  );
}

function Previewed({ id }: { readonly id: string }) {
  const { answer, failure } = useQuery("/bulk-assignments/{id}", { params: { id } });
  if (failure) return <p class="problem">{texts.notPreviewed}</p>;
  return <div aria-busy={answer === undefined}>{answer && <ImpactText job={answer.data} />}</div>;
}

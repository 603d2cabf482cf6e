import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call, may } from "../../api/client.ts";
import type { Item } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { Confirm } from "../../ui/confirm.tsx";
import {
  Badge,
  Dialog,
  Empty,
  Field,
  FormFailure,
  Loading,
  NamedEnvironment,
  Time,
  announce,
} from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";
import { Table, listQuery } from "../../ui/table.tsx";
import { Impact } from "../policies/impact.tsx";
import { useUrlState } from "../../ui/url-state.ts";

const texts = messages.policies;
type Assigned = Item<"/customers/{id}/policies">;

/** What a customer's users must satisfy. */
export function AssignedPolicies({ id }: { readonly id: string }) {
  const url = useUrlState();
  const loaded = useQuery("/customers/{id}/policies", {
    params: { id },
    query: listQuery(url, ["assigned_at", "created_at", "updated_at", "name"] as const),
  });
  const [open, setOpen] = useState<"assign" | Assigned>();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const close = () => {
    setOpen(undefined);
  };
  return (
    <>
      {may("configure") && (
        <p>
          <button
            type="button"
            onClick={() => {
              setOpen("assign");
            }}
          >
            {texts.assign}
          </button>
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="card" role="status">
          {warning}
        </p>
      ))}
      <Table
        caption={messages.customers.tabs.policies}
        loaded={loaded}
        url={url}
        idOf={(policy) => policy.id}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
          </Empty>
        }
        columns={[
          {
            title: texts.name,
            sort: "name",
            cell: (policy) => <Link href={`/policies/${policy.id}`}>{policy.name}</Link>,
          },
          { title: texts.type, cell: (policy) => policy.type },
          { title: texts.status, cell: (policy) => <Badge of={policy.status} /> },
          {
            title: texts.assignedAt,
            sort: "assigned_at",
            cell: (policy) => <Time at={policy.assigned_at} />,
          },
          ...(may("configure")
            ? [
                {
                  title: messages.actions,
                  cell: (policy: Assigned) => (
                    <button
                      type="button"
                      aria-label={texts.unassignOf(policy.name)}
                      onClick={() => {
                        setOpen(policy);
                      }}
                    >
                      {texts.unassign}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {open === "assign" && (
        <Assign
          id={id}
          onClose={close}
          onAssigned={(said) => {
            setWarnings(said);
            close();
            loaded.reload();
          }}
        />
      )}
      {typeof open === "object" && (
        <Confirm
          title={texts.unassignOf(open.name)}
          text={texts.unassignText}
          action={texts.unassign}
          danger
          done={texts.unassigned}
          onConfirm={async () => {
            await call("delete", "/customers/{id}/policies/{policy_id}", {
              params: { id, policy_id: open.id },
            });
            loaded.reload();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

interface AssignProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onAssigned: (warnings: readonly string[]) => void;
}

function Assign({ id, onClose, onAssigned }: AssignProps) {
  const { answer } = useQuery("/policies", { query: { limit: 100, sort: "name", order: "asc" } });
  const { run, busy, failure } = useAction();
  const [chosen, setChosen] = useState<string>();
  const policy = answer?.data.find((one) => one.id === chosen) ?? answer?.data[0];
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const chosen = readForm(form).text("policy_ids");
      const { warnings } = await call("post", "/customers/{id}/policies", {
        params: { id },
        body: { policy_ids: [chosen] },
      });
      announce(texts.assigned);
      onAssigned(warnings);
    });
  return (
    <Dialog title={texts.assign} onClose={onClose}>
      {!answer && <Loading />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        {answer?.data.length === 0 && <p>{texts.nothingToAssign}</p>}
        {answer && answer.data.length > 0 && (
          <Field name="policy_ids" label={texts.choose} failure={failure}>
            {(given) => (
              <select
                {...given}
                onChange={({ currentTarget }) => {
                  setChosen(currentTarget.value);
                }}
              >
                {answer.data.map((policy) => (
                  <option key={policy.id} value={policy.id}>
                    {policy.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {policy && <Impact key={policy.id} policy={policy} customer={id} />}
        <NamedEnvironment />
        <FormFailure failure={failure} fields={["policy_ids"]} />
        <div class="row">
          <button
            type="submit"
            class="main"
            aria-disabled={busy}
            disabled={!answer || answer.data.length === 0}
          >
            {texts.assign}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

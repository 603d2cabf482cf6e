import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { requirements as texts } from "../../messages/requirements.ts";
import { Dialog, Field, FormFailure, NamedEnvironment, announce } from "../../ui/parts.tsx";
import type { Policy } from "./form.tsx";
import { Impact } from "./impact.tsx";

interface AssignProps {
  readonly policy: Policy;
  readonly onAssigned: (warnings: readonly string[]) => void;
  readonly onClose: () => void;
}

/** Chooses a customer, and shows what the policy would refuse there before anything changes. */
export function Assign({ policy, onAssigned, onClose }: AssignProps) {
  const [typed, setTyped] = useState("");
  const found = useQuery("/customers", {
    query: { name: typed, limit: 10, sort: "name", order: "asc" },
    off: typed === "",
  });
  const [chosen, setChosen] = useState("");
  const { run, busy, failure } = useAction();
  const customers = typed === "" ? [] : (found.answer?.data ?? []);
  const customer = customers.some(({ id }) => id === chosen) ? chosen : (customers[0]?.id ?? "");
  const assign = () =>
    run(async () => {
      const { warnings } = await call("post", "/customers/{id}/policies", {
        params: { id: customer },
        body: { policy_ids: [policy.id] },
      });
      announce(texts.assigned);
      onAssigned(warnings);
    });
  return (
    <Dialog title={texts.assign} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void assign();
        }}
      >
        <Field name="search" label={messages.customers.search} hint={texts.assignHint}>
          {(given) => (
            <input
              {...given}
              type="search"
              autocomplete="off"
              value={typed}
              onInput={({ currentTarget }) => {
                setTyped(currentTarget.value.trim());
              }}
            />
          )}
        </Field>
        <Field name="customer" label={texts.customer} failure={failure}>
          {(given) => (
            <select
              {...given}
              value={customer}
              disabled={customers.length === 0}
              onChange={({ currentTarget }) => {
                setChosen(currentTarget.value);
              }}
            >
              {customers.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {customer !== "" && <Impact policy={policy} customer={customer} />}
        <NamedEnvironment />
        <FormFailure failure={failure} fields={["customer"]} />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy} disabled={customer === ""}>
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

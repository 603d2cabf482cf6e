import { useState } from "preact/hooks";
import { call } from "../api/client.ts";
import type { ApiKey } from "../api/types.ts";
import { useAction } from "../api/use-action.ts";
import { useQuery } from "../api/use-query.ts";
import { messages } from "../messages/index.ts";
import { oneOf } from "../ui/filters.tsx";
import { Dialog, Field, FormFailure, NamedEnvironment } from "../ui/parts.tsx";
import { readForm } from "../ui/read-form.ts";

const texts = messages.keys;
export const SCOPES = [
  "read_only",
  "configuration",
  "authentication",
  "full_access",
  "gateway",
  "caller",
] as const;
const DAY_MS = 86_400_000;

interface NewKeyProps {
  readonly scope: ApiKey["scope"] | undefined;
  readonly onCreated: (secret: string) => void;
  readonly onClose: () => void;
}

export function NewKey({ scope = "read_only", onCreated, onClose }: NewKeyProps) {
  const { run, busy, failure } = useAction();
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { text } = readForm(form);
      const days = Number(text("expires_at"));
      const customer = text("customer_id");
      const { data } = await call("post", "/api-keys", {
        body: {
          name: text("name"),
          scope: oneOf(SCOPES, text("scope")) ?? scope,
          ...(customer !== "" && { customer_id: customer }),
          ...(days > 0 && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
        },
      });
      onCreated(data.key);
    });
  return (
    <Dialog title={texts.generate} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="name" label={texts.name} failure={failure}>
          {(given) => <input {...given} required autocomplete="off" />}
        </Field>
        <Field name="scope" label={texts.scope} failure={failure}>
          {(given) => (
            <select {...given}>
              {SCOPES.map((name) => (
                <option key={name} selected={name === scope}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <CustomerField failure={failure} />
        <Field name="expires_at" label={texts.expires} failure={failure}>
          {(given) => (
            <select {...given}>
              {Object.entries(texts.expiry).map(([days, title]) => (
                <option key={days} value={days} selected={days === "never"}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Field>
        <NamedEnvironment />
        <FormFailure failure={failure} fields={["name", "scope", "customer_id", "expires_at"]} />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy}>
            {texts.generate}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A customer by name, found on the server, whatever their number. */
function CustomerField({ failure }: { readonly failure: ReturnType<typeof useAction>["failure"] }) {
  const [typed, setTyped] = useState("");
  const isName = typed !== "" && !typed.startsWith("cus_");
  const { answer } = useQuery("/customers", { query: { name: typed, limit: 10 }, off: !isName });
  return (
    <Field name="customer_id" label={texts.customer} hint={texts.customerHint} failure={failure}>
      {(given) => (
        <>
          <input
            {...given}
            list="customers-found"
            autocomplete="off"
            value={typed}
            onInput={({ currentTarget }) => {
              setTyped(currentTarget.value);
            }}
          />
          <datalist id="customers-found">
            {isName && answer?.data.map(({ id, name }) => <option key={id} value={id} label={name} />)}
          </datalist>
        </>
      )}
    </Field>
  );
}

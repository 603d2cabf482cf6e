import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Item } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Copyable, Dialog, Empty, Field, FormFailure, NamedEnvironment, announce } from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";
import { Table, listQuery } from "../../ui/table.tsx";
import { useUrlState } from "../../ui/url-state.ts";

const texts = messages.people;
const FIELDS = ["email", "name", "role", "department"] as const;
type Person = Item<"/sandbox/people">;
type Opened =
  | { readonly kind: "add" }
  | { readonly kind: "remove"; readonly person: Person }
  | { readonly kind: "signed in"; readonly email: string; readonly token: string };

/** The sandbox's people who can sign in at a customer. */
export function People({ id }: { readonly id: string }) {
  const url = useUrlState();
  const loaded = useQuery("/sandbox/people", {
    query: { ...listQuery(url, ["created_at", "name", "email"] as const), customer_id: id },
  });
  const [opened, setOpened] = useState<Opened>();
  const { run, busy, failure } = useAction();
  const close = () => {
    setOpened(undefined);
  };
  const signIn = (person: Person) =>
    run(async () => {
      const { data } = await call("post", "/sandbox/tokens", {
        body: { customer_id: id, login: person.email },
      });
      setOpened({ kind: "signed in", email: person.email, token: data.access_token });
    });
  return (
    <>
      <p class="quiet">{texts.lead}</p>
      <p>
        <button
          type="button"
          onClick={() => {
            setOpened({ kind: "add" });
          }}
        >
          {texts.add}
        </button>
      </p>
      <FormFailure failure={failure} fields={[]} />
      <Table
        caption={messages.customers.tabs.people}
        loaded={loaded}
        url={url}
        idOf={(person) => person.id}
        empty={
          <Empty title={texts.none}>
            <p>{texts.noneText}</p>
          </Empty>
        }
        columns={[
          { title: texts.email, sort: "email", cell: (person) => person.email },
          { title: texts.name, sort: "name", cell: (person) => person.name },
          { title: texts.role, cell: (person) => person.role },
          { title: texts.department, cell: (person) => person.department },
          {
            title: messages.actions,
            cell: (person) => (
              <div class="row">
                <button
                  type="button"
                  aria-disabled={busy}
                  aria-label={texts.signInOf(person.email)}
                  onClick={() => void signIn(person)}
                >
                  {texts.signIn}
                </button>
                <button
                  type="button"
                  class="danger"
                  aria-label={texts.removeOf(person.email)}
                  onClick={() => {
                    setOpened({ kind: "remove", person });
                  }}
                >
                  {texts.remove}
                </button>
              </div>
            ),
          },
        ]}
      />
      {opened?.kind === "add" && <Add id={id} onClose={close} onAdded={loaded.reload} />}
      {opened?.kind === "remove" && (
        <Confirm
          title={texts.removeOf(opened.person.email)}
          text={texts.removeText}
          action={texts.remove}
          danger
          done={texts.removed}
          onConfirm={async () => {
            await call("delete", "/sandbox/people/{id}", { params: { id: opened.person.id } });
            loaded.reload();
          }}
          onClose={close}
        />
      )}
      {opened?.kind === "signed in" && (
        <Dialog title={texts.tokenTitle(opened.email)} sticky onClose={close}>
          <p>{texts.tokenText}</p>
          <Copyable text={opened.token} label={texts.token} />
          <Copyable
            text={`curl -i -H "Authorization: Bearer ${opened.token}" http://127.0.0.1:8000/`}
            label={texts.command}
          />
          <button type="button" class="main" onClick={close}>
            {texts.done}
          </button>
        </Dialog>
      )}
    </>
  );
}

interface AddProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

function Add({ id, onClose, onAdded }: AddProps) {
  const { run, busy, failure } = useAction();
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { text } = readForm(form);
      const [role, department] = [text("role"), text("department")];
      await call("post", "/sandbox/people", {
        body: {
          customer_id: id,
          email: text("email"),
          name: text("name"),
          ...(role !== "" && { role }),
          ...(department !== "" && { department }),
        },
      });
      announce(texts.added);
      onAdded();
      onClose();
    });
  return (
    <Dialog title={texts.add} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        {FIELDS.map((name) => (
          <Field key={name} name={name} label={texts[name]} failure={failure}>
            {(given) => <input {...given} autocomplete="off" />}
          </Field>
        ))}
        <NamedEnvironment />
        <FormFailure failure={failure} fields={FIELDS} />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy}>
            {texts.add}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

import { call, session } from "../../api/client.ts";
import { useAction } from "../../api/use-action.ts";
import { messages } from "../../messages/index.ts";
import { Field, FormFailure, announce } from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";

const texts = messages.settings;

/** The signed-in user, and their password. */
export function Account() {
  const { run, busy, failure } = useAction();
  const who = session.value?.user;
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { exact } = readForm(form);
      await call("put", "/dashboard/password", {
        body: { current_password: exact("current_password"), new_password: exact("new_password") },
      });
      form.reset();
      announce(texts.changed);
    });
  return (
    <>
      <div class="card">
        <dl class="facts">
          <dt>{texts.name}</dt>
          <dd>{who?.name}</dd>
          <dt>{texts.email}</dt>
          <dd>{who?.email}</dd>
          <dt>{texts.role}</dt>
          <dd>{who && texts.roles[who.role]}</dd>
        </dl>
      </div>
      <form
        class="card narrow"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <h2>{texts.password}</h2>
        <input type="text" name="username" autocomplete="username" value={who?.email} hidden readOnly />
        <Field name="current_password" label={texts.current} failure={failure}>
          {(given) => <input {...given} type="password" autocomplete="current-password" required />}
        </Field>
        <Field name="new_password" label={texts.next} hint={texts.nextHint} failure={failure}>
          {(given) => <input {...given} type="password" autocomplete="new-password" required />}
        </Field>
        <FormFailure failure={failure} fields={["current_password", "new_password"]} />
        <button type="submit" class="main" aria-disabled={busy}>
          {texts.change}
        </button>
      </form>
    </>
  );
}

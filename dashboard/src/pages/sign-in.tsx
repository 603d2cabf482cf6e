import { useEffect, useRef } from "preact/hooks";
import { call, session, sessionLost } from "../api/client.ts";
import { useAction } from "../api/use-action.ts";
import { environmentName } from "../environment.ts";
import { messages } from "../messages/index.ts";
import { Field, FormFailure } from "../ui/parts.tsx";
import { readForm } from "../ui/read-form.ts";

const texts = messages.signIn;

export function SignIn() {
  const { run, busy, failure } = useAction();
  const email = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = `${texts.title} · ${messages.product} ${environmentName}`;
    email.current?.focus();
  }, []);
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { text, exact } = readForm(form);
      const body = { email: text("email"), password: exact("password") };
      const { data } = await call("post", "/dashboard/login", { body });
      sessionLost.value = false;
      session.value = data;
    });
  return (
    <div class="sign-in">
      <h1>
        {messages.product} <span class="quiet">{texts.to(environmentName)}</span>
      </h1>
      {sessionLost.value && <p role="alert">{texts.lost}</p>}
      <form
        class="card"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="email" label={texts.email} failure={failure}>
          {(given) => <input {...given} ref={email} type="email" autocomplete="username" required />}
        </Field>
        <Field name="password" label={texts.password} failure={failure}>
          {(given) => <input {...given} type="password" autocomplete="current-password" required />}
        </Field>
        <FormFailure failure={failure} fields={["email", "password"]} />
        <button type="submit" class="main" aria-disabled={busy}>
          {texts.submit}
        </button>
      </form>
      <p class="quiet">{texts.first}</p>
    </div>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Data } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { messages } from "../../messages/index.ts";
import { Badge, Dialog, Field, FormFailure, announce } from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";

const texts = messages.provider;
type Tested = Data<"/customers/{id}/idp/test", "post">;
const BADGES = { passed: "active", failed: "failed", skipped: "skipped" } as const;

interface TestProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** Tries the provider step by step, and the claim mapping on a token. */
export function TestProvider({ id, onClose }: TestProps) {
  const { run, busy, failure } = useAction();
  const [tested, setTested] = useState<Tested>();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const running = useRef<AbortController>();
  // nobody waits for the answer once the page is left
  useEffect(() => () => running.current?.abort(), []);
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const own = new AbortController();
      running.current = own;
      const token = readForm(form).text("token");
      try {
        const { data, warnings: said } = await call("post", "/customers/{id}/idp/test", {
          params: { id },
          body: token === "" ? {} : { token },
          abort: own.signal,
        });
        setTested(data);
        setWarnings(said);
      } catch (error) {
        if (!own.signal.aborted) throw error;
        announce(texts.testStopped);
      }
    });
  return (
    <Dialog title={texts.test} onClose={onClose}>
      <p>{texts.testText}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="token" label={texts.testToken} hint={texts.testTokenHint} failure={failure}>
          {(given) => <textarea {...given} class="code" rows={3} autocomplete="off" spellcheck={false} />}
        </Field>
        <FormFailure failure={failure} fields={["token"]} />
        <div aria-live="polite">
          {warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
          {tested && <Steps steps={tested.steps} />}
          {tested?.identity && <Identity identity={tested.identity} />}
        </div>
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy}>
            {texts.run}
          </button>
          {busy ? (
            <button
              type="button"
              onClick={() => {
                running.current?.abort();
              }}
            >
              {messages.cancel}
            </button>
          ) : (
            <button type="button" onClick={onClose}>
              {messages.close}
            </button>
          )}
          {busy && <span role="status">{texts.testing}</span>}
        </div>
      </form>
    </Dialog>
  );
}

function Steps({ steps }: Pick<Tested, "steps">) {
  return (
    <ol class="tested">
      {steps.map(({ step, status, reason }) => (
        <li key={step}>
          <Badge of={BADGES[status]} title={texts[status]} /> {texts.steps[step]}{" "}
          {reason !== null && <code>{reason}</code>}
        </li>
      ))}
    </ol>
  );
}

function Identity({ identity }: { readonly identity: NonNullable<Tested["identity"]> }) {
  const { subject, email, name, amr, attributes, not_permitted: dropped, unusable } = identity;
  return (
    <>
      <h3>{texts.mapped}</h3>
      <dl class="facts">
        <dt>{texts.subject}</dt>
        <dd>{subject}</dd>
        <dt>{texts.email}</dt>
        <dd>{email ?? messages.none}</dd>
        <dt>{texts.personName}</dt>
        <dd>{name ?? messages.none}</dd>
        <dt>{texts.methods}</dt>
        <dd>{amr.join(", ") || messages.none}</dd>
        <dt>{texts.attributes}</dt>
        <dd>
          {Object.entries(attributes).map(([name, value]) => (
            <div key={name}>
              <code>
                {name}: {JSON.stringify(value)}
              </code>
            </div>
          ))}
        </dd>
        {dropped.length > 0 && (
          <>
            <dt>{texts.notPermitted}</dt>
            <dd>
              {dropped.map(({ claim, values, reason }) => (
                <div key={claim}>
                  <code>{claim}</code> {values.join(", ")} ({reason})
                </div>
              ))}
            </dd>
          </>
        )}
        {unusable.length > 0 && (
          <>
            <dt>{texts.unusable}</dt>
            <dd>{unusable.join(", ")}</dd>
          </>
        )}
      </dl>
    </>
  );
}

import { useState } from "preact/hooks";
import { ApiFailure, call, may } from "../../api/client.ts";
import type { Body, Data } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { TestProvider } from "./test-provider.tsx";
import { readForm } from "../../ui/read-form.ts";
import { Changes } from "../../ui/changes.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import {
  Copyable,
  Dialog,
  Empty,
  Failure,
  Field,
  FormFailure,
  Loading,
  NamedEnvironment,
  Time,
  announce,
} from "../../ui/parts.tsx";

const texts = messages.provider;
const TYPES = ["oidc", "okta", "auth0", "entra", "google", "keycloak"] as const;
type Idp = Data<"/customers/{id}/idp">;
type NewIdp = Body<"/customers/{id}/idp", "post">;

/** The identity provider at which a customer's users sign in. */
export function Provider({ id }: { readonly id: string }) {
  const { answer, failure, reload } = useQuery("/customers/{id}/idp", { params: { id } });
  const [open, setOpen] = useState<"form" | "remove" | "test">();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const close = () => {
    setOpen(undefined);
  };
  if (failure && failure.status !== 404) return <Failure failure={failure} retry={reload} />;
  const missing = failure !== undefined;
  if (!answer && !missing) return <Loading />;
  const idp = missing ? undefined : answer?.data;
  const etag = answer?.etag ?? null;
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning} class="card" role="status">
          {warning}
        </p>
      ))}
      {idp === undefined ? (
        <Empty title={texts.none}>
          <p>{texts.noneText}</p>
          {may("configure") && (
            <button
              type="button"
              class="main"
              onClick={() => {
                setOpen("form");
              }}
            >
              {texts.configure}
            </button>
          )}
        </Empty>
      ) : (
        <div class="card">
          <Facts idp={idp} />
          {may("configure") && (
            <p class="row">
              <button
                type="button"
                onClick={() => {
                  setOpen("test");
                }}
              >
                {texts.test}
              </button>
              <button
                type="button"
                onClick={() => {
                  setOpen("form");
                }}
              >
                {texts.replace}
              </button>
              <button
                type="button"
                class="danger"
                onClick={() => {
                  setOpen("remove");
                }}
              >
                {texts.remove}
              </button>
            </p>
          )}
        </div>
      )}
      <h2>{texts.callback}</h2>
      <Copyable text={`${location.origin}/v1/auth/callback`} label={texts.callback} />
      {open === "form" && (
        <ProviderForm
          id={id}
          before={idp}
          etag={etag}
          onClose={() => {
            close();
            reload();
          }}
          onSaved={(said) => {
            setWarnings(said);
            close();
            reload();
          }}
        />
      )}
      {open === "test" && <TestProvider id={id} onClose={close} />}
      {open === "remove" && (
        <Confirm
          title={texts.remove}
          text={texts.removeText}
          action={texts.remove}
          danger
          done={texts.removed}
          based={{
            on: idp ?? {},
            reread: async () => (await call("get", "/customers/{id}/idp", { params: { id } })).data,
            reload,
          }}
          onConfirm={async () => {
            await call("delete", "/customers/{id}/idp", { params: { id }, ifMatch: etag });
            reload();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

function Facts({ idp }: { readonly idp: Idp }) {
  return (
    <dl class="facts">
      <dt>{texts.type}</dt>
      <dd>{idp.type}</dd>
      <dt>{texts.domain}</dt>
      <dd>{idp.domain}</dd>
      <dt>{texts.issuer}</dt>
      <dd>
        <code>{idp.issuer}</code>
      </dd>
      <dt>{texts.clientId}</dt>
      <dd>{idp.client_id}</dd>
      <dt>{texts.scopes}</dt>
      <dd>{idp.scopes.join(" ")}</dd>
      <dt>{texts.verifiedAt}</dt>
      <dd>
        <Time at={idp.verified_at} />
      </dd>
    </dl>
  );
}

/** What this form does not show stays as it is, as far as it still applies. */
function notShown(type: Idp["type"], domain: string, before: Idp | undefined) {
  if (before?.type !== type) return {};
  const { claims, mfa_acr_values, issuer, tenant } = before;
  const same = domain === before.domain;
  return {
    claims,
    mfa_acr_values,
    ...(same && type !== "keycloak" && { issuer }),
    ...(same && tenant !== null && { tenant }),
  };
}

interface FormProps {
  readonly id: string;
  readonly before: Idp | undefined;
  readonly etag: string | null;
  readonly onClose: () => void;
  readonly onSaved: (warnings: readonly string[]) => void;
}

/** A provider; where somebody else has changed it, both versions are shown, and one is chosen. */
function ProviderForm({ id, before: given, etag: givenEtag, onClose, onSaved }: FormProps) {
  const { run, busy, failure } = useAction();
  const [{ before, etag }, setBase] = useState({ before: given, etag: givenEtag });
  const [type, setType] = useState<Idp["type"]>(given?.type ?? "oidc");
  const [conflict, setConflict] = useState<{ mine: NewIdp; theirs: Idp; etag: string | null }>();
  const send = (body: NewIdp, ifMatch: string | null) =>
    run(async () => {
      try {
        const { warnings } = await call("post", "/customers/{id}/idp", { params: { id }, body, ifMatch });
        announce(texts.saved);
        onSaved(warnings);
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.status !== 412) throw error;
        const now = await call("get", "/customers/{id}/idp", { params: { id } });
        setConflict({ mine: body, theirs: now.data, etag: now.etag });
      }
    });
  const submit = (form: HTMLFormElement) => {
    const { text, exact, has } = readForm(form);
    return send(
      {
        type,
        domain: text("domain"),
        client_id: text("client_id"),
        client_secret: exact("client_secret"),
        scopes: text("scopes").split(/\s+/),
        ...(type === "keycloak" && text("realm") !== "" && { realm: text("realm") }),
        verify: has("verify"),
        ...notShown(type, text("domain"), before),
      },
      etag,
    );
  };
  if (conflict)
    return (
      <ProviderConflict
        {...conflict}
        busy={busy}
        keepMine={() => void send(conflict.mine, conflict.etag)}
        takeTheirs={() => {
          setBase({ before: conflict.theirs, etag: conflict.etag });
          setType(conflict.theirs.type);
          setConflict(undefined);
        }}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={texts.configure} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="type" label={texts.type} failure={failure}>
          {(given) => (
            <select
              {...given}
              value={type}
              onChange={({ currentTarget }) => {
                setType(TYPES.find((name) => name === currentTarget.value) ?? "oidc");
              }}
            >
              {TYPES.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <Field name="domain" label={texts.domain} hint={texts.domainHint} failure={failure}>
          {(given) => <input {...given} defaultValue={before?.domain ?? ""} required autocomplete="off" />}
        </Field>
        {type === "keycloak" && (
          <Field name="realm" label={texts.realm} failure={failure}>
            {(given) => <input {...given} defaultValue={before?.realm ?? ""} autocomplete="off" />}
          </Field>
        )}
        <Field name="client_id" label={texts.clientId} failure={failure}>
          {(given) => <input {...given} defaultValue={before?.client_id ?? ""} required autocomplete="off" />}
        </Field>
        <Field
          name="client_secret"
          label={texts.clientSecret}
          hint={texts.clientSecretHint}
          failure={failure}
        >
          {(given) => <input {...given} type="password" required autocomplete="new-password" />}
        </Field>
        <Field name="scopes" label={texts.scopes} hint={texts.scopesHint} failure={failure}>
          {(given) => <input {...given} defaultValue={before?.scopes.join(" ") ?? "openid profile email"} />}
        </Field>
        <p>
          <label class="row">
            <input type="checkbox" class="check" name="verify" defaultChecked />
            <span>{texts.verify}</span>
          </label>
        </p>
        <NamedEnvironment />
        <FormFailure
          failure={failure}
          fields={["type", "domain", "realm", "client_id", "client_secret", "scopes"]}
        />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy}>
            {messages.save}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ConflictProps {
  readonly mine: NewIdp;
  readonly theirs: Idp;
  readonly busy: boolean;
  readonly keepMine: () => void;
  readonly takeTheirs: () => void;
  readonly onClose: () => void;
}

function ProviderConflict({ mine, theirs, busy, keepMine, takeTheirs, onClose }: ConflictProps) {
  const choices = messages.changes;
  return (
    <Dialog title={texts.conflict} onClose={onClose}>
      <p role="alert">{texts.conflictText}</p>
      <Changes before={shownOf(mine)} after={shownOf(theirs)} titles={[choices.mine, choices.theirs]} />
      <NamedEnvironment />
      <div class="row">
        <button type="button" class="main" onClick={takeTheirs}>
          {choices.takeTheirs}
        </button>
        <button type="button" class="danger" aria-disabled={busy} onClick={keepMine}>
          {choices.keepMine}
        </button>
        <button type="button" onClick={onClose}>
          {messages.cancel}
        </button>
      </div>
    </Dialog>
  );
}

/** What the form shows of a provider; never the secret. */
function shownOf({ type, domain, client_id, scopes, realm }: NewIdp | Idp) {
  return { type, domain, client_id, scopes, ...(realm && { realm }) };
}

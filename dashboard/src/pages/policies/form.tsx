import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Body, Data } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { requirements as texts } from "../../messages/requirements.ts";
import { Dialog, Field, FormFailure, NamedEnvironment } from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";
import { isConflict } from "../policy-sets/conflict.tsx";
import { requiredBy, type Conditions } from "./required-by.ts";

export type Policy = Data<"/policies/{id}">;
export type NewPolicy = Body<"/policies", "post">;

interface PolicyFormProps {
  readonly title: string;
  /** Absent for a new one. */
  readonly given: { readonly policy: Policy; readonly etag: string | null } | undefined;
  /** @throws ApiFailure */
  readonly save: (body: NewPolicy, etag: string | null) => Promise<void>;
  readonly onClose: () => void;
}

/** A policy; where somebody else has changed it, both versions are shown, and one is chosen. */
export function PolicyForm({ title, given, save, onClose }: PolicyFormProps) {
  const [shown, setShown] = useState(given);
  const [type, setType] = useState(given?.policy.type ?? "authentication");
  const [theirs, setTheirs] = useState<{ mine: NewPolicy; policy: Policy; etag: string | null }>();
  const [round, setRound] = useState(0);
  const { run, busy, failure } = useAction();
  const send = (body: NewPolicy, etag: string | null) =>
    run(async () => {
      try {
        await save(body, etag);
        onClose();
      } catch (error) {
        if (!isConflict(error) || !shown) throw error;
        const now = await call("get", "/policies/{id}", { params: { id: shown.policy.id } });
        setTheirs({ mine: body, policy: now.data, etag: now.etag });
      }
    });
  if (theirs)
    return (
      <Conflict
        mine={theirs.mine}
        theirs={theirs.policy}
        busy={busy}
        keepMine={() => void send(theirs.mine, theirs.etag)}
        takeTheirs={() => {
          setShown({ policy: theirs.policy, etag: theirs.etag });
          setTheirs(undefined);
          setRound((before) => before + 1);
        }}
        onClose={onClose}
      />
    );
  const policy = shown?.policy;
  const conditions: Conditions = policy?.conditions ?? {};
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        key={round}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void send(bodyOf(event.currentTarget, type), shown?.etag ?? null);
        }}
      >
        <Field name="name" label={texts.name} failure={failure}>
          {(field) => <input {...field} required autocomplete="off" defaultValue={policy?.name ?? ""} />}
        </Field>
        <Field name="description" label={texts.description} failure={failure}>
          {(field) => <textarea {...field} rows={2} defaultValue={policy?.description ?? ""} />}
        </Field>
        <Field name="type" label={texts.type} failure={failure}>
          {(field) => (
            <select
              {...field}
              disabled={policy !== undefined}
              value={type}
              onChange={({ currentTarget }) => {
                setType(currentTarget.value === "authorization" ? "authorization" : "authentication");
              }}
            >
              <option value="authentication">{texts.types.authentication}</option>
              <option value="authorization">{texts.types.authorization}</option>
            </select>
          )}
        </Field>
        <Field name="status" label={texts.status} hint={texts.statusHint} failure={failure}>
          {(field) => (
            <select {...field} defaultValue={policy?.status ?? "active"}>
              {(["active", "inactive"] as const).map((status) => (
                <option key={status} value={status} selected={status === policy?.status}>
                  {status}
                </option>
              ))}
            </select>
          )}
        </Field>
        {type === "authentication" ? (
          <AuthenticationFields conditions={conditions} failure={failure} />
        ) : (
          <PolicySetField value={conditions.policy_set ?? ""} failure={failure} />
        )}
        <NamedEnvironment />
        <FormFailure failure={failure} fields={["name", "description", "status", "type", ...CONDITIONS]} />
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

/** As the API names them in its answers. */
const CONDITIONS = [
  "conditions.max_session_duration",
  "conditions.allowed_email_domains",
  "conditions.allowed_ip_ranges",
  "conditions.policy_set",
];

interface ConditionsProps {
  readonly conditions: Conditions;
  readonly failure: ReturnType<typeof useAction>["failure"];
}

function AuthenticationFields({ conditions, failure }: ConditionsProps) {
  const { mfa_required: mfa, max_session_duration: most } = conditions;
  const { allowed_email_domains: domains = [], allowed_ip_ranges: ranges = [] } = conditions;
  return (
    <>
      <p>
        <label class="row">
          <input type="checkbox" class="check" name="mfa" defaultChecked={mfa === true} />
          {texts.mfa}
        </label>
      </p>
      <Field name="conditions.max_session_duration" label={texts.duration} failure={failure}>
        {(field) => (
          <input
            {...field}
            inputMode="decimal"
            autocomplete="off"
            defaultValue={most === undefined ? "" : String(most / 60)}
          />
        )}
      </Field>
      <Field
        name="conditions.allowed_email_domains"
        label={texts.domains}
        hint={texts.domainsHint}
        failure={failure}
      >
        {(field) => <input {...field} autocomplete="off" defaultValue={domains.join(" ")} />}
      </Field>
      <Field
        name="conditions.allowed_ip_ranges"
        label={texts.ranges}
        hint={texts.rangesHint}
        failure={failure}
      >
        {(field) => <input {...field} autocomplete="off" defaultValue={ranges.join(" ")} />}
      </Field>
    </>
  );
}

function PolicySetField({
  value,
  failure,
}: {
  readonly value: string;
  readonly failure: ConditionsProps["failure"];
}) {
  const { answer } = useQuery("/policy-sets", { query: { limit: 100, sort: "name", order: "asc" } });
  return (
    <Field name="conditions.policy_set" label={texts.policySet} hint={texts.policySetHint} failure={failure}>
      {(field) => (
        <>
          <input {...field} list="policy-sets-found" autocomplete="off" defaultValue={value} />
          <datalist id="policy-sets-found">
            {answer?.data.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

function bodyOf(form: HTMLFormElement, type: Policy["type"]): NewPolicy {
  const { text, has } = readForm(form);
  const list = (name: string) =>
    text(name)
      .split(/[\s,]+/)
      .filter((part) => part !== "");
  const common = {
    name: text("name"),
    description: text("description"),
    status: text("status") === "inactive" ? ("inactive" as const) : ("active" as const),
  };
  if (type === "authorization")
    return { ...common, type, conditions: { policy_set: text("conditions.policy_set") } };
  const minutes = text("conditions.max_session_duration");
  const domains = list("conditions.allowed_email_domains");
  const ranges = list("conditions.allowed_ip_ranges");
  return {
    ...common,
    type: "authentication",
    conditions: {
      ...(has("mfa") && { mfa_required: true }),
      ...(minutes !== "" && { max_session_duration: Math.round(Number(minutes) * 60) }),
      ...(domains.length > 0 && { allowed_email_domains: domains }),
      ...(ranges.length > 0 && { allowed_ip_ranges: ranges }),
    },
  };
}

interface ConflictProps {
  readonly mine: NewPolicy;
  readonly theirs: Policy;
  readonly busy: boolean;
  readonly keepMine: () => void;
  readonly takeTheirs: () => void;
  readonly onClose: () => void;
}

/** Both versions, side by side. */
function Conflict({ mine, theirs, busy, keepMine, takeTheirs, onClose }: ConflictProps) {
  const rows = [
    [texts.name, mine.name, theirs.name],
    [texts.description, mine.description ?? "", theirs.description],
    [texts.status, mine.status ?? "active", theirs.status],
    [texts.conditions, requiredBy(mine.conditions).join("; "), requiredBy(theirs.conditions).join("; ")],
  ] as const;
  return (
    <Dialog title={texts.changedTitle} onClose={onClose}>
      <p role="alert">{texts.changedText}</p>
      <div class="scrolled" tabIndex={0} role="region" aria-label={texts.changedTitle}>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.field}</th>
              <th scope="col">{texts.mine}</th>
              <th scope="col">{texts.theirs}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([label, own, other]) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{own}</td>
                <td>{own === other ? other : <strong>{other}</strong>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <NamedEnvironment />
      <div class="row">
        <button type="button" class="danger" aria-disabled={busy} onClick={keepMine}>
          {texts.keepMine}
        </button>
        <button type="button" aria-disabled={busy} onClick={takeTheirs}>
          {texts.takeTheirs}
        </button>
        <button type="button" onClick={onClose}>
          {messages.cancel}
        </button>
      </div>
    </Dialog>
  );
}

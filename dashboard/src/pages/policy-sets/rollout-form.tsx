import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Body, Data } from "../../api/types.ts";
import { useAction } from "../../api/use-action.ts";
import { useQuery } from "../../api/use-query.ts";
import { messages } from "../../messages/index.ts";
import { rollout as texts } from "../../messages/policy-sets.ts";
import { Dialog, Field, FormFailure, NamedEnvironment, announce } from "../../ui/parts.tsx";
import { readForm } from "../../ui/read-form.ts";
import { isConflict } from "./conflict.tsx";

export type RolloutData = Data<"/policy-sets/{name}/rollout">;
type Terms = Body<"/policy-sets/{name}/rollout", "post">;

const USUAL_PERCENTAGE = 5;
/** The limits of the guard, each with its usual value. */
export const GUARDS = [
  ["window_seconds", 60],
  ["min_requests", 200],
  ["denial_increase", 0.05],
  ["error_increase", 0.01],
  ["slowdown", 5],
  ["ignored_callers", 5],
] as const;
const STICKY = ["user", "customer", "client_ip"] as const;

interface FormProps {
  readonly name: string;
  readonly activeVersion: string | null;
  /** The rollout whose terms change; a new one begins without it. */
  readonly running: RolloutData | undefined;
  readonly etag: string | null;
  /** The candidate that is chosen to begin with. */
  readonly candidate?: string | undefined;
  readonly onDone: () => void;
  /** The API refused the change because of another one. */
  readonly onConflict: (seen: RolloutData | undefined) => Promise<void>;
  readonly onClose: () => void;
}

/** Starts a rollout, or changes the terms of the one that runs. */
export function RolloutForm(props: FormProps) {
  const { name, activeVersion, candidate, onDone, onConflict, onClose } = props;
  // the page reads the rollout again and again, but the form shows the terms that it was opened with
  const [{ running, etag }] = useState({ running: props.running, etag: props.etag });
  const versions = useQuery("/policy-sets/{name}/versions", {
    params: { name },
    query: { limit: 100, sort: "published_at", order: "desc" },
    off: running !== undefined,
  });
  const { run, busy, failure } = useAction();
  const [mode, setMode] = useState<"shadow" | "enforce">(running?.mode ?? "shadow");
  const [stepwise, setStepwise] = useState(running?.steps[0] !== undefined);
  const [percentage, setPercentage] = useState(
    running?.steps.length === 0 ? running.percentage : USUAL_PERCENTAGE,
  );
  const [guarded, setGuarded] = useState(running?.guard !== null);
  const choices = running
    ? [running.candidate.version]
    : (versions.answer?.data ?? []).flatMap(({ version, active }) => (active ? [] : [version]));
  const submit = (form: HTMLFormElement) =>
    run(async () => {
      const { text } = readForm(form);
      const sticky = STICKY.find((one) => one === text("sticky_by")) ?? "user";
      const guard = Object.fromEntries(GUARDS.map(([key]) => [key, Number(text(key))])) as NonNullable<
        Terms["guard"]
      >;
      const course = stepwise
        ? { steps: numbersIn(text("steps")), step_pause_seconds: Math.round(Number(text("pause")) * 60) }
        : { percentage };
      const body: Terms = {
        ...{ version: text("version"), mode, sticky_by: sticky, guard: guarded ? guard : null },
        ...(mode === "enforce" && course),
      };
      try {
        await call("post", "/policy-sets/{name}/rollout", { params: { name }, body, ifMatch: etag });
      } catch (error) {
        if (!isConflict(error)) throw error;
        await onConflict(running);
        return;
      }
      announce(running ? texts.changed : texts.started);
      onDone();
    });
  return (
    <Dialog title={running ? texts.change : texts.start} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field name="version" label={texts.candidate} failure={failure}>
          {(given) => (
            <select {...given}>
              {choices.map((version) => (
                <option key={version} value={version} selected={version === candidate}>
                  {version}
                </option>
              ))}
            </select>
          )}
        </Field>
        <p class="quiet">
          {texts.stable}: {activeVersion ?? messages.none}
        </p>
        <Field name="mode" label={texts.mode} failure={failure}>
          {(given) => (
            <select
              {...given}
              value={mode}
              onChange={({ currentTarget }) => {
                setMode(currentTarget.value === "enforce" ? "enforce" : "shadow");
              }}
            >
              <option value="shadow">{texts.modes.shadow}</option>
              <option value="enforce">{texts.modes.enforce}</option>
            </select>
          )}
        </Field>
        {mode === "enforce" && (
          <>
            <Field name="course" label={texts.course}>
              {(given) => (
                <select
                  {...given}
                  value={stepwise ? "steps" : "fixed"}
                  onChange={({ currentTarget }) => {
                    setStepwise(currentTarget.value === "steps");
                  }}
                >
                  <option value="fixed">{texts.fixed}</option>
                  <option value="steps">{texts.stepwise}</option>
                </select>
              )}
            </Field>
            {stepwise ? (
              <>
                <Field name="steps" label={texts.steps} hint={texts.stepsHint} failure={failure}>
                  {(given) => (
                    <input
                      {...given}
                      autocomplete="off"
                      defaultValue={(running?.steps ?? []).join(" ") || "1 5 25 50 100"}
                    />
                  )}
                </Field>
                <Field name="pause" label={texts.pause} failure={failure}>
                  {(given) => (
                    <input
                      {...given}
                      inputMode="decimal"
                      defaultValue={String((running?.step_pause_seconds ?? 600) / 60)}
                    />
                  )}
                </Field>
              </>
            ) : (
              <Percentage value={percentage} onInput={setPercentage} failure={failure} />
            )}
          </>
        )}
        <Field name="sticky_by" label={texts.stickyBy} failure={failure}>
          {(given) => (
            <select {...given} disabled={running !== undefined}>
              {STICKY.map((one) => (
                <option key={one} value={one} selected={one === running?.sticky_by}>
                  {texts.sticky[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {running && <input type="hidden" name="sticky_by" value={running.sticky_by} />}
        <p>
          <label class="row">
            <input
              type="checkbox"
              class="check"
              checked={guarded}
              onChange={({ currentTarget }) => {
                setGuarded(currentTarget.checked);
              }}
            />
            {texts.guard}
          </label>
        </p>
        {guarded && (
          <div class="filters">
            {GUARDS.map(([key, usual]) => (
              <Field key={key} name={key} label={texts.guards[key]} failure={failure}>
                {(given) => (
                  <input
                    {...given}
                    inputMode="decimal"
                    defaultValue={String(running?.guard?.[key] ?? usual)}
                  />
                )}
              </Field>
            ))}
          </div>
        )}
        <NamedEnvironment />
        <FormFailure
          failure={failure}
          fields={["version", "mode", "steps", "percentage", "sticky_by", ...GUARDS.map(([key]) => key)]}
        />
        <div class="row">
          <button type="submit" class="main" aria-disabled={busy} disabled={choices.length === 0}>
            {running ? messages.save : texts.start}
          </button>
          <button type="button" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface PercentageProps {
  readonly value: number;
  readonly label?: string;
  readonly failure?: ReturnType<typeof useAction>["failure"];
  readonly onInput: (value: number) => void;
}

/** A slider, with its value as text. */
export function Percentage({ value, label = texts.percentage, failure, onInput }: PercentageProps) {
  return (
    <Field name="percentage" label={label} failure={failure}>
      {(given) => (
        <div class="row slider">
          <input
            {...given}
            type="range"
            min="0"
            max="100"
            step="1"
            value={value}
            aria-valuetext={texts.percent(value)}
            onInput={({ currentTarget }) => {
              onInput(Number(currentTarget.value));
            }}
          />
          <output>{texts.percent(value)}</output>
        </div>
      )}
    </Field>
  );
}

/** What is not a number is sent as 0, which the API refuses at the field. */
function numbersIn(text: string): number[] {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
}

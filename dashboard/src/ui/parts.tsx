import type { ComponentChildren } from "preact";
import { signal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiFailure } from "../api/client.ts";
import { environmentName } from "../environment.ts";
import { messages } from "../messages/index.ts";

const said = signal<{ readonly text: string; readonly number: number }>({ text: "", number: 0 });

/** Says something in the live region, which screen readers read out. */
export function announce(text: string): void {
  said.value = { text, number: said.value.number + 1 };
}

/** The live region; always in the page, because readers only notice changes of a region that is there. */
export function Announcements() {
  const { text, number } = said.value;
  const [shown, setShown] = useState(0);
  useEffect(() => {
    setShown(number);
    const timer = setTimeout(() => {
      setShown(0);
    }, 6_000);
    return () => {
      clearTimeout(timer);
    };
  }, [number]);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown === number && text !== "" && <p key={number}>{text}</p>}
    </div>
  );
}

export function Failure({ failure, retry }: { readonly failure: ApiFailure; readonly retry?: () => void }) {
  const texts = messages.failures;
  const title =
    failure.status === 403
      ? texts.forbidden
      : failure.status === 404
        ? texts.notFound
        : failure.code === "UNREACHABLE"
          ? texts.unreachable
          : texts.failed;
  return (
    <div class="state" role="alert">
      <h2>{title}</h2>
      <p>{failure.code === "UNREACHABLE" ? texts.unreachableHint : failure.message}</p>
      {failure.requestId !== undefined && (
        <p class="quiet">
          {texts.requestId} <code>{failure.requestId}</code>
        </p>
      )}
      {retry && failure.status !== 403 && failure.status !== 404 && (
        <button type="button" onClick={retry}>
          {texts.retry}
        </button>
      )}
    </div>
  );
}

/** An error beside a form: the part that belongs to no field. */
export function FormFailure({
  failure,
  fields,
}: {
  readonly failure: ApiFailure | undefined;
  readonly fields: readonly string[];
}) {
  if (failure === undefined) return null;
  const rest = failure.fields.filter(({ path }) => !fields.includes(path));
  const own =
    failure.fields.length === 0 ? [failure.message] : rest.map(({ path, message }) => `${path}: ${message}`);
  const text = failure.code === "UNREACHABLE" ? messages.failures.unreachableHint : own.join("; ");
  return (
    <p class="problem" role="alert">
      {text === "" ? messages.failures.fields : text}
    </p>
  );
}

/** Says which environment a dialog changes. */
export function NamedEnvironment() {
  return (
    <p>
      <strong>{messages.confirmIn(environmentName)}</strong>
    </p>
  );
}

export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="state quiet" aria-busy="true">
      {messages.loading}
    </p>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly failure?: ApiFailure | undefined;
  readonly children: (given: {
    readonly id: string;
    readonly name: string;
    readonly "aria-describedby": string | undefined;
    readonly "aria-invalid": boolean;
  }) => ComponentChildren;
}

/** A label, its control, a hint, and what the API found wrong with it. */
export function Field({ name, label, hint, failure, children }: FieldProps) {
  const id = useId();
  const problem = failure?.fields.find(({ path }) => path === name || path.startsWith(`${name}.`))?.message;
  const described = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`].filter(
    Boolean,
  );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
        "aria-invalid": problem !== undefined,
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Only its own buttons close it. */
  readonly sticky?: boolean;
  readonly children: ComponentChildren;
}

/** A native dialog: the browser keeps the focus in it, and gives it back to what opened it. */
export function Dialog({ title, onClose, sticky = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const id = useId();
  // before anything is painted: a key that is pressed next must not go to the page behind it
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => {
      // what is removed without being closed gives nothing back
      isGone.current = true;
      current?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={() => {
        if (!isGone.current) onClose();
      }}
      // closed here at once: the browser's own closing tells of it later, and what is pressed in between would be lost
      onCancel={(event) => {
        event.preventDefault();
        if (!sticky) onClose();
      }}
      // browsers close a dialog at the second Escape, whatever is said to the first
      onKeyDown={(event) => {
        if (sticky && event.key === "Escape") event.preventDefault();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      announce(messages.copied);
    } catch {
      announce(messages.notCopied);
    }
  };
  return (
    <div class="copyable">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" aria-label={messages.copy(label)} onClick={() => void copy()}>
        {messages.copyShort}
      </button>
    </div>
  );
}

const format = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
  timeZoneName: "short",
});

/** A time in the reader's zone, which is named; the exact one is in its title. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  if (!at) return <span class="quiet">{messages.never}</span>;
  return (
    <time dateTime={at} title={at}>
      {format.format(new Date(at))}
    </time>
  );
}

const GOOD = ["active", "alive", "delivered", "ALLOW", "enabled", "finished"];
const BAD = ["DENY", "failed", "lost", "diverged", "suspended", "revoked", "disabled"];

/** A word for a status; its colour only repeats it. */
export function Badge({ of, title = of }: { readonly of: string; readonly title?: string }) {
  const kind = GOOD.includes(of) ? "good" : BAD.includes(of) ? "bad" : "plain";
  return <span class={`badge ${kind}`}>{title}</span>;
}

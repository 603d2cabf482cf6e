import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../api/use-action.ts";
import { messages } from "../messages/index.ts";
import { Changes } from "./changes.tsx";
import { Copyable, Dialog, FormFailure, NamedEnvironment, announce } from "./parts.tsx";

interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly done?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  /**
   * What the change is based on, and how to read it again: both are shown if somebody else was faster, and then the page
   * shows what is there now.
   */
  readonly based?: {
    readonly on: object;
    readonly reread: () => Promise<object>;
    readonly reload: () => void;
  };
  readonly children?: ComponentChildren;
}

/** Asks before a change, and names the environment that it is made in. */
export function Confirm({
  title,
  text,
  action,
  danger = false,
  done,
  onConfirm,
  onClose,
  based,
  children,
}: ConfirmProps) {
  const { run, busy, failure } = useAction();
  const confirm = () =>
    run(async () => {
      await onConfirm();
      if (done !== undefined) announce(done);
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <p>{text}</p>
        {children}
        <NamedEnvironment />
        {failure?.status === 412 && based ? (
          <Outdated
            based={based}
            onClose={() => {
              onClose();
              based.reload();
            }}
          />
        ) : (
          <>
            <FormFailure failure={failure} fields={[]} />
            <div class="row">
              <button type="submit" class={danger ? "danger" : "main"} aria-disabled={busy}>
                {action}
              </button>
              <button type="button" onClick={onClose}>
                {messages.cancel}
              </button>
            </div>
          </>
        )}
      </form>
    </Dialog>
  );
}

interface OutdatedProps {
  readonly based: NonNullable<ConfirmProps["based"]>;
  readonly onClose: () => void;
}

/** What this page has read, and what is there now. The change is not offered again: it was decided on for the former. */
function Outdated({ based: { on, reread }, onClose }: OutdatedProps) {
  const [now, setNow] = useState<object>();
  useEffect(() => {
    // without it, the text above is all there is to say
    reread().then(setNow, () => undefined);
  }, []);
  const titles = [messages.changes.yours, messages.changes.now] as const;
  return (
    <>
      <p class="problem" role="alert">
        {messages.failures.changed}
      </p>
      {now && <Changes before={{ ...on }} after={{ ...now }} titles={titles} />}
      <div class="row">
        <button type="button" class="main" onClick={onClose}>
          {messages.changes.understood}
        </button>
      </div>
    </>
  );
}

interface SecretProps {
  readonly title: string;
  readonly text: string;
  readonly label: string;
  readonly secret: string;
  readonly done: string;
  readonly onClose: () => void;
}

/** Shows a secret once. Escape does not close it, because there is no second time. */
export function ShownOnce({ title, text, label, secret, done, onClose }: SecretProps) {
  return (
    <Dialog title={title} sticky onClose={onClose}>
      <p>{text}</p>
      <Copyable text={secret} label={label} />
      <button type="button" class="main" onClick={onClose}>
        {done}
      </button>
    </Dialog>
  );
}

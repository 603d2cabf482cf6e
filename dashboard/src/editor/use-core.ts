import { useEffect, useRef, useState } from "preact/hooks";
import { ask, CoreWorker } from "../core/ask.ts";
import type { Checked, SourceSet, TaskName, Tasks } from "../core/protocol.ts";

/** After the last keystroke. */
const CHECK_AFTER_MS = 150;

/** What the compiler says of what is in the editor. */
export interface CheckState {
  readonly checked: Checked | undefined;
  /** It is about an earlier text. */
  readonly busy: boolean;
  readonly failure: string | undefined;
}

/** Compiles the set again whenever it changes. */
export function useCheck(set: SourceSet): CheckState {
  const [state, setState] = useState<{ of?: SourceSet; checked?: Checked; failure?: string }>({});
  useEffect(() => {
    let ended = false;
    const timer = setTimeout(() => {
      ask("check", set).then(
        (checked) => {
          if (!ended) setState({ of: set, checked });
        },
        (error: unknown) => {
          if (!ended) setState((before) => ({ ...before, of: set, failure: String(error) }));
        },
      );
    }, CHECK_AFTER_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [set]);
  return { checked: state.checked, busy: state.of !== set, failure: state.failure };
}

export type LongState<N extends TaskName> =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly done: number; readonly total: number }
  | { readonly kind: "done"; readonly of: Tasks[N]["asks"]; readonly result: Tasks[N]["gives"] }
  | { readonly kind: "failed"; readonly failure: string };

/** A task that may take long, in a worker of its own, so that it can be ended and holds up no other. */
export function useLongTask<N extends TaskName>(task: N) {
  const [state, setState] = useState<LongState<N>>({ kind: "idle" });
  const worker = useRef<CoreWorker>();
  const run = async (input: Tasks[N]["asks"]): Promise<void> => {
    worker.current?.cancel();
    const own = new CoreWorker();
    worker.current = own;
    const show = (next: LongState<N>) => {
      if (worker.current === own) setState(next);
    };
    show({ kind: "running", done: 0, total: 0 });
    try {
      const result = await own.ask(task, input, (done, total) => {
        show({ kind: "running", done, total });
      });
      show({ kind: "done", of: input, result });
    } catch (error) {
      show({ kind: "failed", failure: String(error) });
    }
    own.cancel();
  };
  const cancel = () => {
    const running = worker.current;
    worker.current = undefined;
    running?.cancel();
    setState({ kind: "idle" });
  };
  useEffect(
    () => () => {
      worker.current?.cancel();
      worker.current = undefined;
    },
    [],
  );
  return { state, run, cancel };
}

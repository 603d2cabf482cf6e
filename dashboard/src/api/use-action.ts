import { useRef, useState } from "preact/hooks";
import { ApiFailure } from "./client.ts";

/**
 * One change at a time: a second press while it is sent does nothing. Buttons are `aria-disabled` meanwhile and not disabled,
 * because a button that is disabled loses the focus.
 */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  // the state is as old as what is on the screen
  const running = useRef(false);
  async function run(change: () => Promise<void>): Promise<void> {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    setFailure(undefined);
    try {
      await change();
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    } finally {
      running.current = false;
      setBusy(false);
    }
  }
  return {
    run,
    busy,
    failure,
    clear: () => {
      setFailure(undefined);
    },
  };
}

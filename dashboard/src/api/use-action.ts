import { useState } from "preact/hooks";
import { ApiFailure } from "./client.ts";

/** One change at a time: a second press while it is sent does nothing. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  async function run(change: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await change();
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    } finally {
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

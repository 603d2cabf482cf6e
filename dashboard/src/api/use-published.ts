import { useEffect, useState } from "preact/hooks";
import { ApiFailure, failureOf, parsed } from "./client.ts";

interface Published<T> {
  readonly data: T | undefined;
  readonly failure: ApiFailure | undefined;
  /** Reads again. */
  readonly reload: () => void;
}

/**
 * What the control plane publishes beside its API, for load balancers and gateways.
 *
 * @param isExpected - whether an answer is of the kind that is shown; any other is a failure, whatever its status
 */
export function usePublished<T>(
  path: string,
  isExpected: (answer: unknown, status: number) => answer is T,
): Published<T> {
  const [state, setState] = useState<{ readonly data?: T; readonly failure?: ApiFailure }>({});
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const ended = new AbortController();
    read(path, ended.signal).then(
      ({ answer, status }) => {
        setState(isExpected(answer, status) ? { data: answer } : { failure: failureOf(status, answer) });
      },
      (error: unknown) => {
        if (!ended.signal.aborted) setState({ failure: new ApiFailure(0, "UNREACHABLE", String(error)) });
      },
    );
    return () => {
      ended.abort();
    };
  }, [path, version]);
  return {
    data: state.data,
    failure: state.failure,
    reload: () => {
      setState({});
      setVersion((before) => before + 1);
    },
  };
}

async function read(path: string, signal: AbortSignal): Promise<{ answer: unknown; status: number }> {
  const response = await fetch(path, { credentials: "same-origin", signal });
  return { answer: parsed(await response.text()), status: response.status };
}

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiFailure, call, type Answer } from "./client.ts";
import type { Data, PathWith, Query } from "./types.ts";

const MINUTE_MS = 60_000;

export interface Loaded<T> {
  readonly answer: Answer<T> | undefined;
  readonly failure: ApiFailure | undefined;
  readonly loading: boolean;
  /** Reads again; what is shown stays until the answer is there. */
  readonly reload: () => void;
}

interface Options<P extends PathWith<"get">> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query<P>;
  /** Asks for this many ms before each read (`from`): a page may be open for hours. */
  readonly lastMs?: Query<P> extends { readonly from?: string } ? number : never;
  /** Reads again this many ms after each answer, while the page is visible. */
  readonly every?: number | undefined;
  /** Reads nothing. */
  readonly off?: boolean;
}

/** What a path of the API answers, for as long as the component is shown. */
export function useQuery<P extends PathWith<"get">>(path: P, options: Options<P> = {}): Loaded<Data<P>> {
  const { params, query, lastMs, every, off = false } = options;
  const key = JSON.stringify([path, params, query, lastMs, off]);
  const [state, setState] = useState<{
    readonly key: string;
    readonly answer?: Answer<Data<P>>;
    readonly failure?: ApiFailure;
  }>({ key });
  const [version, setVersion] = useState(0);
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    if (off) return undefined;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      const { params, query, lastMs } = latest.current;
      try {
        const answer = await call("get", path, {
          ...(params && { params }),
          query: { ...query, ...(lastMs !== undefined && { from: beforeNow(lastMs) }) } as Query<P>,
          abort: ended.signal,
        });
        setState({ key, answer });
      } catch (failure) {
        if (ended.signal.aborted) return;
        if (!(failure instanceof ApiFailure)) throw failure;
        // what is shown stays: a figure that is a moment old beats none
        setState((before) => ({ ...(before.key === key ? before : { key }), failure }));
      }
      if (every !== undefined && !ended.signal.aborted) timer = setTimeout(() => void again(), every);
    };
    const again = () =>
      document.hidden ? Promise.resolve(void (timer = setTimeout(() => void again(), 1_000))) : read();
    void read();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [key, version, every]);
  const reload = useCallback(() => {
    setVersion((before) => before + 1);
  }, []);
  const current = state.key === key;
  return {
    // the former page of a table stays until the next one is there
    answer: state.answer,
    failure: current ? state.failure : undefined,
    loading: !current || (state.answer === undefined && state.failure === undefined),
    reload,
  };
}

/** The start of a range that ends now, in whole minutes: what is asked for changes once a minute at most. */
function beforeNow(ms: number): string {
  return new Date(Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS - ms).toISOString();
}

import type { Client } from "graphql-ws";

/** What a client has got for one operation so far. */
export interface Subscription {
  readonly got: readonly unknown[];
  readonly error?: unknown;
  readonly done: boolean;
}

/** @returns a function that sends an operation by a client of graphql-ws, and collects what comes for it */
export function subscriber(client: Client): (query: string) => Subscription {
  return (query) => {
    const got: unknown[] = [];
    const state: { got: unknown[]; error?: unknown; done: boolean } = { got, done: false };
    client.subscribe(
      { query },
      {
        next: (value) => got.push(value),
        error: (error) => (state.error = error),
        complete: () => (state.done = true),
      },
    );
    return state;
  };
}

import type { Response } from "express";
import { forCaller, type Caller } from "../../../storage/index.ts";
import { clientOf, onlyCustomerOf, type Actor } from "../actor.ts";
import { ApiError } from "../errors.ts";
import { countedSubject } from "../rate-limits/subject.ts";

/**
 * Serves a request as its caller, who takes turns with others for connections to the database. What waits for a turn is
 * given up when the connection to the client ends.
 *
 * @param caller - {@link callerOf}
 * @param serve - gets the signal that is aborted then
 */
export async function asCaller<T>(
  caller: Omit<Caller, "signal">,
  response: Response,
  serve: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  const abort = () => {
    gone.abort(new ApiError("MALFORMED_REQUEST", { message: "the client disconnected" }));
  };
  // it may have ended while the caller was identified
  if (response.destroyed) abort();
  else response.once("close", abort);
  const { signal } = gone;
  return forCaller({ ...caller, signal }, () => serve(signal));
}

/** Whose work it is: several keys of one customer are one caller. */
export function callerOf(actor: Actor): Omit<Caller, "signal"> {
  return { id: onlyCustomerOf(actor) ?? countedSubject(clientOf(actor)), actor: actor.id };
}

/**
 * Whether a client accepts an event stream, in which servers deliver the results of subscriptions (graphql-sse's
 * "distinct connections mode", Yoga).
 */
export function acceptsEvents(accept: readonly string[] | undefined): boolean {
  return (accept ?? []).some((value) =>
    value.split(",").some((range) => range.split(";", 1)[0]?.trim().toLowerCase() === "text/event-stream"),
  );
}

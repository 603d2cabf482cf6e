/**
 * Codes and texts of what GraphQL's `errors` say: those of this room, and of the Lua that evaluates operations over WebSocket, which
 * has them from envoy-contract.ts. `%s` is filled in.
 */
export const GRAPHQL = {
  ACCESS_DENIED: "ACCESS_DENIED",
  INTROSPECTION_DENIED: "INTROSPECTION_DENIED",
  GRAPHQL_MALFORMED: "GRAPHQL_MALFORMED",
  GRAPHQL_LIMIT_EXCEEDED: "GRAPHQL_LIMIT_EXCEEDED",
  PERSISTED_QUERY_NOT_SUPPORTED: "PERSISTED_QUERY_NOT_SUPPORTED",
  PERSISTED_QUERY_NOT_FOUND: "PERSISTED_QUERY_NOT_FOUND",
} as const;
export const GRAPHQL_TEXT = {
  denied: 'access to "%s" is denied',
  introspection: "introspection is denied",
  renamed: '"%s" cannot be renamed here',
  not_selected: 'select "%s" to subscribe',
  similar_name: "the name of an argument or a variable could be read as another one",
  variable_twice: "a variable is defined twice",
  fragment_missing: "a fragment that is spread is not defined",
  fragment_of_itself: "a fragment spreads itself",
  deferred: "@defer and @stream are not supported here: response rules apply to the whole response",
  // clients look for these two texts, and then send the document itself (Apollo's APQ)
  persisted_not_supported: "PersistedQueryNotSupported",
  persisted_not_found: "PersistedQueryNotFound",
} as const;

/** @returns a text of these tables with its `%s` filled in */
export function filledIn(text: string, value: string): string {
  return text.replace("%s", () => value);
}

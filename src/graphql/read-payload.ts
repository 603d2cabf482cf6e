import { isObject } from "../json/index.ts";
import { memberOf } from "./input.ts";
import { malformed, type GraphqlPayload, type InputValue } from "./types.ts";

const MEMBERS: readonly string[] = ["query", "operationName", "variables", "extensions"];

/**
 * Reads one requested operation. The document must be included: one that the server finds by hash or id cannot be
 * checked.
 *
 * @throws GraphqlRefusal
 */
export function readPayload(value: InputValue): GraphqlPayload {
  if (!isObject(value)) return malformed("an operation must be a JSON object");
  const unknown = Object.keys(value).some((name) => !MEMBERS.includes(name));
  if (unknown) malformed(`an operation has members other than ${MEMBERS.join(", ")}`);

  const query = memberOf(value, "query");
  if (typeof query !== "string" || query === "") return malformed("an operation has no `query`");
  const operationName = memberOf(value, "operationName") ?? undefined;
  if (operationName !== undefined && typeof operationName !== "string") {
    return malformed("`operationName` is not a string");
  }
  const variables = memberOf(value, "variables") ?? {};
  if (!isObject(variables)) return malformed("`variables` is not an object");
  const extensions = memberOf(value, "extensions") ?? {};
  if (!isObject(extensions)) return malformed("`extensions` is not an object");
  if (Object.hasOwn(extensions, "persistedQuery"))
    malformed("persisted queries are not supported: send the query itself");
  return { query, variables, ...(operationName !== undefined && { operationName }) };
}

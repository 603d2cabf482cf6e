import { isObject } from "../json/index.ts";
import { memberOf } from "./input.ts";
import { DOCUMENT_IDS, documentOf, type KnownDocuments } from "./persisted.ts";
import { malformed, type GraphqlPayload, type InputValue } from "./types.ts";

const MEMBERS: readonly string[] = ["query", "operationName", "variables", "extensions"];

/**
 * Reads one requested operation. A document that the server finds by hash or id can be evaluated only if the policy set
 * has it, too.
 *
 * @param known - the documents that requests may name
 * @throws GraphqlRefusal
 */
export function readPayload(value: InputValue, known?: KnownDocuments): GraphqlPayload {
  if (!isObject(value)) return malformed("an operation must be a JSON object");
  const members = known === undefined ? MEMBERS : [...MEMBERS, ...DOCUMENT_IDS];
  const unknown = Object.keys(value).some((name) => !members.includes(name));
  if (unknown) malformed(`an operation has members other than ${members.join(", ")}`);

  const operationName = memberOf(value, "operationName") ?? undefined;
  if (operationName !== undefined && typeof operationName !== "string") {
    return malformed("`operationName` is not a string");
  }
  const variables = memberOf(value, "variables") ?? {};
  if (!isObject(variables)) return malformed("`variables` is not an object");
  const extensions = memberOf(value, "extensions") ?? {};
  if (!isObject(extensions)) return malformed("`extensions` is not an object");
  return {
    query: documentOf(value, extensions, known),
    variables,
    ...(operationName !== undefined && { operationName }),
    ...(Object.hasOwn(extensions, "operationId") && { elsewhere: true }),
  };
}

import { parameterNames, similarParameter } from "../names/index.ts";
import { DOCUMENT_IDS, type KnownDocuments } from "./persisted.ts";
import { readJson } from "./read-json.ts";
import { readPayload } from "./read-payload.ts";
import { malformed, type GraphqlPayload, type InputValue } from "./types.ts";

type Query = Readonly<Record<string, readonly string[]>>;

/**
 * GraphQL over HTTP, section 6.2: the parameters that contain JSON are decoded twice. Forms and URL builders send empty ones,
 * which servers ignore or refuse.
 */
const PARAMETERS: Readonly<Record<string, (text: string) => InputValue>> = {
  query: (text) => text,
  operationName: (text) => (text === "" ? null : text),
  variables: (text) => (text === "" ? null : readJson(text)),
  extensions: (text) => (text === "" ? null : readJson(text)),
  ...Object.fromEntries(DOCUMENT_IDS.map((name) => [name, (text: string) => text])),
};

/**
 * Reads the operation of a GET request. Any other parameter is refused, because it could select another operation.
 *
 * @param known - the documents that requests may name
 * @throws GraphqlRefusal
 */
export function readParameters(query: Query, known?: KnownDocuments): GraphqlPayload {
  const members = Object.entries(query).map(([name, [value = "", ...others]]): [string, InputValue] => {
    const read = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    if (read === undefined)
      return malformed(`the URL has parameters other than ${Object.keys(PARAMETERS).join(", ")}`);
    if (others.length > 0) malformed("a parameter of the URL is repeated");
    return [name, read(value)];
  });
  return readPayload(Object.fromEntries(members), known);
}

/** Parameters from which servers read an operation or a part of one, in every spelling that could be read so. */
const CHOOSING = parameterNames([
  ...Object.keys(PARAMETERS).map((name) => name.toLowerCase()),
  ...[
    "variable",
    "extension",
    "operation",
    "operationid",
    "operations",
    "map",
    "batch",
    "gql",
    "graphql",
    "mutation",
    "subscription",
  ],
  ...[
    "id",
    "doc",
    "docid",
    "document",
    "documentid",
    "documenthash",
    "queryid",
    "queryhash",
    "querykey",
    "querymap",
  ],
  ...["hash", "sha256", "sha256hash", "persisted", "persistedquery", "persistedqueryid", "storedquery"],
]);

/**
 * Servers merge the URL's parameters with the body, in either order.
 *
 * @throws GraphqlRefusal
 */
export function checkNoParameters(query: Query): void {
  if (choosesOperation(query)) malformed("the URL of a POST request must not contain an operation");
}

/**
 * A handshake only opens a connection. If its URL contained an operation, the application might execute it unchecked.
 *
 * @throws GraphqlRefusal
 */
export function checkNoOperation(query: Query): void {
  const written = Object.entries(query).flatMap(([name, values]) => [name, ...values]);
  if (choosesOperation(query) || written.some(holdsSelections))
    malformed("the URL of a WebSocket handshake must not contain an operation");
}

function choosesOperation(query: Query): boolean {
  return (
    Object.keys(query).some((name) => CHOOSING.exact.has(name)) ||
    similarParameter(query, CHOOSING) !== undefined
  );
}

/** Every operation has a selection set (GraphQL, section 2.3), whatever name a server gives the parameter. */
function holdsSelections(text: string): boolean {
  return text.includes("{");
}

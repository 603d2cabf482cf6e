import { readJson } from "./read-json.ts";
import { readPayload } from "./read-payload.ts";
import { malformed, type GraphqlPayload, type InputValue } from "./types.ts";

type Query = Readonly<Record<string, readonly string[]>>;

/** GraphQL over HTTP, section 6.2: those that hold JSON are decoded twice. */
const PARAMETERS: Readonly<Record<string, (text: string) => InputValue>> = {
  query: asText,
  operationName: asText,
  variables: readJson,
  extensions: readJson,
};

/**
 * Reads the operation that a request by GET asks for. Any other parameter may choose another one, as hashes do.
 *
 * @throws GraphqlRefusal
 */
export function readParameters(query: Query): GraphqlPayload {
  const members = Object.entries(query).map(([name, [value = "", ...others]]): [string, InputValue] => {
    const read = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined;
    if (read === undefined)
      return malformed(`the URL has other parameters than ${Object.keys(PARAMETERS).join(", ")}`);
    if (others.length > 0) malformed("a parameter of the URL is repeated");
    return [name, read(value)];
  });
  return readPayload(Object.fromEntries(members));
}

function asText(text: string): InputValue {
  return text;
}

/** What servers take an operation, or a part of one, from; without case, `_`, `-`, and what follows `[` or `.`. */
const CHOOSING: ReadonlySet<string> = new Set([
  ...Object.keys(PARAMETERS).map((name) => name.toLowerCase()),
  ...[
    "variable",
    "extension",
    "operation",
    "operationid",
    "operations",
    "map",
    "batch",
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
  for (const name of Object.keys(query)) {
    const [plain = ""] = name.toLowerCase().replaceAll(/[_-]/g, "").split(/[[.]/, 1);
    if (CHOOSING.has(plain)) malformed("the URL of a POST asks for an operation, too");
  }
}

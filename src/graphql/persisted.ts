import { isObject } from "../json/index.ts";
import type { GraphqlDocumentsIR } from "../policy/index.ts";
import { memberOf } from "./input.ts";
import { malformed, notFound, notSupported, type InputObject, type InputValue } from "./types.ts";

/** The documents that requests may name. */
export interface KnownDocuments {
  readonly documents: GraphqlDocumentsIR;
  /** SHA-256 of a text in UTF-8, in lower-case hexadecimal. */
  readonly sha256: (text: string) => string;
}

/** Members of a request that may name its document: GraphQL over HTTP (persisted documents), and Relay. */
export const DOCUMENT_IDS: readonly string[] = ["documentId", "doc_id", "id"];

/**
 * Reads the document of one operation: the one that was sent, or the one that the policy set has under its id. If a
 * request has both, they must be the same, because servers differ in which one they execute.
 *
 * @param extensions - may contain `persistedQuery` (Apollo's APQ)
 * @throws GraphqlRefusal
 */
export function documentOf(
  payload: InputObject,
  extensions: InputObject,
  known: KnownDocuments | undefined,
): string {
  const query = memberOf(payload, "query") ?? undefined;
  if (query !== undefined && (typeof query !== "string" || query === ""))
    return malformed("`query` is not a document");
  const persisted = memberOf(extensions, "persistedQuery");
  const named = DOCUMENT_IDS.flatMap((name) => memberOf(payload, name) ?? []);
  if (persisted !== undefined && known === undefined) return notSupported();
  const [id, ...others] = [...(persisted === undefined ? [] : [hashIn(persisted)]), ...named];
  if (id === undefined) return query ?? malformed("an operation has no `query`");
  if (others.length > 0) return malformed("an operation names its document twice");
  if (typeof id !== "string") return malformed("the id of a document is not a string");
  const stored = known && Object.hasOwn(known.documents, id) ? known.documents[id] : undefined;
  if (query === undefined) return stored ?? notFound();
  // a server that keeps what clients send (APQ) keeps it under its hash
  const fits = stored === undefined ? known?.sha256(query) === id : query === stored;
  return fits ? query : malformed("the document that was sent is not the one that was named");
}

/** `{ version: 1, sha256Hash }`; clients with a manifest send its ids as hashes. */
function hashIn(persisted: InputValue): InputValue {
  if (!isObject(persisted)) return malformed("`persistedQuery` is not an object");
  const { version, sha256Hash, ...others } = persisted;
  if (version !== 1 || sha256Hash === undefined || Object.keys(others).length > 0)
    return malformed("`persistedQuery` must have `version: 1` and `sha256Hash`");
  return sha256Hash;
}

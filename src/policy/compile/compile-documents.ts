import { GraphQLError, parse } from "graphql";
import { isList, isObject, JsonError, parseJson, type JsonValue } from "../../json/index.ts";
import { quoted } from "../../text/index.ts";
import { type Reporter } from "../diagnostics/reporter.ts";
import type { SourceText } from "../diagnostics/source-text.ts";
import type { GraphqlDocumentsIR } from "../graphql-ir.ts";

const MAX_LENGTH = 5 * 1024 * 1024;
/** A manifest has five values per document. */
const LIMITS = { depth: 10, values: 200_000 };

/** Apollo's manifest (`generate-persisted-query-manifest`). */
const MANIFEST = "apollo-persisted-query-manifest";

/**
 * Compiles a list of documents: Apollo's manifest, or an object of documents by id (relay-compiler's `persistConfig`).
 *
 * @returns the documents by id; `undefined` if there are errors, which are reported
 */
export function compileDocuments(source: SourceText, report: Reporter): GraphqlDocumentsIR | undefined {
  const documents = documentsIn(source.text);
  if (typeof documents !== "string") return documents;
  report.error({ source, start: 0, end: 1 }, "invalid-documents", documents);
  return undefined;
}

/** @returns documents by id, or why there are none */
function documentsIn(text: string): GraphqlDocumentsIR | string {
  if (text.length > MAX_LENGTH) return "the list of documents is longer than 5 MB";
  const read = readJson(text);
  if (typeof read === "string") return `not valid JSON: ${read}`;
  const entries = entriesOf(read.value);
  if (typeof entries === "string") return entries;
  const documents = new Map<string, string>();
  for (const [id, document] of entries) {
    if (documents.has(id)) return `duplicate id ${quoted(id)}`;
    if (!isDocument(document)) return `the document ${quoted(id)} is not valid GraphQL`;
    documents.set(id, document);
  }
  return Object.fromEntries(documents);
}

function readJson(text: string): { readonly value: JsonValue } | string {
  try {
    const { value, duplicateMember } = parseJson(text, LIMITS);
    return duplicateMember ? "an object has a duplicate member" : { value };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return error.message;
  }
}

/** @returns ids and documents, or why there are none */
function entriesOf(value: JsonValue): readonly (readonly [id: string, text: string])[] | string {
  if (!isObject(value)) return "the list of documents must be a JSON object";
  if (value["format"] !== MANIFEST) {
    const plain = Object.entries(value).flatMap(([id, text]) =>
      typeof text === "string" ? [[id, text] as const] : [],
    );
    return plain.length === Object.keys(value).length
      ? plain
      : `every value must be a document, or \`format\` must be \`${MANIFEST}\``;
  }
  const { version, operations } = value;
  if (version !== 1 || operations === undefined || !isList(operations))
    return "a manifest must have `version: 1` and a list `operations`";
  const entries = operations.flatMap((operation) => {
    if (!isObject(operation)) return [];
    const { id, body } = operation;
    return typeof id === "string" && typeof body === "string" ? [[id, body] as const] : [];
  });
  return entries.length === operations.length ? entries : "every operation must have an `id` and a `body`";
}

function isDocument(text: string): boolean {
  try {
    parse(text, { noLocation: true });
    return true;
  } catch (error) {
    // a RangeError: nested too deeply
    if (!(error instanceof GraphQLError || error instanceof RangeError)) throw error;
    return false;
  }
}

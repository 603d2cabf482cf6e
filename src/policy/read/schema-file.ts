import type { PolicyFile } from "../diagnostic.ts";

/**
 * A file relative to the policy file: in its folder or below, and named with characters that never need quoting, so
 * that code that collects the files of a set finds it without parsing YAML.
 */
const SCHEMA_FILE = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:graphqls?|gql)$/;

/** @returns whether a file of a set contains a GraphQL schema rather than policies */
export function isSchemaFile({ name }: PolicyFile): boolean {
  return /\.(?:graphqls?|gql)$/.test(name);
}

/**
 * @returns the name in the set of the schema file that the policy file `from` refers to as `text`; `undefined` if
 *   `text` is not a valid name
 */
export function schemaFileName(from: string, text: string): string | undefined {
  return SCHEMA_FILE.test(text) ? from.slice(0, from.lastIndexOf("/") + 1) + text : undefined;
}

/**
 * @returns possible schema files in the text of a policy file, by their names in the set. Code that collects the files
 *   of a set reads these as well, if they exist; `graphql.schema` decides which one is used.
 */
export function mentionedSchemaFiles({ name, text }: PolicyFile): string[] {
  if (!text.includes(".graphql") && !text.includes(".gql")) return []; // a fast check first: large sets are scanned often
  const words = text.match(/[A-Za-z0-9_./-]+/g) ?? [];
  return words.flatMap((word) => schemaFileName(name, word) ?? []);
}

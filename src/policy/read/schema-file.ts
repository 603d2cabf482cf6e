import type { PolicyFile } from "../diagnostic.ts";

/**
 * A file relative to the policy file: in its folder or below, and of characters that need no quoting anywhere, so that who
 * reads the files of a set finds it without reading YAML.
 */
const SCHEMA_FILE = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:graphqls?|gql)$/;

/** @returns whether a file of a set holds a GraphQL schema, and no policies. */
export function isSchemaFile({ name }: PolicyFile): boolean {
  return /\.(?:graphqls?|gql)$/.test(name);
}

/** @returns the schema file's name in the set, where the policy file `from` writes `text`; `undefined` for what names none. */
export function schemaFileName(from: string, text: string): string | undefined {
  return SCHEMA_FILE.test(text) ? from.slice(0, from.lastIndexOf("/") + 1) + text : undefined;
}

/**
 * @returns what may be a schema file in the text of a policy file, by its name in the set. Whoever reads the files of a
 *   set reads these, too, where they exist; which one counts is said by `graphql.schema`.
 */
export function mentionedSchemaFiles({ name, text }: PolicyFile): string[] {
  if (!text.includes(".graphql") && !text.includes(".gql")) return []; // large sets are looked at often
  const words = text.match(/[A-Za-z0-9_./-]+/g) ?? [];
  return words.flatMap((word) => schemaFileName(name, word) ?? []);
}

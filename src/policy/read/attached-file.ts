import type { PolicyFile } from "../diagnostic.ts";

/**
 * A file relative to the policy file: in its folder or below, and named with characters that never need quoting, so
 * that code that collects the files of a set finds it without parsing YAML.
 */
const ATTACHED_FILE =
  /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:graphqls?|gql|json)$/;

/** What a policy set may name: a GraphQL schema, or a list of documents. */
const SUFFIX = { schema: /\.(?:graphqls?|gql)$/, documents: /\.json$/ } as const;

/** @returns whether a file of a set contains a GraphQL schema or documents rather than policies */
export function isAttachedFile({ name }: PolicyFile): boolean {
  return Object.values(SUFFIX).some((suffix) => suffix.test(name));
}

/**
 * @returns the name in the set of the file that the policy file `from` refers to as `text`; `undefined` if `text` is
 *   not a valid name
 */
export function attachedFileName(from: string, text: string, kind: keyof typeof SUFFIX): string | undefined {
  return SUFFIX[kind].test(text) ? nameIn(from, text) : undefined;
}

function nameIn(from: string, text: string): string | undefined {
  return ATTACHED_FILE.test(text) ? from.slice(0, from.lastIndexOf("/") + 1) + text : undefined;
}

/**
 * @returns possible files of this kind in the text of a policy file, by their names in the set. Code that collects the
 *   files of a set reads these as well, if they exist; the head `graphql` decides which ones are used.
 */
export function mentionedFiles({ name, text }: PolicyFile): string[] {
  if (![".graphql", ".gql", ".json"].some((suffix) => text.includes(suffix))) return []; // a fast check first: large sets are scanned often
  const words = text.match(/[A-Za-z0-9_./-]+/g) ?? [];
  return words.flatMap((word) => nameIn(name, word) ?? []);
}

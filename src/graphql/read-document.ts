import {
  BREAK,
  Kind,
  parse,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { checkMembers, checkUnique } from "./literals.ts";
import { syntaxErrorAt } from "./scan-tokens.ts";
import { malformed, type GraphqlPayload, type OperationKind } from "./types.ts";
import { GRAPHQL_TEXT } from "./refusals.ts";

/** An executable document: all its fragments are defined, and none contains itself. */
export interface ExecutableDocument {
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** `@defer` or `@stream` is anywhere in it: the server may deliver the result in parts, at paths within it. */
  readonly deferred: boolean;
}

/**
 * Reads a document whose tokens were counted (GraphQL, section 2.2). All its operations are evaluated, because servers
 * differ in which one they execute.
 *
 * @throws GraphqlRefusal
 */
export function readDocument(
  { query, operationName }: GraphqlPayload,
  kinds: readonly OperationKind[],
): ExecutableDocument {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  const document = parseDocument(query);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    else if (definition.kind !== Kind.FRAGMENT_DEFINITION) malformed("the document defines types");
    else if (fragments.has(definition.name.value)) malformed("duplicate fragment name");
    else fragments.set(definition.name.value, definition);
  }
  checkNames(operations, operationName);
  for (const operation of operations) {
    checkVariables(operation);
    if (!kinds.includes(operation.operation)) {
      malformed(`${operation.operation} operations are not supported over this transport`);
    }
  }
  checkSpreads(operations, fragments);
  return { operations, fragments, deferred: isDeferred(query, document) };
}

function parseDocument(text: string): DocumentNode {
  try {
    return parse(text, { noLocation: true });
  } catch (error) {
    return malformed(syntaxErrorAt(error));
  }
}

function isDeferred(query: string, document: DocumentNode): boolean {
  if (!query.includes("defer") && !query.includes("stream")) return false;
  let found = false;
  visit(document, {
    Directive({ name: { value } }) {
      if (value !== "defer" && value !== "stream") return undefined;
      found = true;
      return BREAK;
    },
  });
  return found;
}

/** GraphQL, sections 5.2.2 and 6.1: the operation to execute must be unambiguous. */
function checkNames(operations: readonly OperationDefinitionNode[], chosen: string | undefined): void {
  const names = operations.map(({ name }) => name?.value);
  if (names.length === 0) malformed("the document has no operation");
  checkUnique(names, "duplicate operation name");
  if (names.length > 1 && names.includes(undefined))
    malformed("an anonymous operation must be the only one in the document");
  if (chosen === undefined && names.length > 1)
    malformed("the document has several operations, and the request does not name one");
  if (chosen !== undefined && !names.includes(chosen))
    malformed("the document has no operation with the requested name");
}

function checkVariables({ variableDefinitions = [] }: OperationDefinitionNode): void {
  checkUnique(
    variableDefinitions.map(({ variable }) => variable.name.value),
    GRAPHQL_TEXT.variable_twice,
  );
  for (const { defaultValue } of variableDefinitions) if (defaultValue) checkMembers(defaultValue);
}

/** GraphQL, sections 5.5.2.1 and 5.5.2.2. Without recursion: chains of fragments may be as long as a document. */
function checkSpreads(
  operations: readonly OperationDefinitionNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): void {
  const spreadBy = new Map<string, Set<string>>();
  for (const [name, { selectionSet }] of fragments) spreadBy.set(name, spreadsIn(selectionSet));
  const all = [...operations.map(({ selectionSet }) => spreadsIn(selectionSet)), ...spreadBy.values()];
  if (all.some((names) => [...names].some((name) => !fragments.has(name)))) {
    malformed(GRAPHQL_TEXT.fragment_missing);
  }
  // remove fragments that spread no remaining fragment, repeatedly; those left at the end form cycles
  const users = new Map<string, string[]>([...fragments.keys()].map((name) => [name, []]));
  for (const [name, spreads] of spreadBy) for (const spread of spreads) users.get(spread)?.push(name);
  const ready = [...spreadBy].filter(([, spreads]) => spreads.size === 0).map(([name]) => name);
  for (const name of ready) {
    for (const user of users.get(name) ?? []) {
      const left = spreadBy.get(user);
      left?.delete(name);
      if (left?.size === 0) ready.push(user);
    }
  }
  if (ready.length < fragments.size) malformed(GRAPHQL_TEXT.fragment_of_itself);
}

/** The nesting of brackets in the document limits the depth of this recursion. */
function spreadsIn({ selections }: SelectionSetNode, found = new Set<string>()): Set<string> {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) found.add(selection.name.value);
    else if (selection.selectionSet) spreadsIn(selection.selectionSet, found);
  }
  return found;
}

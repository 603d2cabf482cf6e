import { Kind, type ArgumentNode, type OperationDefinitionNode, type ValueNode } from "graphql";
import { exactNumber } from "../json/index.ts";
import { UNAVAILABLE } from "../policy/evaluation.ts";
import { malformed, type GraphqlPayload, type InputObject, type InputValue } from "./types.ts";

/** The variables that one operation defines, with their values; `undefined` for a variable without a value. */
export type Variables = ReadonlyMap<string, InputValue | undefined>;

/** GraphQL, section 6.1.2, without coercion: a given value is used as it is. */
export function variablesOf(
  { variableDefinitions = [] }: OperationDefinitionNode,
  { variables }: GraphqlPayload,
): Variables {
  return new Map(
    variableDefinitions.map(({ variable, defaultValue }) => {
      const name = variable.name.value;
      if (Object.hasOwn(variables, name)) return [name, variables[name]];
      return [name, defaultValue && valueOf(defaultValue, new Map())];
    }),
  );
}

/**
 * @param defaults - the default values of arguments in the schema
 * @returns the arguments of a field (GraphQL, section 6.4.1); null prototype
 */
export function argumentsOf(
  given: readonly ArgumentNode[],
  variables: Variables,
  defaults: Readonly<Record<string, unknown>> = {},
): InputObject {
  const values = Object.create(null) as Record<string, InputValue>;
  for (const [name, value] of Object.entries(defaults)) values[name] = value as InputValue;
  for (const { name, value } of given) {
    const known = !readsUndefined(value, variables);
    const result = known ? valueOf(value, variables) : UNAVAILABLE;
    if (result !== undefined) values[name.value] = result;
  }
  return values;
}

/** The server would either refuse it or treat it as null; it is not known which. */
function readsUndefined(node: ValueNode, variables: Variables): boolean {
  switch (node.kind) {
    case Kind.VARIABLE:
      return !variables.has(node.name.value);
    case Kind.LIST:
      return node.values.some((value) => readsUndefined(value, variables));
    case Kind.OBJECT:
      return node.fields.some(({ value }) => readsUndefined(value, variables));
    default:
      return false;
  }
}

/** @returns `undefined` for a variable without a value */
function valueOf(node: ValueNode, variables: Variables): InputValue | undefined {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variables.get(node.name.value);
    case Kind.INT:
    case Kind.FLOAT:
      return exactNumber(node.value);
    case Kind.NULL:
      return null;
    case Kind.LIST:
      return node.values.map((value) => valueOf(value, variables) ?? null);
    case Kind.OBJECT: {
      const object = Object.create(null) as Record<string, InputValue>;
      for (const { name, value } of node.fields) {
        const member = valueOf(value, variables);
        if (member !== undefined) object[name.value] = member;
      }
      return object;
    }
    default:
      return node.value; // strings, booleans, and enum values as their names
  }
}

/** GraphQL, section 5.4.2. @throws GraphqlRefusal */
export function checkArguments(given: readonly ArgumentNode[]): void {
  checkUnique(
    given.map(({ name }) => name.value),
    "duplicate argument",
  );
  for (const { value } of given) checkMembers(value);
}

/** GraphQL, section 5.6.3. @throws GraphqlRefusal */
export function checkMembers(node: ValueNode): void {
  if (node.kind === Kind.LIST) for (const value of node.values) checkMembers(value);
  if (node.kind !== Kind.OBJECT) return;
  checkUnique(
    node.fields.map(({ name }) => name.value),
    "duplicate field in an input object",
  );
  for (const { value } of node.fields) checkMembers(value);
}

/** @throws GraphqlRefusal */
export function checkUnique(names: readonly (string | undefined)[], message: string): void {
  if (new Set(names).size < names.length) malformed(message);
}

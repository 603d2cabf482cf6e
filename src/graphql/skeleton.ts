import {
  Kind,
  parse,
  print,
  visit,
  type ArgumentNode,
  type ConstValueNode,
  type OperationDefinitionNode,
  type ValueNode,
} from "graphql";
import { isList, isObject } from "../json/index.ts";
import { UNAVAILABLE } from "../policy/evaluation.ts";
import { argumentsOf, variablesOf, type Variables } from "./literals.ts";
import type { GraphqlPayload, InputValue } from "./types.ts";

/** An argument of a skeleton whose value is left out, with its name. */
export const LEFT_OUT_ARGUMENT = /\b([A-Za-z_]\w{0,200}): \$_\b/g;

/** Takes the place of values, as `$_`. No operation defines it, so it is unavailable to conditions. */
const LEFT_OUT_NODE: ValueNode = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: "_" } };
const NAME = /^[A-Za-z_]\w*$/;

/**
 * @param payload - an operation that was read and evaluated
 * @param keeps - whether the value of an argument may be shown
 * @returns its document with `$_` for every value of an argument that may not be shown, and without variables:
 *   evaluating it gives the same as evaluating the operation, unless a condition reads a value that is left out
 */
export function skeletonOf(
  payload: GraphqlPayload,
  keeps: (argument: string, value: InputValue) => boolean,
): string {
  const document = parse(payload.query, { noLocation: true });
  const operations = document.definitions.filter(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  );
  const [only, ...others] = operations;
  // a fragment's arguments may have other values in each operation
  const variables: Variables =
    only === undefined || others.length > 0 ? new Map() : variablesOf(only, payload);
  const shown = (argument: ArgumentNode): readonly ArgumentNode[] => {
    const name = argument.name.value;
    const value = argumentsOf([argument], variables)[name];
    // an argument whose variable has no value is not sent
    if (value === undefined) return [];
    const node = value !== UNAVAILABLE && keeps(name, value) ? nodeOf(value) : undefined;
    return [{ ...argument, value: node ?? LEFT_OUT_NODE }];
  };
  const skeleton = visit(document, {
    OperationDefinition: (node) => ({ ...node, variableDefinitions: [] }),
    Field: (node) => ({ ...node, arguments: (node.arguments ?? []).flatMap(shown) }),
    Directive: (node) => ({
      ...node,
      arguments: (node.arguments ?? []).map((argument) => ({ ...argument, value: LEFT_OUT_NODE })),
    }),
  });
  return print(skeleton);
}

/** @returns the literal of a value; `undefined` if it has none */
function nodeOf(value: InputValue): ConstValueNode | undefined {
  switch (typeof value) {
    case "string":
      return { kind: Kind.STRING, value };
    case "boolean":
      return { kind: Kind.BOOLEAN, value };
    case "number":
      return Number.isFinite(value) ? { kind: Kind.FLOAT, value: String(value) } : undefined;
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return { kind: Kind.NULL };
  if (isList(value)) {
    const values = value.map((item: InputValue) => nodeOf(item));
    return values.every((node) => node !== undefined) ? { kind: Kind.LIST, values } : undefined;
  }
  if (!isObject(value)) return undefined;
  const fields = Object.entries(value).flatMap(([name, member]) => {
    const node = NAME.test(name) ? nodeOf(member) : undefined;
    return node === undefined
      ? []
      : [{ kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: name }, value: node } as const];
  });
  return fields.length === Object.keys(value).length ? { kind: Kind.OBJECT, fields } : undefined;
}

import {
  Kind,
  parse,
  type DocumentNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";

/** Lua that prints what `graphql_document.parse` reads, in the form of {@link treeOf}. */
export const PRINT_TREE = `
local document = require("gatehouse.graphql_document")
local function list(items, print)
  local printed = {}
  for index, item in ipairs(items) do printed[index] = print(item) end
  return "(" .. table.concat(printed, " ") .. ")"
end
local print_value
local function print_named(one) return one.name .. "=" .. print_value(one.value) end
function print_value(node)
  if node.kind == "variable" then return "$" .. node.name end
  if node.kind == "number" then return "#" .. node.text end
  if node.kind == "string" then return "s" .. #node.value .. ":" .. node.value end
  if node.kind == "list" then return "list" .. list(node.items, print_value) end
  if node.kind == "object" then return "object" .. list(node.members, print_named) end
  return node.kind .. ":" .. tostring(node.value)
end
local function print_selection(node)
  if node.kind == "spread" then return "..." .. node.name end
  if node.kind == "inline" then return "...on " .. tostring(node.type) .. list(node.selections, print_selection) end
  return node.key .. ":" .. node.name .. list(node.arguments, print_named) ..
    (node.selections and list(node.selections, print_selection) or "")
end
local function print_variable(one)
  return "$" .. one.name .. (one.value and "=" .. print_value(one.value) or "")
end
local function print_operation(one)
  return one.operation .. " " .. tostring(one.name) .. list(one.variables, print_variable) ..
    list(one.selections, print_selection)
end
local function print_fragment(one)
  return "fragment " .. one.name .. " on " .. one.type .. list(one.selections, print_selection)
end
function one(text)
  local read, code = document.parse(text, { tokens = 10000 })
  if not read then return code end
  return list(read.operations, print_operation) .. list(read.fragments, print_fragment) .. read.tokens
end
`;

/** What graphql-js reads, as text, or the code of the refusal. */
export function treeOf(text: string): string {
  let document: DocumentNode;
  try {
    document = parse(text);
  } catch {
    return "GRAPHQL_MALFORMED";
  }
  const operations: string[] = [];
  const fragments: string[] = [];
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) {
      const variables = definition.variableDefinitions?.map(({ variable, defaultValue }) =>
        defaultValue === undefined
          ? `$${variable.name.value}`
          : `$${variable.name.value}=${valueOf(defaultValue)}`,
      );
      operations.push(
        `${definition.operation} ${definition.name?.value ?? "nil"}${list(variables ?? [])}${selectionsOf(definition.selectionSet)}`,
      );
    } else if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.push(
        `fragment ${definition.name.value} on ${definition.typeCondition.name.value}${selectionsOf(definition.selectionSet)}`,
      );
    } else return "GRAPHQL_MALFORMED";
  }
  const { tokenCount } = document as DocumentNode & { readonly tokenCount: number };
  return `${list(operations)}${list(fragments)}${tokenCount}`;
}

function list(items: readonly string[]): string {
  return `(${items.join(" ")})`;
}

function selectionsOf(set: SelectionSetNode): string {
  return list(set.selections.map(selectionOf));
}

function selectionOf(selection: SelectionNode): string {
  if (selection.kind === Kind.FRAGMENT_SPREAD) return `...${selection.name.value}`;
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    return `...on ${selection.typeCondition?.name.value ?? "nil"}${selectionsOf(selection.selectionSet)}`;
  }
  const { name, alias, selectionSet } = selection;
  const args = (selection.arguments ?? []).map((one) => `${one.name.value}=${valueOf(one.value)}`);
  const below = selectionSet === undefined ? "" : selectionsOf(selectionSet);
  return `${alias?.value ?? name.value}:${name.value}${list(args)}${below}`;
}

function valueOf(node: ValueNode): string {
  switch (node.kind) {
    case Kind.VARIABLE:
      return `$${node.name.value}`;
    case Kind.INT:
    case Kind.FLOAT:
      return `#${node.value}`;
    case Kind.STRING:
      return `s${Buffer.byteLength(node.value)}:${node.value}`;
    case Kind.BOOLEAN:
      return `boolean:${node.value}`;
    case Kind.ENUM:
      return `enum:${node.value}`;
    case Kind.NULL:
      return "null:nil";
    case Kind.LIST:
      return `list${list(node.values.map(valueOf))}`;
    case Kind.OBJECT:
      return `object${list(node.fields.map(({ name, value }) => `${name.value}=${valueOf(value)}`))}`;
  }
}

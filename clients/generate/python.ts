import { errorCodesOf, refName, typesOf, type Document, type Schema } from "./document.ts";

/** The types of the library for Python: a `TypedDict` for each object, and a class for each object within one. */
export function pythonOf(document: Document): string {
  const classes: string[] = [];
  const aliases: string[] = [];
  for (const { name, schema } of typesOf(document)) {
    if (schema.properties !== undefined) classes.push(...classesOf(name, schema));
    else aliases.push(`${name} = ${typeOf(schema, name, classes)}`);
  }
  const codes = errorCodesOf(document);
  return `${[
    '"""Generated from the OpenAPI document of the control plane: see clients/README.md."""',
    "from __future__ import annotations",
    "from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, Union",
    "if TYPE_CHECKING:\n    from typing_extensions import NotRequired",
    `ErrorCode = Literal[\n${codes.map((code) => `    ${JSON.stringify(code)},`).join("\n")}\n]`,
    `#: Every error code of the API.\nERROR_CODES: tuple[ErrorCode, ...] = (\n${codes
      .map((code) => `    ${JSON.stringify(code)},`)
      .join("\n")}\n)`,
    ...classes,
    ...aliases,
  ].join("\n\n\n")}\n`;
}

const KEYWORDS: ReadonlySet<string> = new Set([
  "from",
  "class",
  "global",
  "import",
  "in",
  "is",
  "not",
  "pass",
  "with",
]);

/** The class of an object, after those of the objects within it. */
function classesOf(name: string, { properties = {}, required = [] }: Schema): string[] {
  const inner: string[] = [];
  const members = Object.entries(properties).map(([member, schema]) => {
    const type = typeOf(schema, `${name}${pascal(member)}`, inner);
    return [member, required.includes(member) ? type : `NotRequired[${type}]`] as const;
  });
  // a name that the language keeps for itself is no name of a member of a class
  if (members.some(([member]) => KEYWORDS.has(member) || !/^[A-Za-z_]\w*$/.test(member))) {
    const lines = members.map(([member, type]) => `        ${JSON.stringify(member)}: ${quoted(type)},`);
    return [...inner, `${name} = TypedDict(\n    "${name}",\n    {\n${lines.join("\n")}\n    },\n)`];
  }
  const lines = members.map(([member, type]) => `    ${member}: ${type}`);
  return [...inner, `class ${name}(TypedDict):\n${lines.length === 0 ? "    pass" : lines.join("\n")}`];
}

function typeOf(schema: Schema, name: string, classes: string[]): string {
  if (schema.$ref !== undefined) return refName(schema.$ref);
  if ("const" in schema) return literal([schema.const]);
  if (schema.enum !== undefined) return literal(schema.enum);
  const choices =
    schema.anyOf ??
    schema.oneOf ??
    (Array.isArray(schema.type) ? (schema.type as string[]).map((type) => ({ ...schema, type })) : undefined);
  if (choices !== undefined) {
    const several = choices.filter(({ properties }) => properties !== undefined).length > 1;
    return unionOf(
      choices.map((choice, index) => typeOf(choice, several ? `${name}${index + 1}` : name, classes)),
    );
  }
  switch (schema.type) {
    case "array":
      return `list[${typeOf(schema.items ?? {}, `${name}Item`, classes)}]`;
    case "object":
      if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
        classes.push(...classesOf(name, schema));
        return name;
      }
      return `dict[str, ${typeof schema.additionalProperties === "object" ? typeOf(schema.additionalProperties, `${name}Value`, classes) : "Any"}]`;
    case "string":
      return "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "null":
      return "None";
    default:
      return "Any";
  }
}

function unionOf(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  const others = distinct.filter((type) => type !== "None");
  const union = others.length === 1 ? others.join("") : `Union[${others.join(", ")}]`;
  return others.length < distinct.length ? `Optional[${union}]` : union;
}

function literal(values: readonly unknown[]): string {
  const texts = values.map((value) => {
    if (value === true) return "True";
    if (value === false) return "False";
    return JSON.stringify(value);
  });
  return `Literal[${texts.join(", ")}]`;
}

function quoted(type: string): string {
  return `'${type}'`;
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase());
}

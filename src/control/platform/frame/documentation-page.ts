import { isObject } from "../../../json/index.ts";
import { escapeHtml } from "../../../text/index.ts";
import type { Json } from "./openapi-schema.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Json;
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Answer {
  readonly description: string;
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: Json }>>;

/** The part of an OpenAPI document that the page shows. */
export interface DocumentedApi {
  readonly info: { readonly title: string; readonly summary: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** The stylesheet of the page. */
export const DOCUMENTATION_STYLE = `body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
code { font-family: ui-monospace, monospace; }
summary { cursor: pointer; padding: 0.25rem 0; }
summary > code { font-weight: 600; }
details { border-top: 1px solid #8884; }
details > :not(summary) { margin-left: 1rem; }
li, p { overflow-wrap: anywhere; }
ul { padding-left: 1.25rem; }
`;

/** The API as one HTML page, for people: without scripts, and with nothing that is not in the document. */
export function documentationPage({ info, servers, tags, paths, components }: DocumentedApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = tags.map(({ name, description = "" }) => {
    const listed = operations.filter(({ operation }) => operation.tags.includes(name));
    return `<h2>${escapeHtml(name)}</h2>\n${prose(description)}\n${listed.map(section).join("\n")}`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>${members(schema)}</details>`,
  );
  const [server] = servers;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(info.title)} API</title>
    <link rel="stylesheet" href="/docs/style.css">
  </head>
  <body>
    <main>
<h1>${escapeHtml(info.title)} API</h1>
<p>${escapeHtml(info.summary)}. All paths are below <code>${escapeHtml(server?.url ?? "")}</code>. The same for programs:
<a href="/v1/openapi.json">/v1/openapi.json</a> (OpenAPI 3.1).</p>
${byTag.join("\n")}
<h2>Schemas</h2>
${schemas.join("\n")}
    </main>
  </body>
</html>
`;
}

function section({
  path,
  method,
  operation,
}: {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  return [
    `<details id="${escapeHtml(operationId)}"><summary><code>${method.toUpperCase()} ${escapeHtml(path)}</code> ${escapeHtml(summary)}</summary>`,
    prose(description),
    ...(parameters.length === 0 ? [] : ["<h3>Parameters</h3>", list(parameters.map(parameter))]),
    ...(requestBody === undefined ? [] : ["<h3>Body</h3>", content(requestBody.content)]),
    "<h3>Answers</h3>",
    list(
      Object.entries(responses).map(
        ([status, answer]) =>
          `<code>${status}</code> ${inline(answer.description)}${content(answer.content ?? {})}`,
      ),
    ),
    "</details>",
  ].join("\n");
}

function parameter({
  name,
  in: where,
  required,
  description,
  schema,
}: NonNullable<Operation["parameters"]>[number]) {
  const words = [
    `in the ${where}`,
    ...(required ? ["required"] : []),
    ...(description === undefined ? [] : [description]),
  ];
  return `<code>${escapeHtml(name)}</code> (${inline(words.join("; "))}) ${described(schema)}`;
}

function content(types: Content): string {
  return list(
    Object.entries(types).map(
      ([type, { schema }]) => `<code>${escapeHtml(type)}</code> ${described(schema)}`,
    ),
  );
}

/** A schema in words, followed by its members. */
function described(schema: Json): string {
  const { $ref: reference } = schema;
  if (typeof reference === "string") {
    const name = escapeHtml(reference.replace("#/components/schemas/", ""));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  const { description } = schema;
  const words = typeof description === "string" ? ` ${inline(description)}` : "";
  return `${constraints(schema)}${words}${members(schema)}`;
}

/** Keywords that are replaced by what they refer to. */
const SHOWN = [
  "type",
  "properties",
  "required",
  "items",
  "anyOf",
  "oneOf",
  "allOf",
  "description",
  "propertyNames",
];

function constraints(schema: Json): string {
  const { type } = schema;
  const types = typeof type === "string" ? type : Array.isArray(type) ? type.join(" or ") : "";
  const rest = Object.entries(schema).flatMap(([keyword, value]) => {
    if (SHOWN.includes(keyword) || isObject(value)) return [];
    return [`${keyword} ${JSON.stringify(value)}`];
  });
  return [types, ...rest]
    .filter((word) => word !== "")
    .map((word) => `<code>${escapeHtml(word)}</code>`)
    .join(" ");
}

function members(schema: Json): string {
  const { properties, required, items, additionalProperties } = schema as {
    readonly properties?: Readonly<Record<string, Json>>;
    readonly required?: readonly string[];
    readonly items?: Json;
    readonly additionalProperties?: Json | boolean;
  };
  const parts = Object.entries(properties ?? {}).map(
    ([name, member]) =>
      `<code>${escapeHtml(name)}</code>${required?.includes(name) === true ? " (required)" : ""} ${described(member)}`,
  );
  if (items !== undefined) parts.push(`each: ${described(items)}`);
  if (typeof additionalProperties === "object") parts.push(`any member: ${described(additionalProperties)}`);
  for (const keyword of ["anyOf", "oneOf", "allOf"] as const) {
    const alternatives = schema[keyword] as readonly Json[] | undefined;
    const words = keyword === "allOf" ? "and" : "or";
    for (const [index, one] of (alternatives ?? []).entries())
      parts.push(`${index === 0 ? "" : `${words} `}${described(one)}`);
  }
  return list(parts);
}

function list(entries: readonly string[]): string {
  return entries.length === 0 ? "" : `<ul>${entries.map((entry) => `<li>${entry}</li>`).join("\n")}</ul>`;
}

/** Paragraphs of a description. */
function prose(text: string): string {
  return text === ""
    ? ""
    : text
        .split("\n\n")
        .map((paragraph) => `<p>${inline(paragraph)}</p>`)
        .join("\n");
}

/** In a description, words in backticks are code. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}

import { METHODS } from "../pattern/methods.ts";
import type {
  ATTRIBUTE_KEYS,
  CONNECTION_KEYS,
  CORS_KEYS,
  ENTRY_KEYS,
  FIELD_KEYS,
  GRAPHQL_KEYS,
  GRAPHQL_LIMIT_KEYS,
  HEAD_KEYS,
  MESSAGE_KEYS,
  RULE_KEYS,
} from "./keys.ts";
import { CHOICES, OPERATIONS, SECTIONS } from "./keys.ts";

/** JSON Schema, draft 7: the newest that every editor's YAML support knows. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One schema for each key, so that a key without one is an error of the compiler. */
type Members<Keys extends readonly string[]> = Readonly<Record<Keys[number], JsonSchema>>;

const text = (description: string): JsonSchema => ({ type: "string", minLength: 1, description });
const oneOf = (words: readonly (string | null)[], description: string): JsonSchema => ({
  enum: words,
  description,
});
const list = (items: JsonSchema, description: string): JsonSchema => ({ type: "array", items, description });
const someOf = (items: JsonSchema, description: string): JsonSchema => ({
  ...list(items, description),
  minItems: 1,
});

function mapping(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return {
    type: "object",
    properties,
    additionalProperties: false,
    ...(required.length > 0 && { required }),
  };
}

const condition: JsonSchema = {
  type: ["string", "boolean"],
  description: 'What must be true: `user.role == "admin" and user.customer_id == path.customer_id`.',
};
const label = (description: string): JsonSchema => ({ type: ["string", "number"], description });
const audit = oneOf(CHOICES.audit, "`required`: without a record, the request is denied.");

const common: Members<typeof RULE_KEYS> = {
  name: text("For records, metrics and messages."),
  audit,
};

const otherTypes = oneOf(
  CHOICES.other_types,
  "What happens to answers that are not JSON: `refuse` (the default) or `pass`.",
);

const filteredField: Members<typeof FIELD_KEYS.filter_rules> = {
  field: text("`ssn`: at any depth; `$.customer.ssn`: from the root."),
  condition,
  action: oneOf(CHOICES.action, "What happens to the field unless the condition is true."),
  replacement: { type: "string", description: "With `action: mask`. Default: `***`." },
};
const maskedField: Members<typeof FIELD_KEYS.fields> = {
  name: text("`ssn`: at any depth; `$.customer.ssn`: from the root."),
  condition,
  mask_type: oneOf(CHOICES.mask_type, "How it is masked unless the condition is true."),
};
const masked = someOf(mapping(maskedField, ["name", "condition", "mask_type"]), "Fields that are masked.");

const connection: Members<typeof CONNECTION_KEYS> = {
  path: text("Of the handshake: `/feed/{room}`. Without it: every path."),
  condition,
};
const message: Members<typeof MESSAGE_KEYS> = {
  type: text("The member `type` of the message, or `*`."),
  direction: oneOf(CHOICES.direction, "`send`: from the client (the default)."),
  condition,
  on_deny: oneOf(["drop", "close"], "Default: `drop`."),
  fields: masked,
};

const entries: { readonly [Section in (typeof SECTIONS)[number]]: Members<(typeof ENTRY_KEYS)[Section]> } = {
  policies: { resource: text("Method and path: `GET /api/customers/{customer_id}`."), condition },
  web_policies: { path: text("A path: `/admin/*`."), condition },
  response_filters: {
    endpoint: text("A path, with or without a method: `/api/customers/*`."),
    filter_rules: someOf(
      mapping(filteredField, ["field", "condition", "action"]),
      "Fields that are removed or masked.",
    ),
    other_types: otherTypes,
  },
  response_masks: {
    api_pattern: text("A path, with or without a method."),
    fields: masked,
    other_types: otherTypes,
  },
  graphql_policies: {
    query: text("A root field, or `Type.field`."),
    mutation: text("A root field, or `Type.field`."),
    subscription: text("A root field, or `Type.field`."),
    condition,
    on_deny: oneOf(
      ["reject", "null", null],
      "`null`: the field is null, and the rest of the query is answered.",
    ),
  },
  websocket_policies: {
    connection: mapping({ ...connection, ...common }, ["condition"]),
    message_types: list(
      mapping({ ...message, ...common }, ["type", "condition"]),
      "Messages of these connections.",
    ),
  },
};
const required: Readonly<Record<(typeof SECTIONS)[number], readonly string[]>> = {
  policies: ["resource", "condition"],
  web_policies: ["path", "condition"],
  response_filters: ["endpoint", "filter_rules"],
  response_masks: ["api_pattern", "fields"],
  graphql_policies: ["condition"],
  websocket_policies: ["connection"],
};
const about: Readonly<Record<(typeof SECTIONS)[number], string>> = {
  policies: "Requests to HTTP APIs.",
  web_policies: "Requests for pages.",
  response_filters: "Fields that are removed from answers.",
  response_masks: "Fields that are masked in answers.",
  graphql_policies: "Fields of GraphQL operations.",
  websocket_policies: "WebSocket connections, and their messages.",
};

function entryOf(section: (typeof SECTIONS)[number]): JsonSchema {
  if (section === "websocket_policies") return mapping(entries[section], required[section]);
  const entry = mapping({ ...entries[section], ...common }, required[section]);
  return section === "graphql_policies"
    ? { ...entry, oneOf: OPERATIONS.map((key) => ({ required: [key] })) }
    : entry;
}

const limit = (least: number, description: string): JsonSchema => ({
  type: "integer",
  minimum: least,
  description,
});

const limits: Members<typeof GRAPHQL_LIMIT_KEYS> = {
  depth: limit(1, "Default: 12."),
  aliases: limit(0, "Default: 30."),
  root_fields: limit(1, "Default: 10."),
  tokens: limit(1, "Default: 5000."),
};
const graphql: Members<typeof GRAPHQL_KEYS> = {
  paths: someOf(text("A path."), "Endpoints, with everything below them. Default: `/graphql`."),
  other_paths: someOf(text("Method and path."), "Below an endpoint, but not GraphQL."),
  schema: text("A `.graphql` file beside this one, or below."),
  persisted: text("A `.json` file with the documents that are permitted, by hash."),
  multipart: oneOf(CHOICES.multipart, "Uploads. Default: `deny`."),
  introspection: oneOf(CHOICES.introspection, "Default: `deny`."),
  limits: { ...mapping(limits), description: "What an operation may be at most." },
};
const cors: Members<typeof CORS_KEYS> = {
  origins: someOf(text("`https://app.example.com`"), "Origins whose pages may read answers."),
  credentials: { type: "boolean", description: "Whether they may send cookies. Default: false." },
  methods: list({ enum: METHODS }, "Default: the usual ones."),
  headers: list(text("A header."), "Default: `authorization` and `content-type`."),
  max_age: { type: "integer", minimum: 0, maximum: 86_400, description: "Seconds. Default: 600." },
};
const attribute: Members<typeof ATTRIBUTE_KEYS> = {
  source: text("A source of `attribute_sources` in gateway.yaml."),
  key: text("The attribute whose value is looked up: `path.user_id`."),
  types: {
    type: "object",
    additionalProperties: { enum: ["string", "number", "boolean", "list", "object"] },
    description: "Types of members. A condition that compares another type is an error.",
  },
  open: { type: "boolean", description: "Members that are not declared are no mistake." },
};

const head: Members<typeof HEAD_KEYS> = {
  policy_set: label("The name of the set."),
  version: label("The version of the set, for records and metrics."),
  default: oneOf(CHOICES.default, "What happens to requests that no rule matches. Default: `deny`."),
  preflight: oneOf(CHOICES.preflight, "What happens to CORS preflight requests. Default: `deny`."),
  cors: {
    ...mapping(cors, ["origins"]),
    description: "Answers preflight requests, and lets pages read denials.",
  },
  audit,
  attributes: {
    type: "object",
    additionalProperties: mapping(attribute),
    description: "Attributes that are looked up, and the types of members.",
  },
  graphql: { ...mapping(graphql), description: "GraphQL endpoints." },
};

/**
 * The schema of policy files, for editors: made of the keys that the readers accept. The compiler checks more, above all
 * conditions and patterns.
 */
export function policyFileSchema(): JsonSchema {
  const sections = SECTIONS.map((name) => [name, list(entryOf(name), about[name])] as const);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Gatehouse policy file",
    ...mapping({ ...head, ...Object.fromEntries(sections) }),
  };
}

import { MASK_TYPES } from "../ir.ts";

/** The keys of each mapping of a policy file. The readers accept no others, and editors offer these. */

export const SECTIONS = [
  "policies",
  "web_policies",
  "response_filters",
  "response_masks",
  "graphql_policies",
  "websocket_policies",
] as const;

export const HEAD_KEYS = [
  "policy_set",
  "version",
  "default",
  "preflight",
  "cors",
  "audit",
  "attributes",
  "graphql",
] as const;

export const CORS_KEYS = ["origins", "credentials", "methods", "headers", "max_age"] as const;
export const ATTRIBUTE_KEYS = ["source", "key", "types", "open"] as const;
export const GRAPHQL_KEYS = [
  "paths",
  "other_paths",
  "schema",
  "persisted",
  "multipart",
  "introspection",
  "limits",
] as const;
export const GRAPHQL_LIMIT_KEYS = ["depth", "aliases", "root_fields", "tokens"] as const;

/** Keys that every rule may have. */
export const RULE_KEYS = ["name", "audit"] as const;
export const OPERATIONS = ["query", "mutation", "subscription"] as const;

/** The keys of an entry of each section, besides {@link RULE_KEYS}; `websocket_policies` has those of a connection. */
export const ENTRY_KEYS = {
  policies: ["resource", "condition"],
  web_policies: ["path", "condition"],
  response_filters: ["endpoint", "filter_rules", "other_types"],
  response_masks: ["api_pattern", "fields", "other_types"],
  graphql_policies: [...OPERATIONS, "condition", "on_deny"],
  websocket_policies: ["connection", "message_types"],
} as const satisfies Record<(typeof SECTIONS)[number], readonly string[]>;

/** The keys of a field in a list of fields. */
export const FIELD_KEYS = {
  filter_rules: ["field", "condition", "action", "replacement"],
  fields: ["name", "condition", "mask_type"],
} as const;

/** The keys of a connection and of a message type, besides {@link RULE_KEYS}. */
export const CONNECTION_KEYS = ["path", "condition"] as const;
export const MESSAGE_KEYS = ["type", "direction", "condition", "on_deny", "fields"] as const;

/** Keys whose value is one of some words. */
export const CHOICES = {
  default: ["deny", "allow"],
  preflight: ["deny", "allow"],
  audit: ["required"],
  multipart: ["allow", "deny"],
  introspection: ["allow", "deny"],
  other_types: ["refuse", "pass"],
  action: ["remove", "mask"],
  mask_type: MASK_TYPES,
  direction: ["send", "receive"],
} as const;

/** JSON, read strictly. Imports nothing. */
export { deepFreeze } from "./deep-freeze.ts";
export type { DeepReadonly } from "./deep-readonly.ts";
export { exactNumber, isExactValue } from "./exact-number.ts";
export { JsonError, type JsonReason } from "./json-error.ts";
export { MAX_VALUES, parseJson, type JsonOptions, type ParsedJson } from "./parse-json.ts";
export {
  parseJsonTree,
  type JsonMember,
  type JsonNode,
  type JsonObjectNode,
  type JsonTree,
} from "./parse-tree.ts";
export type { JsonLimits } from "./scanner.ts";
export { isList, isObject, type JsonList, type JsonObject, type JsonValue } from "./value.ts";

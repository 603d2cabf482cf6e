import { ERROR_CODES } from "../errors.ts";
import { WARNING_CODES } from "../warnings.ts";
import { schemaRef, type Json } from "./openapi-schema.ts";

/** The components that the descriptions of all routes share: parts of the envelope, headers, parameters. */

export const META: Json = {
  type: "object",
  required: ["timestamp", "request_id"],
  additionalProperties: false,
  properties: { timestamp: { type: "string", format: "date-time" }, request_id: { type: "string" } },
};

export const PAGINATION: Json = {
  type: "object",
  required: ["current_page", "total_pages", "total_items", "page_size"],
  additionalProperties: false,
  properties: Object.fromEntries(
    ["current_page", "total_pages", "total_items", "page_size"].map((name) => [
      name,
      { type: "integer", minimum: 0 },
    ]),
  ),
};

export const WARNING: Json = {
  type: "object",
  required: ["code", "message"],
  additionalProperties: false,
  properties: {
    code: { type: "string", enum: Object.keys(WARNING_CODES) },
    message: { type: "string" },
    policy_id: { type: "string", description: "The policy that requires it." },
    customers: { type: "integer", minimum: 1, description: "The number of its customers that are affected." },
  },
};

export const ERROR: Json = {
  type: "object",
  required: ["success", "error", "meta"],
  additionalProperties: false,
  properties: {
    success: { const: false },
    error: {
      type: "object",
      required: ["code", "message", "details"],
      additionalProperties: false,
      properties: {
        code: { type: "string", enum: Object.keys(ERROR_CODES) },
        message: { type: "string" },
        details: { type: "object" },
      },
    },
    meta: schemaRef("Meta"),
  },
};

export const COMMON_HEADERS: Json = {
  ...Object.fromEntries(
    ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"].map((name) => [
      name,
      { required: true, schema: { type: "integer" } },
    ]),
  ),
  "X-Request-Id": { required: true, schema: { type: "string" } },
};

export const LOCATION: Json = { schema: { type: "string", format: "uri-reference" } };
export const PAGE: Json = { "text/html": { schema: { type: "string" } } };

export const IDEMPOTENCY_KEY: Json = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A request that is repeated with the same key within 24 hours is carried out only once.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
};

export const IF_MATCH: Json = {
  name: "If-Match",
  in: "header",
  required: false,
  description: "Refuses the change if the resource has another ETag.",
  // any other text is not one of our ETags (412); invalid header values do not get this far
  schema: { type: "string", minLength: 1, pattern: "^[!-~]([ -~]*[!-~])?$" },
};

export const IF_NONE_MATCH: Json = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "ETags that the caller has: if the resource still has one of them, the answer is 304.",
  // any other text is not one of our ETags, and then the answer is not 304
  schema: { type: "string" },
};

export const NOT_MODIFIED: Json = {
  description: "The resource still has the ETag.",
  headers: { ...COMMON_HEADERS, ETag: { schema: { type: "string" } } },
};

import type * as z from "zod";
import { inBackticks } from "../../../text/index.ts";
import { namesWith, ROLE_PERMISSIONS, SCOPE_PERMISSIONS } from "../actor.ts";
import { ERROR_CODES, type ErrorCode } from "../errors.ts";
import { isIdempotent } from "./idempotency.ts";
import { MERGE_PATCH } from "./read-body.ts";
import {
  COMMON_HEADERS,
  ERROR,
  IDEMPOTENCY_KEY,
  IF_MATCH,
  IF_NONE_MATCH,
  LOCATION,
  META,
  NOT_MODIFIED,
  PAGE,
  PAGINATION,
  WARNING,
} from "./openapi-components.ts";
import { createSchemaWriter, schemaRef, type Json, type SchemaWriter } from "./openapi-schema.ts";
import type { Route } from "./route.ts";

/** Codes that every route can return in addition to its own. */
const COMMON: readonly ErrorCode[] = [
  "INVALID_PARAMETER",
  "NOT_ACCEPTABLE",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
];
const OF_KEYS: readonly ErrorCode[] = [
  "UNAUTHORIZED",
  "API_KEY_EXPIRED",
  "API_KEY_ROLLED",
  "API_KEY_REVOKED",
  "WRONG_ENVIRONMENT",
  "INSUFFICIENT_SCOPE",
  "INSUFFICIENT_ROLE",
];
const OF_BODIES: readonly ErrorCode[] = [
  "MALFORMED_JSON",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "VALIDATION_FAILED",
];
const OF_POSTS: readonly ErrorCode[] = ["IDEMPOTENCY_CONFLICT", "IDEMPOTENCY_KEY_REUSED"];

/** Descriptions of the groups of operations. */
const TAGS: Readonly<Record<string, string>> = {
  Authentication: "Sign-in of users through their customer's identity provider.",
  Sessions: "Sessions of signed-in users.",
  Customers: "Customers and their identity providers.",
  Users: "The directory of users, and their attributes.",
  Erasures: "Erasures: what was deleted, and the progress of erasing its data.",
  Policies: "Requirements for sign-ins, sessions and requests, and their assignment to customers.",
  "Policy sets": "The rules that gateways enforce, by version.",
  Rollouts: "A candidate beside the active version of a policy set, in shadow or for a part of the callers.",
  Events: "Events in order, for those who follow them.",
  Analytics: "Metrics, the event history, and user activity.",
  Audit: "Decisions of gateways, and changes of the control plane.",
  Webhooks: "Receivers of events, and the deliveries to them.",
  "API keys": "Keys for programs. Only people can create them.",
  Clients: "Programs that call applications with tokens of their own. Only people can create them.",
  Dashboard: "Dashboard users and their sign-in.",
  Gateway: "Routes for gateways: state, look-ups and reports.",
  Gateways: "Gateways that report what they are and enforce.",
  Sandbox: "Mock users and data; only in the sandbox.",
};

/** The parts of the document that differ between environments. */
export interface DocumentOptions {
  readonly publicUrl: string;
  /** The name of the cookie of dashboard sessions. */
  readonly sessionCookie: string;
}

/** The OpenAPI 3.1 document of the routes, generated from the schemas that validate. */
export function openApiDocument(
  routes: readonly Route[],
  { publicUrl, sessionCookie }: DocumentOptions,
): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const schemas = createSchemaWriter();
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Gatehouse",
      version: "1",
      summary: "Identity and access platform: the management API",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: `${publicUrl}/v1` }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({
      name,
      ...(TAGS[name] !== undefined && { description: TAGS[name] }),
    })),
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "An API key: `gh_live_...` or `gh_test_...`.",
        },
        dashboardSession: { type: "apiKey", in: "cookie", name: sessionCookie },
        csrfToken: {
          type: "apiKey",
          in: "header",
          name: "X-CSRF-Token",
          description:
            "With a dashboard session, for all methods except GET: `csrf_token` of `GET /dashboard/session`.",
        },
      },
      schemas: { Meta: META, Pagination: PAGINATION, Warning: WARNING, Error: ERROR, ...schemas.named },
    },
  };
}

function operation(route: Route, schemas: SchemaWriter): Json {
  const parameters = [
    ...parametersOf(schemas, route.params, "path"),
    ...parametersOf(schemas, route.query, "query"),
    ...(isIdempotent(route) ? [IDEMPOTENCY_KEY] : []),
    ...(supportsIfMatch(route) ? [IF_MATCH] : []),
    ...(route.revalidated ? [IF_NONE_MATCH] : []),
  ];
  const body = route.body && schemas.write(route.body, "input");
  return {
    operationId: route.operation,
    summary: route.summary,
    description: describe(route),
    tags: [route.tag],
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: {
        required: !route.body.safeParse(undefined).success,
        content: Object.fromEntries(
          ["application/json", ...(route.method === "patch" ? [MERGE_PATCH] : [])].map((type) => [
            type,
            { schema: body },
          ]),
        ),
      },
    }),
    responses: {
      ...successes(route, schemas),
      ...(route.revalidated && { 304: NOT_MODIFIED }),
      ...failures(route),
    },
  };
}

/** Whether the route compares the ETag of what it changes with `If-Match` (RFC 9110, section 13.1.1). */
export function supportsIfMatch({ etag, ifMatch, method }: Route): boolean {
  return ifMatch === true || (etag === true && method !== "get" && method !== "post");
}

/** Keys if a scope permits it, sessions if a role does. */
function securityOf({ permission, method }: Route): Json[] {
  if (permission === "public") return [];
  const keys = namesWith(SCOPE_PERMISSIONS, permission).length > 0;
  const people = namesWith(ROLE_PERMISSIONS, permission).length > 0;
  return [
    ...(keys ? [{ apiKey: [] }] : []),
    ...(people ? [{ dashboardSession: [], ...(method !== "get" && { csrfToken: [] }) }] : []),
  ];
}

function describe({ description, permission }: Route): string {
  const names = (list: readonly string[]) => inBackticks(list) || "none";
  const needed =
    permission === "public"
      ? "No key required."
      : `Scopes: ${names(namesWith(SCOPE_PERMISSIONS, permission))}. Dashboard roles: ${names(namesWith(ROLE_PERMISSIONS, permission))}.`;
  return description === undefined ? needed : `${description}\n\n${needed}`;
}

function parametersOf(schemas: SchemaWriter, schema: z.ZodType | undefined, where: "path" | "query"): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemas.write(schema, "input") as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    schema: property,
  }));
}

function successes(route: Route, schemas: SchemaWriter): Json {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema]) => {
      if (schema === null) return [status, withoutEnvelope(route, status)];
      const data = schemas.write(schema, "output");
      return [
        status,
        {
          description: route.summary,
          headers: {
            ...COMMON_HEADERS,
            ...(route.etag && { ETag: { schema: { type: "string" } } }),
            ...(status === "201" && { Location: LOCATION }),
            ...headersOf(route),
          },
          content: {
            "application/json": { schema: envelope(data, route, schemas) },
            ...(route.lines && { "application/x-ndjson": { schema: data["items"] ?? data } }),
          },
        },
      ];
    }),
  );
}

/** A redirect, or a page for a browser. */
function withoutEnvelope({ summary }: Route, status: string): Json {
  const description = summary;
  if (status === "303") return { description, headers: { ...COMMON_HEADERS, Location: LOCATION } };
  return { description, headers: COMMON_HEADERS, content: PAGE };
}

function headersOf({ headers = {} }: Route): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, { description, type, required }]) => [
      name,
      { required, description, schema: { type } },
    ]),
  );
}

/** The envelope around the data. With a name, if the data have one: generators of clients make a type of it. */
function envelope(data: Json, { paginated, warns }: Route, schemas: SchemaWriter): Json {
  const schema = {
    type: "object",
    required: ["success", "data", "meta", ...(paginated ? ["pagination"] : [])],
    additionalProperties: false,
    properties: {
      success: { const: true },
      data,
      ...(paginated && { pagination: schemaRef("Pagination") }),
      ...(warns && { warnings: { type: "array", items: schemaRef("Warning") } }),
      meta: schemaRef("Meta"),
    },
  };
  const list = data["type"] === "array";
  const { $ref } = (list ? data["items"] : data) as { $ref?: string };
  if ($ref === undefined) return schema;
  const kind = list ? (paginated ? "Page" : "List") : "Response";
  const name = `${$ref.slice($ref.lastIndexOf("/") + 1)}${kind}${warns ? "WithWarnings" : ""}`;
  return schemas.name(name, schema);
}

/** The codes of a route, by status. */
function failures(route: Route): Json {
  const codes = new Set<ErrorCode>([
    ...COMMON,
    ...(route.permission === "public" ? [] : OF_KEYS),
    ...(route.permission !== "public" && route.tenancy === "all"
      ? (["CUSTOMER_KEY_NOT_ALLOWED"] as const)
      : []),
    ...(route.permission !== "public" && typeof route.tenancy === "object"
      ? (["INVALID_CUSTOMER"] as const)
      : []),
    ...(route.method === "get" ? [] : OF_BODIES),
    ...(route.method === "get" ? [] : (["CSRF_TOKEN_INVALID"] as const)),
    ...(isIdempotent(route) ? OF_POSTS : []),
    ...(supportsIfMatch(route) ? (["PRECONDITION_FAILED"] as const) : []),
    ...(route.params === undefined ? [] : (["NOT_FOUND"] as const)),
    ...(route.errors ?? []),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    for (const status of statusesOf(code, route))
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, listed]) => [
      String(status),
      {
        description: listed.map((code) => `\`${code}\`: ${ERROR_CODES[code].message}`).join("; "),
        headers: {
          ...COMMON_HEADERS,
          ...((status === 429 || status === 503) && {
            "Retry-After": { required: status === 429, schema: { type: "integer" } },
          }),
          ...(status === 401 && { "WWW-Authenticate": { required: true, schema: { type: "string" } } }),
        },
        content: {
          "application/json": { schema: schemaRef("Error") },
          ...(servesBrowsers(route) && PAGE),
        },
      },
    ]),
  );
}

function statusesOf(code: ErrorCode, route: Route): readonly number[] {
  // an unknown customer in a body is 422 (specification, section 7)
  if (code === "INVALID_CUSTOMER" && route.body !== undefined) return [404, 422];
  // 401 if another sign-in can resolve it (RFC 9470, section 3)
  if (code === "POLICY_VIOLATED") return [401, 403];
  return [ERROR_CODES[code].status];
}

/** Whether browsers visit this route, so that an error is a page instead of JSON. */
function servesBrowsers({ answers }: Route): boolean {
  return Object.values(answers).includes(null);
}

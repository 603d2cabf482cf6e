import { ERROR_CODES } from "../../src/control/platform/errors.ts";
import { refName, routesOf, type Document, type Schema } from "./document.ts";

/** What the in-memory fakes carry out. */
const OPERATIONS: ReadonlySet<string> = new Set(
  [
    "listCustomers createCustomer getCustomer updateCustomer patchCustomer deleteCustomer",
    "listUsers listUsersOfCustomer createUser getUser updateUser patchUser deleteUser",
    "listPolicies createPolicy getPolicy updatePolicy patchPolicy deletePolicy",
    "listCustomerPolicies assignPolicies unassignPolicy listPolicyCustomers",
    "listSessions getSession revokeSession",
    "listWebhooks createWebhook getWebhook updateWebhook patchWebhook deleteWebhook rotateWebhookSecret enableWebhook",
    "listApiKeys createApiKey getApiKey updateApiKey patchApiKey rollApiKey revokeApiKey",
    "getEventFeed",
  ].flatMap((line) => line.split(" ")),
);

/** The routes, schemas and errors of the API that the in-memory fakes check requests by and answer with. */
export function fakeDataOf(document: Document): string {
  const schemas: Record<string, unknown> = {};
  const operations = Object.fromEntries(
    routesOf(document)
      .filter(({ operation }) => OPERATIONS.has(operation.operationId))
      .map(({ method, path, operation }) => {
        const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
        if (body !== undefined) collect(body);
        const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query");
        const described = {
          method,
          path,
          ...(body !== undefined && { body: bare(body) }),
          query: Object.fromEntries(query.map(({ name, schema }) => [name, bare(schema)])),
        };
        return [operation.operationId, described];
      }),
  );
  const errors = Object.fromEntries(
    Object.entries(ERROR_CODES).map(([code, { status, message }]) => [code, { status, message }]),
  );
  return JSON.stringify({ operations, schemas, errors }, null, 1);

  function collect(schema: unknown): void {
    if (Array.isArray(schema)) schema.forEach(collect);
    else if (typeof schema === "object" && schema !== null) {
      const { $ref } = schema as Schema;
      if ($ref !== undefined && !(refName($ref) in schemas)) {
        const found = document.components.schemas[refName($ref)] ?? {};
        schemas[refName($ref)] = bare(found);
        collect(found);
      }
      Object.values(schema).forEach(collect);
    }
  }
}

/** Without what is for readers, and with short references. */
function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => !(name === "description" && typeof value === "string"))
      .map(([name, value]) => [name, name === "$ref" ? refName(String(value)) : bare(value)]),
  );
}

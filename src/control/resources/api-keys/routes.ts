import * as z from "zod";
import type { ControlContext } from "../../platform/context.ts";
import { created, etagOf, ok, page, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { withPatch } from "../../platform/frame/merge-patch.ts";
import { rollApiKey } from "./roll.ts";
import {
  apiKey,
  apiKeyList,
  apiKeyPath,
  apiKeyRoll,
  apiKeyUpdate,
  createdApiKey,
  DEFAULT_OVERLAP,
  newApiKey,
  rolledApiKey,
} from "./schemas.ts";
import {
  createApiKey,
  familyOf,
  listApiKeys,
  requireApiKey,
  revokeApiKey,
  statusOfKey,
  updateApiKey,
  type ApiKeyRow,
} from "./store.ts";

/** `/api-keys`: only for people in the dashboard; a key never creates another. */
export function apiKeyRoutes({ settings, db, clock }: ControlContext): Route[] {
  const { environment } = settings;
  const shared = { tag: "API keys", group: "management", permission: "keys", tenancy: "all" } as const;
  const view = (row: ApiKeyRow) => ({
    ...row,
    family_id: familyOf(row),
    environment,
    status: statusOfKey(row, new Date(clock())),
  });
  const locationOf = ({ id }: ApiKeyRow) => `${settings.publicUrl}/v1/api-keys/${id}`;
  return [
    readRoute({
      ...shared,
      method: "get",
      path: "/api-keys",
      operation: "listApiKeys",
      summary: "List API keys",
      query: apiKeyList,
      answers: { 200: z.array(apiKey) },
      paginated: true,
      async read({ query }) {
        const { rows, total } = await listApiKeys(db, query, new Date(clock()));
        return page(rows.map(view), { ...query, total });
      },
    }),
    writeRoute({
      ...shared,
      method: "post",
      path: "/api-keys",
      operation: "createApiKey",
      summary: "Create an API key",
      description: "The response contains the key itself, which is shown only once and stored as a hash.",
      body: newApiKey,
      answers: { 201: createdApiKey },
      etag: true,
      errors: ["INVALID_CUSTOMER"],
      async write({ body }, unit) {
        const { name, scope, customer_id: customerId, permissions, expires_at: expiresAt } = body;
        const { allowed_addresses: allowedAddresses } = body;
        const { row, secret } = await createApiKey(unit, {
          environment,
          name,
          scope,
          ...(customerId !== undefined && { customerId }),
          ...(permissions !== undefined && { permissions }),
          ...(allowedAddresses !== undefined && { allowedAddresses }),
          ...(expiresAt !== undefined && { expiresAt }),
        });
        return created({ ...view(row), key: secret }, { etag: etagOf(row), location: locationOf(row) });
      },
    }),
    readRoute({
      ...shared,
      method: "get",
      path: "/api-keys/{id}",
      operation: "getApiKey",
      summary: "Read an API key",
      params: apiKeyPath,
      answers: { 200: apiKey },
      etag: true,
      errors: ["API_KEY_NOT_FOUND"],
      async read({ params }) {
        const row = await requireApiKey(db, params.id);
        return ok(view(row), { etag: etagOf(row) });
      },
    }),
    ...withPatch(
      writeRoute({
        ...shared,
        method: "put",
        path: "/api-keys/{id}",
        operation: "updateApiKey",
        summary: "Rename an API key, or change when it expires and from where it may be used",
        description:
          "Omitted members are not changed; `expires_at: null` removes the expiry. The expiry of a rolled key can only be moved earlier.",
        params: apiKeyPath,
        body: apiKeyUpdate,
        answers: { 200: apiKey },
        etag: true,
        errors: ["API_KEY_NOT_FOUND", "CONFLICT"],
        async write(call, unit) {
          const { name, expires_at, allowed_addresses } = call.body;
          const change = {
            ...(name !== undefined && { name }),
            ...(allowed_addresses !== undefined && { allowed_addresses }),
            ...(expires_at !== undefined && { expires_at }),
          };
          const row = await updateApiKey(unit, call.params.id, change, (before) => {
            call.ifMatch(etagOf(before));
          });
          return ok(view(row), { etag: etagOf(row) });
        },
      }),
    ),
    writeRoute({
      ...shared,
      method: "post",
      path: "/api-keys/{id}/roll",
      operation: "rollApiKey",
      summary: "Replace an API key",
      description:
        "Creates a key of the same family, name, scope and customer, with the same lifetime and `allowed_addresses`; only this response shows it. Both keys are valid until `previous.expires_at`; then the rolled key is refused (`API_KEY_ROLLED`). Sessions of users are not affected. `If-Match` refers to the key that is rolled.",
      params: apiKeyPath,
      body: apiKeyRoll,
      answers: { 201: rolledApiKey },
      ifMatch: true,
      etag: true,
      errors: ["API_KEY_NOT_FOUND", "INVALID_CUSTOMER", "CONFLICT"],
      async write(call, unit) {
        const overlap = call.body?.overlap ?? DEFAULT_OVERLAP;
        const { row, secret, previous } = await rollApiKey(
          unit,
          { environment, id: call.params.id, overlap },
          (before) => {
            call.ifMatch(etagOf(before));
          },
        );
        return created(
          { ...view(row), key: secret, previous: view(previous) },
          { etag: etagOf(row), location: locationOf(row) },
        );
      },
    }),
    writeRoute({
      ...shared,
      method: "delete",
      path: "/api-keys/{id}",
      operation: "revokeApiKey",
      summary: "Revoke an API key",
      description: "It is refused from the next request on, and stays in the list as revoked.",
      params: apiKeyPath,
      answers: { 200: apiKey },
      etag: true,
      errors: ["API_KEY_NOT_FOUND"],
      async write(call, unit) {
        const row = await revokeApiKey(unit, call.params.id, (before) => {
          call.ifMatch(etagOf(before));
        });
        return ok(view(row), { etag: etagOf(row) });
      },
    }),
  ];
}

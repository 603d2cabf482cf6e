import * as z from "zod";
import type { ControlContext } from "../../platform/context.ts";
import { created, etagOf, ok, page, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { withPatch } from "../../platform/frame/merge-patch.ts";
import {
  client,
  clientList,
  clientPath,
  clientRotation,
  clientUpdate,
  clientWithSecret,
  deletedClient,
  newClient,
} from "./schemas.ts";
import {
  createClient,
  deleteClient,
  listClients,
  requireClient,
  rotateClientSecret,
  updateClient,
} from "./store.ts";

/** `/clients`: machine clients. Only for people in the dashboard, like API keys: a key never creates an identity. */
export function clientRoutes(context: ControlContext): Route[] {
  return [...collection(context), ...single(context)];
}

const ABOUT = { tag: "Clients", group: "management", permission: "keys", tenancy: "all" } as const;

function collection({ db, settings }: ControlContext): Route[] {
  return [
    readRoute({
      ...ABOUT,
      method: "get",
      path: "/clients",
      operation: "listClients",
      summary: "List machine clients",
      query: clientList,
      answers: { 200: z.array(client) },
      paginated: true,
      async read({ query }) {
        const { rows, total } = await listClients(db, query);
        return page(rows, { ...query, total });
      },
    }),
    writeRoute({
      ...ABOUT,
      method: "post",
      path: "/clients",
      operation: "createClient",
      summary: "Create a machine client",
      description:
        "It requests tokens at `/oauth2/token` with `client_credentials`. The response contains its secret, which is shown only once and stored as a hash.",
      body: newClient,
      answers: { 201: clientWithSecret },
      etag: true,
      errors: ["INVALID_CUSTOMER"],
      async write({ body }, unit) {
        const { name, scopes, customer_id: customerId } = body;
        const { row, secret } = await createClient(unit, {
          name,
          scopes,
          ...(customerId !== undefined && { customerId }),
        });
        return created(
          { ...row, client_secret: secret },
          { etag: etagOf(row), location: `${settings.publicUrl}/v1/clients/${row.id}` },
        );
      },
    }),
  ];
}

function single({ db }: ControlContext): Route[] {
  return [
    readRoute({
      ...ABOUT,
      method: "get",
      path: "/clients/{id}",
      operation: "getClient",
      summary: "Read a machine client",
      params: clientPath,
      answers: { 200: client },
      etag: true,
      errors: ["CLIENT_NOT_FOUND"],
      async read({ params }) {
        const row = await requireClient(db, params.id);
        return ok(row, { etag: etagOf(row) });
      },
    }),
    ...withPatch(
      writeRoute({
        ...ABOUT,
        method: "put",
        path: "/clients/{id}",
        operation: "updateClient",
        summary: "Change a machine client's name or scopes",
        description: "Omitted members are not changed. Existing tokens keep their scopes until they expire.",
        params: clientPath,
        body: clientUpdate,
        answers: { 200: client },
        etag: true,
        errors: ["CLIENT_NOT_FOUND"],
        async write(call, unit) {
          const { name, scopes } = call.body;
          const change = { ...(name !== undefined && { name }), ...(scopes !== undefined && { scopes }) };
          const row = await updateClient(unit, call.params.id, change, (before) => {
            call.ifMatch(etagOf(before));
          });
          return ok(row, { etag: etagOf(row) });
        },
      }),
    ),
    writeRoute({
      ...ABOUT,
      method: "delete",
      path: "/clients/{id}",
      operation: "deleteClient",
      summary: "Delete a machine client",
      description: "It gets no more tokens, and gateways refuse its existing tokens within a second.",
      params: clientPath,
      answers: { 200: deletedClient },
      errors: ["CLIENT_NOT_FOUND"],
      async write(call, unit) {
        const { id } = call.params;
        await deleteClient(unit, id, (before) => {
          call.ifMatch(etagOf(before));
        });
        return ok({ id });
      },
    }),
    writeRoute({
      ...ABOUT,
      method: "post",
      path: "/clients/{id}/rotate-secret",
      operation: "rotateClientSecret",
      summary: "Replace a machine client's secret",
      description:
        "The response contains the new secret, which is shown only once. The old one stays valid for `overlap_seconds`. With 0, all earlier secrets are refused at once, and gateways refuse existing tokens. During an overlap, the secret can only be replaced with `overlap_seconds: 0` (409 otherwise).",
      params: clientPath,
      body: clientRotation,
      answers: { 200: clientWithSecret },
      ifMatch: true,
      etag: true,
      errors: ["CLIENT_NOT_FOUND", "CONFLICT"],
      async write(call, unit) {
        const { params, body } = call;
        const { row, secret } = await rotateClientSecret(unit, params.id, body.overlap_seconds, (before) => {
          call.ifMatch(etagOf(before));
        });
        return ok({ ...row, client_secret: secret }, { etag: etagOf(row) });
      },
    }),
  ];
}

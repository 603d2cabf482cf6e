import type { Knex } from "knex";
import type { ControlContext } from "../../platform/context.ts";
import { readPage, type ListRequest } from "../../platform/frame/list.ts";
import {
  created,
  ok,
  page,
  readRoute,
  writeRoute,
  type Answer,
  type Route,
  etagOf,
} from "../../platform/frame/route.ts";
import { mergedBody } from "../../platform/frame/merge-patch.ts";
import { onlyCustomerOf, type Actor } from "../../platform/actor.ts";
import { requireCustomer } from "../../tenancy/customers.ts";
import {
  deletedUserData,
  newUserBody,
  MERGED_OF_USER,
  userBody,
  userData,
  userParams,
  userPatch,
  usersOfCustomerQuery,
  usersQuery,
} from "./schemas.ts";
import {
  createUser,
  deleteUser,
  presentUsers,
  requireUser,
  updateUser,
  selectUsers,
  type UserFilters,
} from "./service.ts";
import type { UserRow } from "./store.ts";

const COLUMNS = {
  id: "users.id",
  created_at: "users.created_at",
  updated_at: "users.updated_at",
  email: "users.email",
  last_sign_in_at: "users.last_sign_in_at",
};

const common = { tag: "Users", group: "management" } as const;

/** The directory of users. */
export function userRoutes(context: ControlContext): Route[] {
  const { db, settings } = context;
  return [
    readRoute({
      ...common,
      method: "get",
      path: "/customers/{id}/users",
      operation: "listUsersOfCustomer",
      summary: "List the users of a customer",
      permission: "read",
      tenancy: { path: "id" },
      params: userParams,
      query: usersOfCustomerQuery,
      answers: { 200: userData.array() },
      paginated: true,
      errors: ["INVALID_CUSTOMER"],
      read: ({ params, query, actor }) => list(actor, query, { ...query, customer_id: params.id }),
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/customers/{id}/users",
      operation: "createUser",
      summary: "Add a user before their first sign-in",
      description:
        "The first sign-in with this `subject` becomes this user; attributes set here apply from then on.",
      permission: "configure",
      tenancy: { path: "id" },
      params: userParams,
      body: newUserBody,
      answers: { 201: userData },
      etag: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "DUPLICATE"],
      async write({ params, body }, unit) {
        const row = await createUser(unit, params.id, body, settings.environment);
        const [data] = await presentUsers(context, unit.trx, [row]);
        return created(data, { etag: etagOf(row), location: `/v1/users/${row.id}` });
      },
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/users",
      operation: "listUsers",
      summary: "List users",
      permission: "read",
      tenancy: "handler",
      query: usersQuery,
      answers: { 200: userData.array() },
      paginated: true,
      errors: ["INVALID_CUSTOMER"],
      read: ({ query, actor }) => list(actor, query, query),
    }),
    readRoute({
      ...common,
      method: "get",
      path: "/users/{id}",
      operation: "getUser",
      summary: "Read a user",
      permission: "read",
      tenancy: "handler",
      params: userParams,
      answers: { 200: userData },
      etag: true,
      errors: ["USER_NOT_FOUND"],
      async read({ params, actor }) {
        return answer(db, await requireUser(db, actor, params.id));
      },
    }),
    writeRoute({
      ...common,
      method: "put",
      path: "/users/{id}",
      operation: "updateUser",
      summary: "Change a user's status or attributes",
      description:
        "Suspending a user ends their sessions. Attributes take effect at gateways at once, and in tokens from the next refresh on. Keys that are limited to the customer can only suspend users.",
      permission: "configure",
      tenancy: "handler",
      params: userParams,
      body: userBody,
      answers: { 200: userData },
      etag: true,
      errors: ["USER_NOT_FOUND", "CUSTOMER_KEY_NOT_ALLOWED"],
      async write(call, unit) {
        return answer(unit.trx, await updateUser(unit, call.params.id, () => call.body, call));
      },
    }),
    writeRoute({
      ...common,
      method: "patch",
      path: "/users/{id}",
      operation: "patchUser",
      summary: "Change a user's status or some attributes",
      description:
        "As PUT, but `attributes` are merged with those that were set before (RFC 7396): `null` removes one.",
      permission: "configure",
      tenancy: "handler",
      params: userParams,
      body: userPatch,
      answers: { 200: userData },
      etag: true,
      errors: ["USER_NOT_FOUND", "CUSTOMER_KEY_NOT_ALLOWED"],
      async write(call, unit) {
        const given = (row: UserRow) => mergedBody(userBody, row, call.body, MERGED_OF_USER);
        return answer(unit.trx, await updateUser(unit, call.params.id, given, call));
      },
    }),
    writeRoute({
      ...common,
      method: "delete",
      path: "/users/{id}",
      operation: "deleteUser",
      summary: "Delete a user",
      description:
        "Sessions end, tokens are refused, and all personal data are erased: at once from the directory, within seconds from sessions, events, webhook deliveries and the audit trail, which keep the id (`GET /erasures/{id}`). Anyone who signs in again at the identity provider becomes a new user without these attributes: to keep somebody out, suspend them instead. Keys that are limited to the customer are refused.",
      permission: "configure",
      tenancy: "handler",
      params: userParams,
      answers: { 200: deletedUserData },
      etag: true,
      errors: ["USER_NOT_FOUND", "CUSTOMER_KEY_NOT_ALLOWED"],
      async write(call, unit) {
        const { id } = call.params;
        await deleteUser(unit, id, call);
        return ok({ id, deleted: true });
      },
    }),
  ];

  async function answer(db: Knex, row: UserRow): Promise<Answer> {
    const [data] = await presentUsers(context, db, [row]);
    return ok(data, { etag: etagOf(row) });
  }

  async function list(actor: Actor, request: ListRequest, filters: UserFilters): Promise<Answer> {
    const customerId = filters.customer_id ?? onlyCustomerOf(actor);
    if (customerId !== undefined) await requireCustomer(db, actor, customerId, "path");
    const { rows, total } = await readPage<UserRow>(
      selectUsers(db, { ...filters, customer_id: customerId }),
      request,
      COLUMNS,
    );
    return page(await presentUsers(context, db, rows), { ...request, total });
  }
}

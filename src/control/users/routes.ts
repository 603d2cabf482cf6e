import type { ControlContext } from "../context.ts";
import { readPage, type ListRequest } from "../frame/list.ts";
import { created, ok, page, readRoute, writeRoute, type Answer, type Route } from "../frame/route.ts";
import { onlyCustomerOf, type Actor } from "../actor.ts";
import { requireCustomer } from "../customers/store.ts";
import {
  deletedUserData,
  newUserBody,
  userBody,
  userData,
  userParams,
  usersOfCustomerQuery,
  usersQuery,
} from "./schemas.ts";
import {
  createUser,
  deleteUser,
  presentUser,
  requireUser,
  updateUser,
  userEtag,
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
export function userRoutes({ db }: ControlContext): Route[] {
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
        "The first sign-in with this `subject` is theirs; attributes that are set here hold from then on.",
      permission: "configure",
      tenancy: { path: "id" },
      params: userParams,
      body: newUserBody,
      answers: { 201: userData },
      etag: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "DUPLICATE"],
      async write({ params, body }, unit) {
        const row = await createUser(unit, params.id, body);
        return created(presentUser(row), { etag: userEtag(row), location: `/v1/users/${row.id}` });
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
        const row = await requireUser(db, actor, params.id);
        return ok(presentUser(row), { etag: userEtag(row) });
      },
    }),
    writeRoute({
      ...common,
      method: "put",
      path: "/users/{id}",
      operation: "updateUser",
      summary: "Change a user's status or attributes",
      description:
        "Suspending a user ends their sessions. Attributes hold at gateways at once; in tokens from the next refresh on. Keys that are limited to the customer can suspend, and nothing else.",
      permission: "configure",
      tenancy: "handler",
      params: userParams,
      body: userBody,
      answers: { 200: userData },
      etag: true,
      errors: ["USER_NOT_FOUND", "CUSTOMER_KEY_NOT_ALLOWED"],
      async write(call, unit) {
        const row = await updateUser(unit, call.params.id, call.body, call);
        return ok(presentUser(row), { etag: userEtag(row) });
      },
    }),
    writeRoute({
      ...common,
      method: "delete",
      path: "/users/{id}",
      operation: "deleteUser",
      summary: "Delete a user",
      description:
        "Sessions end and tokens are refused. Who signs in again at the identity provider is a new user, without the attributes of this one: to keep somebody out, suspend them. Keys that are limited to the customer cannot.",
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

  async function list(actor: Actor, request: ListRequest, filters: UserFilters): Promise<Answer> {
    const customerId = filters.customer_id ?? onlyCustomerOf(actor);
    if (customerId !== undefined) await requireCustomer(db, actor, customerId, "path");
    const { rows, total } = await readPage<UserRow>(
      selectUsers(db, { ...filters, customer_id: customerId }),
      request,
      COLUMNS,
    );
    return page(rows.map(presentUser), { ...request, total });
  }
}

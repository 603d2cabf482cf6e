import * as z from "zod";
import type { ControlContext } from "../../platform/context.ts";
import { created, etagOf, ok, page, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { withPatch } from "../../platform/frame/merge-patch.ts";
import {
  dashboardUser,
  dashboardUserList,
  dashboardUserPath,
  dashboardUserUpdate,
  deleted,
  invitedUser,
  newDashboardUser,
} from "./schemas.ts";
import { listDashboardUsers, requireDashboardUser, viewOfUser } from "./store.ts";
import { deleteUser, inviteAgain, inviteUser, updateUser, type Invited } from "./team.ts";

/** `/dashboard/users`: for owners. */
export function teamRoutes({ settings, db }: ControlContext): Route[] {
  const { publicUrl } = settings;
  const shared = { tag: "Dashboard", group: "management", permission: "team", tenancy: "all" } as const;
  const answerInvited = ({ user, invitation }: Invited) =>
    created(
      { ...viewOfUser(user), invitation },
      { etag: etagOf(user), location: `${publicUrl}/v1/dashboard/users/${user.id}` },
    );
  return [
    readRoute({
      ...shared,
      method: "get",
      path: "/dashboard/users",
      operation: "listDashboardUsers",
      summary: "List dashboard users",
      query: dashboardUserList,
      answers: { 200: z.array(dashboardUser) },
      paginated: true,
      async read({ query }) {
        const { rows, total } = await listDashboardUsers(db, query);
        return page(rows.map(viewOfUser), { ...query, total });
      },
    }),
    writeRoute({
      ...shared,
      method: "post",
      path: "/dashboard/users",
      operation: "inviteDashboardUser",
      summary: "Invite a dashboard user",
      description:
        "The response contains a link to set the user's password. It is shown only once and valid for three days, as " +
        "long as you stay an owner and keep your password.",
      body: newDashboardUser,
      answers: { 201: invitedUser },
      etag: true,
      errors: ["DUPLICATE"],
      write: async ({ body }, unit) => answerInvited(await inviteUser(unit, body, publicUrl)),
    }),
    readRoute({
      ...shared,
      method: "get",
      path: "/dashboard/users/{id}",
      operation: "getDashboardUser",
      summary: "Read a dashboard user",
      params: dashboardUserPath,
      answers: { 200: dashboardUser },
      etag: true,
      errors: ["DASHBOARD_USER_NOT_FOUND"],
      async read({ params }) {
        const row = await requireDashboardUser(db, params.id);
        return ok(viewOfUser(row), { etag: etagOf(row) });
      },
    }),
    ...withPatch(
      writeRoute({
        ...shared,
        method: "put",
        path: "/dashboard/users/{id}",
        operation: "updateDashboardUser",
        summary: "Change a dashboard user's name or role",
        description: "Omitted members are not changed. The last owner cannot lose the role.",
        params: dashboardUserPath,
        body: dashboardUserUpdate,
        answers: { 200: dashboardUser },
        etag: true,
        errors: ["DASHBOARD_USER_NOT_FOUND", "CONFLICT"],
        async write(call, unit) {
          const { name, role } = call.body;
          const change = { ...(name !== undefined && { name }), ...(role !== undefined && { role }) };
          const row = await updateUser(unit, call.params.id, change, (before) => {
            call.ifMatch(etagOf(before));
          });
          return ok(viewOfUser(row), { etag: etagOf(row) });
        },
      }),
    ),
    writeRoute({
      ...shared,
      method: "delete",
      path: "/dashboard/users/{id}",
      operation: "deleteDashboardUser",
      summary: "Delete a dashboard user",
      description: "The user is signed out everywhere. The last owner cannot be deleted.",
      params: dashboardUserPath,
      answers: { 200: deleted },
      etag: true,
      errors: ["DASHBOARD_USER_NOT_FOUND", "CONFLICT"],
      async write(call, unit) {
        const { id } = call.params;
        await deleteUser(unit, id, (before) => {
          call.ifMatch(etagOf(before));
        });
        return ok({ id, deleted: true });
      },
    }),
    writeRoute({
      ...shared,
      method: "post",
      path: "/dashboard/users/{id}/invitation",
      operation: "inviteDashboardUserAgain",
      summary: "Create a new link to set a user's password",
      description:
        "For an expired invitation or a forgotten password. Earlier links become invalid; the current password " +
        "stays valid until the link is used.",
      params: dashboardUserPath,
      answers: { 201: invitedUser },
      etag: true,
      errors: ["DASHBOARD_USER_NOT_FOUND"],
      write: async ({ params }, unit) => answerInvited(await inviteAgain(unit, params.id, publicUrl)),
    }),
  ];
}

import { ROLE_PERMISSIONS } from "../../platform/actor.ts";
import type { ControlSettings } from "../../platform/context.ts";
import { csrfTokenOf } from "./session-cookie.ts";
import { viewOfUser, type DashboardUserRow } from "./store.ts";

/** The session as shown to the dashboard. */
export function viewOfSession(
  user: DashboardUserRow,
  token: string,
  expiresAt: Date,
  { environment }: Pick<ControlSettings, "environment">,
) {
  return {
    user: viewOfUser(user),
    environment,
    permissions: ROLE_PERMISSIONS[user.role],
    csrf_token: csrfTokenOf(token),
    expires_at: expiresAt,
  };
}

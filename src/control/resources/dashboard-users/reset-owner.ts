import { inBackticks } from "../../../text/index.ts";
import { ApiError } from "../../platform/errors.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import { forgetAttempts } from "./attempts.ts";
import { makeInvitation, RESET_MS } from "./links.ts";
import { findDashboardUserByEmail, lockOwners } from "./store.ts";

/**
 * Creates the one-time link with which an owner sets a new password, for an operator at the machine: there may be
 * nobody else left who can. Earlier failures no longer count; the old password, and sessions that used it, stay valid
 * until the link is used.
 *
 * @throws ApiError 404 that lists the owners
 */
export async function resetOwner(
  unit: UnitOfWork,
  email: string,
  publicUrl: string,
): Promise<{ readonly url: string; readonly expires_at: Date }> {
  const { trx } = unit;
  const owners = await lockOwners(trx);
  const owner = owners.find((one) => one.email === email);
  if (owner === undefined) {
    const other = await findDashboardUserByEmail(trx, email);
    throw new ApiError("DASHBOARD_USER_NOT_FOUND", { message: noOwner(email, other?.role, owners) });
  }
  await forgetAttempts(trx, email);
  const link = await makeInvitation(unit, owner.id, publicUrl, RESET_MS);
  unit.record({
    action: "dashboard_user.reset_link_created",
    target: { type: "dashboard_user", id: owner.id },
    after: { expires_at: link.expires_at.toISOString() },
  });
  return link;
}

function noOwner(
  email: string,
  role: string | undefined,
  owners: readonly { readonly email: string }[],
): string {
  if (owners.length === 0) return "there is no owner yet: run `gatehouse owner-link` to create the first one";
  const list = inBackticks(owners.map(({ email }) => email));
  return role === undefined
    ? `no owner has the e-mail address \`${email}\`; the owners: ${list}`
    : `\`${email}\` is ${role}, whom an owner makes a new link: \`POST /v1/dashboard/users/{id}/invitation\`; the owners: ${list}`;
}

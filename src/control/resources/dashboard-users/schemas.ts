import * as z from "zod";
import { PERMISSIONS, ROLES } from "../../platform/actor.ts";
import { ENVIRONMENTS } from "../../platform/environment.ts";
import { listQuery } from "../../platform/frame/list.ts";
import { emailAddress, nameText, pathId, someOf, timestamp } from "../../platform/frame/schemas.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "./password-rules.ts";

export const USER_STATUSES = ["active", "invited"] as const;

/** Counted in characters, not UTF-16 units. */
const newPassword = z
  .string()
  .refine((text) => Array.from(text).length >= MIN_PASSWORD, `must have at least ${MIN_PASSWORD} characters`)
  .refine((text) => Array.from(text).length <= MAX_PASSWORD, `must have at most ${MAX_PASSWORD} characters`)
  .meta({ minLength: MIN_PASSWORD, maxLength: MAX_PASSWORD, format: "password" });
const givenPassword = z.string().min(1).max(1_000).meta({ format: "password" });
const linkToken = z.string().min(1).max(200);

export const setup = z
  .strictObject({
    token: linkToken,
    email: emailAddress(),
    name: nameText(),
    password: newPassword,
  })
  .meta({ id: "Setup" });
export const login = z.strictObject({ email: emailAddress(), password: givenPassword }).meta({ id: "Login" });
export const invitationAcceptance = z
  .strictObject({ token: linkToken, password: newPassword })
  .meta({ id: "InvitationAcceptance" });
export const passwordChange = z
  .strictObject({ current_password: givenPassword, new_password: newPassword })
  .meta({ id: "PasswordChange" });

export const newDashboardUser = z
  .strictObject({
    email: emailAddress(),
    name: nameText(),
    role: z.enum(ROLES),
  })
  .meta({ id: "NewDashboardUser" });
export const dashboardUserUpdate = someOf({ name: nameText(), role: z.enum(ROLES) }).meta({
  id: "DashboardUserUpdate",
});

export const dashboardUserPath = z.strictObject({ id: pathId() });
export const dashboardUserList = listQuery(["created_at", "email", "name"], {
  role: z.enum(ROLES).optional(),
  status: z.enum(USER_STATUSES).optional(),
});

export const dashboardUser = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    status: z
      .enum(USER_STATUSES)
      .meta({ description: "`invited` means that the user has not set a password yet." }),
    created_at: timestamp(),
    updated_at: timestamp(),
    last_sign_in_at: timestamp().nullable(),
  })
  .meta({ id: "DashboardUser" });

const invitation = z
  .object({
    url: z.string().meta({ description: "One-time link to set the password; shown only once." }),
    expires_at: timestamp(),
  })
  .meta({ id: "Invitation" });
export const invitedUser = dashboardUser.extend({ invitation }).meta({ id: "InvitedDashboardUser" });

export const dashboardSession = z
  .object({
    user: dashboardUser,
    environment: z.enum(ENVIRONMENTS),
    permissions: z.array(z.enum(PERMISSIONS)),
    csrf_token: z.string().meta({ description: "For the header `X-CSRF-Token` of all requests except GET." }),
    expires_at: timestamp(),
  })
  .meta({ id: "DashboardSession" });

export const deleted = z
  .object({ id: z.string(), deleted: z.literal(true) })
  .meta({ id: "DeletedDashboardUser" });
export const signedOut = z.object({ signed_out: z.literal(true) }).meta({ id: "SignedOut" });

import * as z from "zod";
import { listQuery, timestampParameter } from "../../platform/frame/list.ts";
import { pathId, timestamp } from "../../platform/frame/schemas.ts";
import { userScope } from "./user-scopes.ts";
import { END_REASONS, type EndReason } from "./end.ts";
import { SESSION_STATUSES, statusOf, type SessionRow } from "./store.ts";

/** A session as returned by the API. */
export const sessionSchema = z
  .object({
    id: z.string(),
    customer_id: z.string(),
    user_id: z.string(),
    client_id: z
      .string()
      .meta({ description: "the application that started the sign-in: the family of its API key" }),
    status: z.enum(SESSION_STATUSES),
    scope: z.string(),
    auth_time: timestamp()
      .nullable()
      .meta({
        description:
          "when the user authenticated, according to the provider; or the time of the sign-in, if the provider's metadata show that it never " +
          "reports it and it was asked to authenticate again (`prompt=login`); `null` if unknown",
      }),
    amr: z.array(z.string()).meta({ description: "authentication methods (RFC 8176)" }),
    acr: z
      .string()
      .nullable()
      .meta({ description: "authentication context class, if the provider reports it" }),
    ip_address: z.string(),
    user_agent: z.string(),
    created_at: timestamp(),
    last_used_at: timestamp(),
    expires_at: timestamp(),
    ended_at: timestamp().nullable(),
    end_reason: z.enum(END_REASONS).nullable(),
  })
  .meta({ id: "Session" });

export function sessionAnswer(row: SessionRow, now: Date) {
  const { scope, end_reason: reason } = row;
  // a later release that has run on this database may know others
  const isKnown = reason === null || END_REASONS.includes(reason);
  return {
    ...row,
    scope: userScope(scope),
    status: statusOf(row, now),
    end_reason: isKnown ? reason : ("revoked" satisfies EndReason),
  };
}

export const sessionParams = z.object({ id: pathId() });

export const sessionList = listQuery(["created_at", "last_used_at", "expires_at"], {
  customer_id: pathId().optional(),
  user_id: pathId().optional(),
  status: z.enum(SESSION_STATUSES).optional(),
  created_after: timestampParameter().optional(),
  created_before: timestampParameter().optional(),
});

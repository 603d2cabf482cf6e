import * as z from "zod";

/** The maximum length of a user id. No user has a longer key. */
export const MAX_USER_KEY = 128;

/** Parameters of `GET /gateway/users/{key}`. */
export const userParams = z.strictObject({ key: z.string().min(1).max(MAX_USER_KEY) });

/**
 * Its response: these members and the user's effective attributes. A gateway checks only `id`, to see that it got the
 * user it asked for. All members are attributes for conditions.
 */
export const userData = z
  .object({ id: z.string(), customer_id: z.string(), status: z.enum(["active", "suspended"]) })
  .catchall(z.unknown())
  .meta({ id: "GatewayUser" });

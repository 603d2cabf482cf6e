import * as z from "zod";

/** Longest id of a user; a longer key is nobody's. */
export const MAX_USER_KEY = 128;

/** `GET /gateway/users/{key}` asks. */
export const userParams = z.strictObject({ key: z.string().min(1).max(MAX_USER_KEY) });

/**
 * It answers these and, beside them, the user's effective attributes. A gateway looks at `id` alone, to see that it is who it
 * asked for: all members are attributes to the conditions that read them.
 */
export const userData = z
  .object({ id: z.string(), customer_id: z.string(), status: z.enum(["active", "suspended"]) })
  .catchall(z.unknown());

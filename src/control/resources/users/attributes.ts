import type { Value } from "../../../policy/index.ts";

/** Values by name: roles, departments, whatever policies read of a user. */
export type UserAttributes = Readonly<Record<string, Value>>;

/** What a user is apart from attributes: neither a provider nor an administrator can say it by an attribute. */
export const RESERVED_NAMES: readonly string[] = ["id", "customer_id", "email", "name", "status"];

import type { ControlContext } from "../context.ts";
import { findIdp, type IdpRow } from "../customers/idp.ts";
import type { CustomerRow } from "../customers/store.ts";
import { createSandboxIdp } from "../sandbox/idp.ts";

/** Where the users of a customer sign in; `undefined`: nowhere. */
export type ResolveProvider = (
  customer: Pick<CustomerRow, "id" | "created_at">,
) => Promise<IdpRow | undefined>;

/** The provider that the customer has configured; in the sandbox the built-in one, whatever is configured. */
export function createProviderResolver(context: ControlContext): ResolveProvider {
  const { db, settings } = context;
  if (settings.environment !== "sandbox") return ({ id }) => findIdp(db, id);
  return createSandboxIdp(context);
}

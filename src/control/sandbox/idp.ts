import type { Knex } from "knex";
import { LRUCache } from "lru-cache";
import type { ControlContext } from "../platform/context.ts";
import { findIdp, sealClientSecret, type IdpRow } from "../tenancy/idp.ts";
import type { CustomerRow } from "../tenancy/customers.ts";
import { attributeNames, CLAIMS_OF_SCOPES, mappingOf } from "./claims.ts";
import { sandboxAcrValues } from "./evidence.ts";
import { sandboxIssuer } from "../platform/sandbox-issuer.ts";
import { clientSecretOf, providerKeys, type ProviderKeys } from "./provider/keys.ts";

/**
 * The sandbox's own provider, as the configuration of a customer. What of the customer's own configuration an application
 * meets holds here too: its scopes, and what it calls multi-factor authentication.
 */
export type SandboxIdp = (db: Knex, customer: Pick<CustomerRow, "id" | "created_at">) => Promise<IdpRow>;

const CACHED = 500;

export function createSandboxIdp(
  context: Pick<ControlContext, "settings" | "db" | "box" | "clock">,
): SandboxIdp {
  const { settings, box } = context;
  const issuer = sandboxIssuer(settings);
  let keys: ProviderKeys | undefined;
  // each sealing is another text, and a provider with another text is another client
  const sealed = new LRUCache<string, string>({ max: CACHED });
  return async (db, { id, created_at }) => {
    keys ??= await providerKeys(context);
    const secret = sealed.get(id) ?? sealClientSecret(box, id, clientSecretOf(keys, id));
    sealed.set(id, secret);
    const configured = await findIdp(db, id);
    return {
      customer_id: id,
      type: "oidc",
      domain: new URL(issuer).host,
      issuer,
      tenant: null,
      realm: null,
      client_id: id,
      client_secret: secret,
      scopes: configured?.scopes ?? Object.keys(CLAIMS_OF_SCOPES),
      claims: mappingOf(await attributeNames(db, id)),
      mfa_acr_values: sandboxAcrValues(configured),
      verified_at: null,
      capabilities: null,
      revision: 0,
      created_at,
      updated_at: created_at,
    };
  };
}

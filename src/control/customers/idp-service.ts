import type { SecretBox } from "../secret-box.ts";
import type { Unit } from "../unit.ts";
import type { DerivedIssuer } from "./idp-issuer.ts";
import type { IdpConfiguration } from "./idp-schemas.ts";
import { sealClientSecret, type IdpRow } from "./idp.ts";
import { announceUpdate } from "./service.ts";
import type { CustomerRow } from "./store.ts";

/** Keeps a provider's configuration in place of the one before. */
export async function configureIdp(
  unit: Unit,
  box: SecretBox,
  configured: {
    readonly customer: CustomerRow;
    readonly before: IdpRow | undefined;
    readonly body: IdpConfiguration;
    readonly derived: DerivedIssuer;
  },
): Promise<IdpRow> {
  const { customer, before, body, derived } = configured;
  const { trx, now } = unit;
  const row: IdpRow = {
    customer_id: customer.id,
    type: body.type,
    domain: derived.domain,
    issuer: derived.issuer,
    tenant: derived.tenant,
    realm: derived.realm,
    client_id: body.client_id,
    client_secret: sealClientSecret(box, customer.id, body.client_secret),
    scopes: [...new Set(["openid", ...body.scopes])],
    claims: body.claims,
    verified_at: body.verify ? now : null,
    revision: await nextRevision(unit, customer.id),
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
  await trx("customer_idps")
    .insert({ ...row, claims: JSON.stringify(row.claims) })
    .onConflict("customer_id")
    .merge();
  unit.record({
    ...about("idp.configured", customer),
    ...(before !== undefined && { before: recordedOf(before) }),
    after: recordedOf(row),
  });
  announceUpdate(unit, customer, "idp");
  return row;
}

/** Removes the configuration, and with it the secret: nobody of the customer can sign in. */
export async function forgetIdp(unit: Unit, customer: CustomerRow, row: IdpRow): Promise<void> {
  await unit.trx("customer_idps").where({ customer_id: customer.id }).delete();
  unit.record({ ...about("idp.deleted", customer), before: recordedOf(row) });
  announceUpdate(unit, customer, "idp");
}

/** Goes on where a configuration that was deleted has ended, so that no ETag means two contents. */
async function nextRevision({ trx }: Unit, id: string): Promise<number> {
  const [customer] = await trx("customers")
    .where({ id })
    .increment("idp_revisions")
    .returning<{ idp_revisions: number }[]>("idp_revisions");
  if (customer === undefined) throw new Error(`the customer ${id} was not locked`);
  return customer.idp_revisions;
}

function about(action: string, { id }: CustomerRow) {
  return { action, target: { type: "idp", id }, customerId: id };
}

/** What the audit trail keeps: all but the secret. */
function recordedOf(row: IdpRow): Readonly<Record<string, unknown>> {
  const { type, domain, issuer, tenant, realm, client_id, scopes, claims, verified_at } = row;
  return {
    type,
    domain,
    issuer,
    tenant,
    realm,
    client_id,
    scopes,
    claims,
    verified_at: verified_at?.toISOString() ?? null,
  };
}

import { isDeepStrictEqual } from "node:util";
import type { Knex } from "knex";
import type { Actor } from "../../platform/actor.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import type { UnitOfWork } from "../../platform/unit.ts";
import type { ConfiguredIssuer } from "./idp-discovery.ts";
import type { IdpConfiguration } from "./idp-schemas.ts";
import { sealClientSecret, type IdpRow, type IdpType } from "../../tenancy/idp.ts";
import { asDocumented, mfaAcrValues, type MfaEvidence } from "../../tenancy/mfa-acr-values.ts";
import type { CustomerRow } from "../../tenancy/customers.ts";
import { announceUpdate } from "../../tenancy/announce-update.ts";
import { requireOperator } from "../../tenancy/operator.ts";

/**
 * What satisfies `mfa_required` is for those who require it: a customer's own key would else call a password several factors.
 *
 * @throws ApiError CUSTOMER_KEY_NOT_ALLOWED where a key of the customer changes what counts, or in which order it is asked for
 */
export function requireOperatorForEvidence(actor: Actor, before: MfaEvidence, after: MfaEvidence): void {
  if (isDeepStrictEqual(mfaAcrValues(before), mfaAcrValues(after))) return;
  const message =
    "what counts as multi-factor authentication (`mfa_acr_values`, and the defaults of a `type`) can only be changed by keys " +
    "that are not limited to one customer";
  requireOperator(actor, { message, fields: ["mfa_acr_values"] });
}

/**
 * What counted last as multi-factor authentication for a customer without a provider: deleting a provider does not
 * reset it. Only for the first provider do the documented values of its type apply by default.
 *
 * @param type - of the provider that is to come
 */
export async function evidenceBefore(
  trx: Knex.Transaction,
  customerId: string,
  type: IdpType,
): Promise<MfaEvidence> {
  const customer = await trx("customers")
    .where({ id: customerId })
    .first<{ idp_revisions: number; last_mfa_acr_values: readonly string[] | null } | undefined>(
      "idp_revisions",
      "last_mfa_acr_values",
    );
  if (customer?.idp_revisions === 0) return asDocumented(type);
  // one that was deleted before this was kept counts as one by which nothing was proved
  return { type, mfa_acr_values: customer?.last_mfa_acr_values ?? [] };
}

/** Keeps a provider's configuration in place of the one before. */
export async function configureIdp(
  unit: UnitOfWork,
  box: SecretBox,
  configured: {
    readonly customer: CustomerRow;
    readonly before: IdpRow | undefined;
    readonly body: IdpConfiguration;
    readonly issuer: ConfiguredIssuer;
  },
): Promise<IdpRow> {
  const { customer, before, body } = configured;
  const { derived, capabilities } = configured.issuer;
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
    mfa_acr_values: body.mfa_acr_values ?? null,
    verified_at: capabilities === null ? null : now,
    capabilities,
    revision: await nextRevision(unit, customer.id),
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
  await trx("customer_idps")
    .insert({
      ...row,
      claims: JSON.stringify(row.claims),
      capabilities: capabilities && JSON.stringify(capabilities),
    })
    .onConflict("customer_id")
    .merge();
  // what counts is told by the configuration again; an instance of the release before does not keep it when it deletes that
  await trx("customers").where({ id: customer.id }).update({ last_mfa_acr_values: null });
  unit.record({
    ...about("idp.configured", customer),
    ...(before !== undefined && { before: recordedOf(before) }),
    after: recordedOf(row),
  });
  announceUpdate(unit, customer, "idp");
  notifyOfEvidence(unit, customer, before, row);
  return row;
}

/** Removes the configuration, and with it the secret: nobody of the customer can sign in. What counted as evidence stays known. */
export async function forgetIdp(unit: UnitOfWork, customer: CustomerRow, row: IdpRow): Promise<void> {
  await unit.trx("customer_idps").where({ customer_id: customer.id }).delete();
  await unit
    .trx("customers")
    .where({ id: customer.id })
    .update({ last_mfa_acr_values: [...mfaAcrValues(row)] });
  unit.record({ ...about("idp.deleted", customer), before: recordedOf(row) });
  announceUpdate(unit, customer, "idp");
  notifyOfEvidence(unit, customer, row, undefined);
}

/** Gateways evaluate tokens by what counts as multi-factor authentication. */
function notifyOfEvidence(
  unit: UnitOfWork,
  { id }: CustomerRow,
  before: IdpRow | undefined,
  after: IdpRow | undefined,
): void {
  const counting = (idp: IdpRow | undefined) => (idp === undefined ? [] : mfaAcrValues(idp));
  if (!isDeepStrictEqual(counting(before), counting(after)))
    unit.notifyGateways({ type: "customer_changed", customer_id: id });
}

/** Goes on where a configuration that was deleted has ended, so that no ETag means two contents. */
async function nextRevision({ trx }: UnitOfWork, id: string): Promise<number> {
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
    mfa_acr_values: mfaAcrValues(row),
    verified_at: verified_at?.toISOString() ?? null,
  };
}

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
import { requireOperator } from "../../platform/require-operator.ts";

/**
 * Only those who require multi-factor authentication may decide what satisfies it: otherwise a customer's own key could
 * count a password as several factors.
 *
 * @throws ApiError CUSTOMER_KEY_NOT_ALLOWED if a key of the customer changes which values count, or the order in which
 *   they are requested
 */
export function requireOperatorForEvidence(actor: Actor, before: MfaEvidence, after: MfaEvidence): void {
  if (isDeepStrictEqual(mfaAcrValues(before), mfaAcrValues(after))) return;
  const message =
    "what counts as multi-factor authentication (`mfa_acr_values`, and the defaults of a `type`) can only be changed by keys " +
    "that are not limited to one customer";
  requireOperator(actor, { message, fields: ["mfa_acr_values"] });
}

/**
 * What last counted as multi-factor authentication for a customer without a provider: deleting a provider does not
 * reset it. The documented values of a type are the default only for the first provider.
 *
 * @param type - of the new provider
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
  // a provider that was deleted before this was stored counts as one that proved nothing
  return { type, mfa_acr_values: customer?.last_mfa_acr_values ?? [] };
}

/** Stores a provider's configuration in place of the previous one. */
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
  // the configuration now determines what counts; an instance of the previous release does not store it when it deletes
  // the configuration
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

/**
 * Removes the configuration, including the secret: no user of the customer can sign in. What counted as evidence is
 * remembered.
 */
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

/** Continues after the revision of a deleted configuration, so that no ETag has two meanings. */
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

/** What the audit trail records: everything except the secret. */
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

import type { ControlContext } from "../../platform/context.ts";
import { ApiError } from "../../platform/errors.ts";
import { created, etagOf, ok, readRoute, writeRoute, type Route } from "../../platform/frame/route.ts";
import { guardedFetch } from "../../platform/outbound/guarded-fetch.ts";
import { warningsOfCustomer } from "../policies/provider-warnings.ts";
import { attributesAwaitSomebody } from "../users/store.ts";
import { warning } from "../../platform/warnings.ts";
import { confirmIssuer, type ConfiguredIssuer } from "./idp-discovery.ts";
import { deriveIssuer } from "./idp-issuer.ts";
import { deletedIdp, idp, idpConfiguration } from "./idp-schemas.ts";
import { configureIdp, evidenceBefore, forgetIdp, requireOperatorForEvidence } from "./idp-service.ts";
import { DEFAULT_CLAIMS, findIdp, type IdpRow } from "../../tenancy/idp.ts";
import { mfaAcrValues } from "../../tenancy/mfa-acr-values.ts";
import { customerPath } from "./schemas.ts";
import { lockCustomer, requireCustomer } from "../../tenancy/customers.ts";
import { requireOperator } from "../../platform/require-operator.ts";

const common = {
  tag: "Customers",
  group: "management",
  path: "/customers/{id}/idp",
  tenancy: { path: "id" },
  params: customerPath,
  etag: true,
} as const;

/** A provider that takes longer to return its metadata is not usable for signing in. */
const TIMEOUT_MS = 5_000;

/** Attributes that a customer's own key may map. */
const OWN_CLAIMS: readonly string[] = [...DEFAULT_CLAIMS, "email", "name"];

/** A customer's identity provider. */
export function idpRoutes({ db, box, settings }: ControlContext): Route[] {
  const { allowInsecureIssuers, egressProxy: proxy } = settings;
  const isSandbox = settings.environment === "sandbox";
  const fetch = guardedFetch({ allowPrivate: allowInsecureIssuers, timeoutMs: TIMEOUT_MS, proxy });
  return [
    readRoute({
      ...common,
      method: "get",
      operation: "getCustomerIdp",
      summary: "Read a customer's identity provider",
      permission: "read",
      answers: { 200: idp },
      revalidated: true,
      errors: ["INVALID_CUSTOMER", "IDP_NOT_CONFIGURED"],
      read: async ({ params, actor }) => {
        await requireCustomer(db, actor, params.id, "path");
        const row = requireIdp(await findIdp(db, params.id), params.id);
        return ok(answerOf(row), { etag: etag(row) });
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      operation: "configureCustomerIdp",
      summary: "Configure a customer's identity provider",
      description:
        "Replaces the configuration as a whole. The issuer is derived from `domain`, and asked for its discovery " +
        "document, which must name exactly this issuer and support what sign-in needs. A key that is limited to " +
        "the customer can map only the usual attributes, and cannot change the issuer while users that were " +
        "added with attributes have not signed in yet. It cannot change what counts as multi-factor authentication either: it " +
        "must send the `mfa_acr_values` in effect, or those in effect when the previous provider was deleted. Warns if the customer's policies require something that the provider does " +
        "not announce. The sandbox only validates the form and contacts no provider: its users still sign in at its own provider.",
      permission: "configure",
      body: idpConfiguration,
      answers: { 200: idp, 201: idp },
      ifMatch: true,
      warns: true,
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "IDP_UNREACHABLE"],
      prepare: async ({ params, body, actor }): Promise<ConfiguredIssuer> => {
        await requireCustomer(db, actor, params.id, "path");
        // like attributes set by administrators: `assigned_customers` refers to other customers
        if (Object.keys(body.claims).some((name) => !OWN_CLAIMS.includes(name))) requireOperator(actor);
        const derived = deriveIssuer(body, allowInsecureIssuers);
        // nobody signs in there, so the provider need not exist yet
        if (isSandbox) return { derived, capabilities: null };
        if (body.verify) return confirmIssuer(derived, fetch, allowInsecureIssuers);
        if (!derived.byTenantName) return { derived, capabilities: null };
        throw new ApiError("IDP_UNREACHABLE", {
          message: "without `verify`, the tenant's id is required, because discovery cannot find it",
          details: { issuer: derived.issuer },
        });
      },
      write: async ({ params, body, actor, ...call }, unit, issuer) => {
        const customer = await lockCustomer(unit.trx, actor, params.id);
        const before = await findIdp(unit.trx, customer.id);
        call.ifMatch(before && etag(before));
        if (
          before?.issuer !== issuer.derived.issuer &&
          (await attributesAwaitSomebody(unit.trx, customer.id))
        )
          requireOperator(actor);
        requireOperatorForEvidence(
          actor,
          before ?? (await evidenceBefore(unit.trx, customer.id, body.type)),
          {
            type: body.type,
            mfa_acr_values: body.mfa_acr_values ?? null,
          },
        );
        const row = await configureIdp(unit, box, { customer, before, body, issuer });
        const beside = {
          etag: etag(row),
          warnings: [
            ...(isSandbox ? [warning("NOT_USED_IN_SANDBOX")] : []),
            ...(await warningsOfCustomer(unit.trx, customer.id)),
          ],
        };
        return before === undefined
          ? created(answerOf(row), { ...beside, location: `/v1/customers/${customer.id}/idp` })
          : ok(answerOf(row), beside);
      },
    }),
    writeRoute({
      ...common,
      method: "delete",
      operation: "deleteCustomerIdp",
      summary: "Delete a customer's identity provider",
      permission: "configure",
      description:
        "What counted as multi-factor authentication (`mfa_acr_values`) is remembered: keys that are limited to the customer " +
        "can configure another provider only with the same values.",
      answers: { 200: deletedIdp },
      errors: ["INVALID_CUSTOMER", "IDP_NOT_CONFIGURED"],
      write: async ({ params, actor, ...call }, unit) => {
        const customer = await lockCustomer(unit.trx, actor, params.id);
        const row = requireIdp(await findIdp(unit.trx, customer.id), customer.id);
        call.ifMatch(etag(row));
        await forgetIdp(unit, customer, row);
        return ok({ customer_id: customer.id, deleted: true });
      },
    }),
  ];
}

function requireIdp(row: IdpRow | undefined, customerId: string): IdpRow {
  if (row === undefined) throw new ApiError("IDP_NOT_CONFIGURED", { details: { customer_id: customerId } });
  return row;
}

function etag({ customer_id, revision }: IdpRow): string {
  return etagOf({ id: `${customer_id}.idp`, revision });
}

function answerOf({ client_secret, ...row }: IdpRow) {
  return { ...row, mfa_acr_values: [...mfaAcrValues(row)], client_secret_set: client_secret !== "" };
}

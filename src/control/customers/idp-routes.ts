import type { ControlContext } from "../context.ts";
import { ApiError } from "../errors.ts";
import { created, etagOf, ok, readRoute, writeRoute, type Route } from "../frame/route.ts";
import { guardedFetch } from "../outbound/guarded-fetch.ts";
import { DEFAULT_CLAIMS } from "../sign-in/claims.ts";
import { confirmIssuer } from "./idp-discovery.ts";
import { deriveIssuer } from "./idp-issuer.ts";
import { deletedIdp, idp, idpConfiguration } from "./idp-schemas.ts";
import { configureIdp, forgetIdp } from "./idp-service.ts";
import { findIdp, type IdpRow } from "./idp.ts";
import { attributesAwaitSomebody } from "../users/store.ts";
import { customerPath } from "./schemas.ts";
import { requireOperator } from "./service.ts";
import { lockCustomer, requireCustomer } from "./store.ts";

const common = {
  tag: "Customers",
  group: "management",
  path: "/customers/{id}/idp",
  tenancy: { path: "id" },
  params: customerPath,
  etag: true,
} as const;

/** A provider that takes longer to name its endpoints is no good for signing in. */
const TIMEOUT_MS = 5_000;

/** Attributes that a customer's own key may map. */
const OWN_CLAIMS: readonly string[] = [...DEFAULT_CLAIMS, "email", "name"];

/** A customer's identity provider. */
export function idpRoutes({ db, box, settings }: ControlContext): Route[] {
  const { allowInsecureIssuers } = settings;
  const fetch = guardedFetch({ allowPrivate: allowInsecureIssuers, timeoutMs: TIMEOUT_MS });
  return [
    readRoute({
      ...common,
      method: "get",
      operation: "readCustomerIdp",
      summary: "Reads a customer's identity provider",
      permission: "read",
      answers: { 200: idp },
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
      summary: "Configures a customer's identity provider",
      description:
        "Replaces the configuration as a whole. The issuer is derived from `domain`, and asked for its discovery " +
        "document, which must name exactly this issuer, its endpoints, and what sign-in needs. A key that is limited to " +
        "the customer maps no other attributes than the usual ones, and names no other issuer while users that were " +
        "added with attributes have not signed in yet.",
      permission: "configure",
      body: idpConfiguration,
      answers: { 200: idp, 201: idp },
      errors: ["INVALID_CUSTOMER", "CUSTOMER_KEY_NOT_ALLOWED", "IDP_UNREACHABLE"],
      prepare: async ({ params, body, actor }) => {
        await requireCustomer(db, actor, params.id, "path");
        // like attributes that are set by hand: `assigned_customers` is about other customers
        if (Object.keys(body.claims).some((name) => !OWN_CLAIMS.includes(name))) requireOperator(actor);
        const derived = deriveIssuer(body, allowInsecureIssuers);
        if (body.verify) return confirmIssuer(derived, fetch, allowInsecureIssuers);
        if (!derived.byTenantName) return derived;
        throw new ApiError("IDP_UNREACHABLE", {
          message: "without `verify`, the tenant's id must be given: it is found by discovery",
          details: { issuer: derived.issuer },
        });
      },
      write: async ({ params, body, actor, ...call }, unit, derived) => {
        const customer = await lockCustomer(unit.trx, actor, params.id);
        const before = await findIdp(unit.trx, customer.id);
        if (before !== undefined) call.ifMatch(etag(before));
        if (before?.issuer !== derived.issuer && (await attributesAwaitSomebody(unit.trx, customer.id)))
          requireOperator(actor);
        const row = await configureIdp(unit, box, { customer, before, body, derived });
        const headers = { etag: etag(row) };
        return before === undefined
          ? created(answerOf(row), { ...headers, location: `/v1/customers/${customer.id}/idp` })
          : ok(answerOf(row), headers);
      },
    }),
    writeRoute({
      ...common,
      method: "delete",
      operation: "deleteCustomerIdp",
      summary: "Forgets a customer's identity provider",
      permission: "configure",
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
  return etagOf(`${customer_id}.idp`, revision);
}

function answerOf({ client_secret, ...row }: IdpRow) {
  return { ...row, client_secret_set: client_secret !== "" };
}

import type { ControlContext } from "../platform/context.ts";
import { ApiError } from "../platform/errors.ts";
import { ok, readRoute, writeRoute, type Route } from "../platform/frame/route.ts";
import { warning } from "../platform/warnings.ts";
import { customerPath } from "../resources/customers/schemas.ts";
import { requireCustomer } from "../tenancy/customers.ts";
import { findIdp } from "../tenancy/idp.ts";
import type { Keyring } from "./issuer/keyring.ts";
import { FLOW_SECONDS, startFlow } from "./authorize.ts";
import { exchangeCode, refreshTokens } from "./exchange.ts";
import { completeSignIn } from "./complete-sign-in.ts";
import { insertFlow } from "./flow-store.ts";
import { logoutRoute } from "./logout.ts";
import { unknownSignIn } from "./page.ts";
import { createProviders } from "./provider.ts";
import { exchangeCallback } from "./exchange-callback.ts";
import type { ResolveProvider } from "./resolve-provider.ts";
import {
  authorizeAnswer,
  authorizeBody,
  callbackQuery,
  providerTest,
  providerTestBody,
  refreshBody,
  tokenAnswer,
  tokenBody,
} from "./schemas.ts";
import { notTried, testProvider } from "./test-provider.ts";
import { tryClaims } from "./try-claims.ts";

interface SignInParts {
  readonly keyring: Keyring;
  /** Where users sign in. Default: the provider that their customer has configured. */
  readonly providerOf?: ResolveProvider | undefined;
}

/** Sign-in of users: authorize, callback, token, refresh, logout. */
export function signInRoutes(context: ControlContext, { keyring, providerOf }: SignInParts): Route[] {
  const providers = createProviders(context, providerOf);
  const common = { tag: "Authentication", group: "authentication", tenancy: "handler" } as const;
  return [
    writeRoute({
      ...common,
      method: "post",
      path: "/auth/authorize",
      operation: "startSignIn",
      summary: "Start a sign-in",
      description:
        "Returns the address to send the user's browser to. The identity provider is asked for what the customer's policies require; `acr_values`, `max_age` and `prompt` answer a challenge (RFC 9470). The browser returns to `return_url` with `code` and `state`, or with `error`, `reason` and `state`. The application must compare `state` with the one returned here, in the browser session for which it started the sign-in: this prevents others from signing a user in to their own account.",
      permission: "authenticate",
      body: authorizeBody,
      answers: { 200: authorizeAnswer },
      errors: [
        "CUSTOMER_SUSPENDED",
        "INVALID_CUSTOMER",
        "IDP_NOT_CONFIGURED",
        "RETURN_URL_NOT_ALLOWED",
        "IDP_FAILED",
      ],
      prepare: (call) => startFlow(context, providers, call),
      async write(_call, unit, { flow, state, authorizationUrl }) {
        await insertFlow(unit.trx, flow);
        return ok({ authorization_url: authorizationUrl, state, expires_in: FLOW_SECONDS });
      },
    }),
    writeRoute({
      ...common,
      method: "get",
      path: "/auth/callback",
      operation: "finishSignIn",
      summary: "Receive the identity provider's redirect",
      permission: "public",
      query: callbackQuery,
      answers: { 303: null },
      errors: ["INVALID_STATE"],
      prepare: ({ query }) => exchangeCallback(context, providers, query),
      async write({ query, clientIp, userAgent, headers }, unit, proof) {
        const arrival = { state: query.state ?? "", clientIp, userAgent };
        return (
          (await completeSignIn(context, providers, unit, proof, arrival)) ?? unknownSignIn(headers.accept)
        );
      },
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/auth/token",
      operation: "exchangeCode",
      summary: "Exchange a code for tokens",
      description:
        "A code is valid once, for 60 seconds, for every API key that may act for the customer. Using it a second time ends the session.",
      permission: "authenticate",
      body: tokenBody,
      answers: { 200: tokenAnswer },
      errors: ["INVALID_CODE", "SESSION_ENDED", "CUSTOMER_SUSPENDED", "USER_SUSPENDED", "POLICY_VIOLATED"],
      // before the transaction, because it may need its own connection
      prepare: () => keyring.signingKey(),
      write: (call, unit, key) => exchangeCode(context, call, unit, key),
    }),
    writeRoute({
      ...common,
      method: "post",
      path: "/auth/refresh",
      operation: "refreshTokens",
      summary: "Exchange a refresh token for new tokens",
      description:
        "A refresh token is valid once, for every API key that may act for the customer; the tokens name the requesting application (`client_id`). Using it a second time ends the session, except by the same application within 10 seconds and before the next token is used: it then gets the same next refresh token. To repeat a request later, send it with an `Idempotency-Key`. Customer, user and policies are checked again, based on the evidence from the sign-in. If another sign-in would satisfy them, 401 `POLICY_VIOLATED` describes it in `WWW-Authenticate` (RFC 9470).",
      permission: "authenticate",
      body: refreshBody,
      answers: { 200: tokenAnswer },
      errors: [
        "INVALID_REFRESH_TOKEN",
        "SESSION_ENDED",
        "CUSTOMER_SUSPENDED",
        "USER_SUSPENDED",
        "POLICY_VIOLATED",
      ],
      prepare: () => keyring.signingKey(),
      write: (call, unit, key) => refreshTokens(context, call, unit, key),
    }),
    logoutRoute(context),
    readRoute({
      tag: "Customers",
      group: "management",
      tenancy: { path: "id" },
      method: "post",
      path: "/customers/{id}/idp/test",
      operation: "testCustomerIdp",
      summary: "Test a customer's identity provider",
      description:
        "Asks the configured provider, step by step, for what a sign-in needs, and stops at the first step that fails. The last one sends its token endpoint a code that cannot be valid, so that it has to check the client's id and secret. With `token`, also tells who would have signed in with these claims. Changes nothing. In the sandbox no provider is contacted: all steps are `skipped`.",
      permission: "configure",
      params: customerPath,
      body: providerTestBody,
      answers: { 200: providerTest },
      warns: true,
      errors: ["INVALID_CUSTOMER", "IDP_NOT_CONFIGURED"],
      async read({ params, body, actor }) {
        const customer = await requireCustomer(context.db, actor, params.id, "path");
        const idp = await findIdp(context.db, params.id);
        if (idp === undefined)
          throw new ApiError("IDP_NOT_CONFIGURED", { details: { customer_id: params.id } });
        const identity =
          body.token === undefined ? null : tryClaims(context.settings, customer, idp, body.token);
        const isSandbox = context.settings.environment === "sandbox";
        const steps = isSandbox ? notTried() : await testProvider(context, providers, idp);
        return ok({ steps, identity }, { warnings: isSandbox ? [warning("NOT_USED_IN_SANDBOX")] : [] });
      },
    }),
  ];
}

import type { EventEmitter } from "node:events";
import Provider, { interactionPolicy, type Configuration, type KoaContextWithOIDC } from "oidc-provider";
import type { ControlContext } from "../../platform/context.ts";
import { findIdp } from "../../tenancy/idp.ts";
import { PAPE_MULTI_FACTOR } from "../../tenancy/mfa-acr-values.ts";
import { claimsOf, CLAIMS_OF_SCOPES } from "../claims.ts";
import { countingOf, sandboxAcrValues } from "../evidence.ts";
import { sandboxIssuer } from "../../platform/sandbox-issuer.ts";
import { findPerson, findPersonByEmail } from "../people.ts";
import { createAdapter } from "./adapter.ts";
import { ALGORITHM, type ProviderKeys } from "./keys.ts";
import { endAtOnce } from "./logout.ts";
import { contentSecurityPolicy, logoutPage, problemPage, signedOutPage } from "./pages.ts";

type Context = Pick<ControlContext, "settings" | "db" | "box" | "clock" | "log">;

/** Where somebody is picked. */
export const INTERACTION_PATH = "/interaction";

/** The OpenID provider of the sandbox: choosing a person signs that person in. */
export function createProvider(context: Context, keys: ProviderKeys): Provider {
  const issuer = sandboxIssuer(context.settings);
  const provider = new Provider(issuer, configurationOf(context, keys, new URL(issuer)));
  // the router in front writes the forwarded headers, whatever a client sends
  provider.proxy = true;
  provider.use(endAtOnce);
  const onError = (err: Error): void => {
    context.log.error({ err }, "a request to the sandbox's provider failed");
  };
  provider.on("server_error", (_ctx, err) => {
    onError(err);
  });
  // of Koa, whose default is to write to the console
  (provider as EventEmitter).on("error", onError);
  return provider;
}

function configurationOf(context: Context, keys: ProviderKeys, issuer: URL): Configuration {
  const secure = issuer.protocol === "https:";
  const cookie = { httpOnly: true, sameSite: "lax", secure, signed: true } as const;
  return {
    adapter: createAdapter(context, keys),
    jwks: { keys: [keys.signing] },
    enabledJWA: { idTokenSigningAlgValues: [ALGORITHM] },
    cookies: {
      keys: [keys.cookies],
      names: {
        session: "gatehouse_sandbox_session",
        interaction: "gatehouse_sandbox_interaction",
        resume: "gatehouse_sandbox_resume",
      },
      long: { ...cookie, path: issuer.pathname },
      short: cookie,
    },
    scopes: Object.keys(CLAIMS_OF_SCOPES),
    // a customer's own ones are heeded too
    acrValues: [PAPE_MULTI_FACTOR],
    claims: Object.fromEntries(Object.entries(CLAIMS_OF_SCOPES).map(([scope, names]) => [scope, [...names]])),
    conformIdTokenClaims: false,
    responseTypes: ["code"],
    clientAuthMethods: ["client_secret_basic"],
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          const { postLogoutRedirectUri: to } = (ctx.oidc.session?.state ?? {}) as LogoutState;
          html(ctx, logoutPage(form), to === undefined ? [] : [to]);
        },
        postLogoutSuccessSource: (ctx) => {
          html(ctx, signedOutPage());
        },
      },
    },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 600,
      Session: 28_800,
    },
    interactions: {
      url: (_ctx, { uid }) => `${issuer.pathname}${INTERACTION_PATH}/${uid}`,
      policy: promptsOf(context),
    },
    clientBasedCORS: () => false,
    renderError: (ctx, { error, error_description: description }) => {
      html(ctx, problemPage(description === undefined ? error : `${error}: ${description}`));
    },
    // somebody of another customer is nobody
    async findAccount(ctx, id) {
      const { client } = ctx.oidc;
      const person = client && (await findPerson(context.db, client.clientId, id));
      return person && { accountId: person.id, claims: () => ({ ...claimsOf(person), sub: person.id }) };
    },
    // Gatehouse itself asks, on behalf of its customer: there is nobody to agree
    async loadExistingGrant(ctx) {
      const { client, session, params } = ctx.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope(String(params?.["scope"]));
      await grant.save();
      return grant;
    },
  };
}

interface LogoutState {
  readonly postLogoutRedirectUri?: string;
}

/** When somebody has to be picked, besides what OpenID Connect says. */
function promptsOf({ db }: Context) {
  const { Check, Prompt, base } = interactionPolicy;
  const prompts = base();
  const login = prompts.get("login");
  if (login === undefined) throw new Error("the library has no login prompt");
  login.checks.add(
    new Check("other_customer", "the session is of another customer", "login_required", ({ oidc }) =>
      oidc.session?.accountId !== undefined && oidc.account === undefined
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT,
    ),
  );
  login.checks.add(
    new Check(
      "other_person",
      "the session is not of the person who is hinted at",
      "login_required",
      async ({ oidc }) => {
        const hint = oidc.params?.["login_hint"];
        if (typeof hint !== "string" || oidc.result?.login !== undefined || oidc.client === undefined)
          return Check.NO_NEED_TO_PROMPT;
        const hinted = await findPersonByEmail(db, oidc.client.clientId, hint);
        return hinted?.id === oidc.session?.accountId ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
      },
    ),
  );
  login.checks.add(
    new Check(
      "other_class",
      "the session is not of a class that is asked for",
      "login_required",
      async ({ oidc }) => {
        const asked = oidc.params?.["acr_values"];
        if (typeof asked !== "string" || oidc.result?.login !== undefined || oidc.client === undefined)
          return Check.NO_NEED_TO_PROMPT;
        const counting = sandboxAcrValues(await findIdp(db, oidc.client.clientId));
        const wanted = countingOf(asked, counting);
        return wanted.length === 0 || wanted.includes(oidc.acr)
          ? Check.NO_NEED_TO_PROMPT
          : Check.REQUEST_PROMPT;
      },
    ),
  );
  prompts.add(new Prompt({ name: "select_account", requestable: true }), 0);
  return prompts;
}

function html(ctx: KoaContextWithOIDC, text: string, returnUrls: readonly string[] = []): void {
  ctx.set("content-security-policy", contentSecurityPolicy(returnUrls));
  ctx.type = "html";
  ctx.body = text;
}

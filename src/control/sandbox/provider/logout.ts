import type { KoaContextWithOIDC } from "oidc-provider";

interface LogoutState {
  readonly postLogoutRedirectUri?: string;
  readonly state?: string;
}

/**
 * Ends the provider's session without a question (OpenID Connect RP-Initiated Logout 1.0, section 2) where the ID token
 * that is sent along is of the person who is signed in, for then it is Gatehouse that asks; and where nobody is, for there
 * is nothing to ask. The library would ask in both cases, or have a script send a form.
 */
export async function endAtOnce(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  // on paths that are not the provider's there is no such thing
  const oidc = ctx.oidc as KoaContextWithOIDC["oidc"] | undefined;
  const session = oidc?.session;
  if (oidc?.route !== "end_session" || ctx.status !== 200 || session === undefined) return;
  const { payload } = (oidc.entities as Hinted).IdTokenHint ?? {};
  if (session.accountId !== undefined && session.accountId !== payload?.sub) return;
  // the library has looked whether the client may send browsers there
  const { postLogoutRedirectUri: to, state } = (session.state ?? {}) as LogoutState;
  await session.destroy();
  const { provider } = oidc;
  ctx.cookies.set(provider.cookieName("session"), null, { path: new URL(provider.issuer).pathname });
  ctx.body = null;
  ctx.status = 303;
  ctx.redirect(to === undefined ? oidc.urlFor("end_session_success") : withState(to, state));
}

interface Hinted {
  readonly IdTokenHint?: { readonly payload: { readonly sub?: unknown } };
}

function withState(to: string, state: string | undefined): string {
  if (state === undefined) return to;
  const url = new URL(to);
  url.searchParams.set("state", state);
  return url.href;
}

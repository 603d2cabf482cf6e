import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { nameOnSite, readToken, setCookie, type Site } from "./cookies.ts";

/** Maximum lifetime of a session, however much it is used. */
export const SESSION_MS = 12 * 3_600_000;
/** Idle timeout of a session. */
export const IDLE_MS = 2 * 3_600_000;

/** The name of the session's cookie. */
export function cookieName(site: Site): string {
  return nameOnSite("gatehouse_session", site);
}

/** @returns the token of the session */
export function readSessionCookie(headers: IncomingHttpHeaders, site: Site): string | undefined {
  return readToken(headers, cookieName(site));
}

/** The `Set-Cookie` that starts a session. */
export function sessionCookie(token: string, site: Site): string {
  return setCookie(cookieName(site), token, SESSION_MS / 1000, site);
}

/** The `Set-Cookie` that ends it in the browser. */
export function clearedCookie(site: Site): string {
  return setCookie(cookieName(site), "", 0, site);
}

/**
 * Shows that a request comes from a page of the dashboard, which can read answers; derived from the session's token.
 */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac("sha256", sessionToken).update("gatehouse dashboard csrf token").digest("base64url");
}

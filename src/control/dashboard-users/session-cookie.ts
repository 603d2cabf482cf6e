import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { stringifySetCookie } from "cookie";
import type { ControlSettings } from "../context.ts";

type Site = Pick<ControlSettings, "environment" | "publicUrl">;

/** A session ends then, however much it is used. */
export const SESSION_MS = 12 * 3_600_000;
/** A session that is not used for so long has ended. */
export const IDLE_MS = 2 * 3_600_000;

/**
 * Cookies do not tell ports apart (RFC 6265, section 8.5), so that each environment has a name of its own. `__Host-`
 * keeps subdomains from setting it (RFC 6265bis, section 4.1.3.2); browsers take it with https only.
 */
export function cookieName({ environment, publicUrl }: Site): string {
  const name = environment === "production" ? "gatehouse_session" : "gatehouse_session_sandbox";
  return isSecure(publicUrl) ? `__Host-${name}` : name;
}

/** @returns the session's token; `undefined` as well where there are two of the name, one being somebody else's */
export function readSessionCookie(headers: IncomingHttpHeaders, site: Site): string | undefined {
  const start = `${cookieName(site)}=`;
  const found = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  const [only, ...others] = found;
  const token = only?.slice(start.length);
  return others.length === 0 && token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined;
}

/** The `Set-Cookie` that begins a session. */
export function sessionCookie(token: string, site: Site): string {
  return setCookie(token, SESSION_MS / 1000, site);
}

/** The `Set-Cookie` that ends it in the browser. */
export function clearedCookie(site: Site): string {
  return setCookie("", 0, site);
}

/** What a page of the dashboard proves by that it may read answers; it follows from the session's token. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac("sha256", sessionToken).update("gatehouse dashboard csrf token").digest("base64url");
}

function setCookie(value: string, maxAge: number, site: Site): string {
  return stringifySetCookie({
    name: cookieName(site),
    value,
    maxAge,
    path: "/",
    httpOnly: true,
    secure: isSecure(site.publicUrl),
    sameSite: "strict",
  });
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith("https:");
}

import type { IncomingHttpHeaders } from "node:http";
import { nameOnSite, readToken, setCookie, type Site } from "./cookies.ts";

/** How long a browser is recognized after its last sign-in. Browsers keep no cookie for more than 400 days. */
export const DEVICE_MS = 180 * 24 * 3_600_000;

/** @returns the token that shows that a browser has signed in before; it gives no access by itself */
export function readDeviceCookie(headers: IncomingHttpHeaders, site: Site): string | undefined {
  return readToken(headers, nameOf(site));
}

/** The `Set-Cookie` that makes a browser recognizable. Signing out does not remove it. */
export function deviceCookie(token: string, site: Site): string {
  return setCookie(nameOf(site), token, DEVICE_MS / 1000, site);
}

function nameOf(site: Site): string {
  return nameOnSite("gatehouse_device", site);
}

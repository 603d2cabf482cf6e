import type { IncomingHttpHeaders } from "node:http";
import { nameOnSite, readToken, setCookie, type Site } from "./cookies.ts";

/** How long a browser is known after its last sign-in. Browsers keep no cookie for more than 400 days. */
export const DEVICE_MS = 180 * 24 * 3_600_000;

/** @returns the token by which a browser shows that it has signed in before; it opens nothing by itself */
export function readDeviceCookie(headers: IncomingHttpHeaders, site: Site): string | undefined {
  return readToken(headers, nameOf(site));
}

/** The `Set-Cookie` that makes a browser known. Signing out leaves it there. */
export function deviceCookie(token: string, site: Site): string {
  return setCookie(nameOf(site), token, DEVICE_MS / 1000, site);
}

function nameOf(site: Site): string {
  return nameOnSite("gatehouse_device", site);
}

import type { IncomingHttpHeaders } from "node:http";
import { stringifySetCookie } from "cookie";
import type { ControlSettings } from "../../platform/context.ts";

/** Where a cookie belongs. */
export type Site = Pick<ControlSettings, "environment" | "publicUrl">;

/**
 * Cookies do not tell ports apart (RFC 6265, section 8.5), so that each environment has a name of its own. `__Host-`
 * keeps subdomains from setting it (RFC 6265bis, section 4.1.3.2); browsers take it with https only.
 */
export function nameOnSite(name: string, { environment, publicUrl }: Site): string {
  const own = environment === "production" ? name : `${name}_sandbox`;
  return isSecure(publicUrl) ? `__Host-${own}` : own;
}

/** @returns the token in a cookie; `undefined` as well where there are two of the name, one being somebody else's */
export function readToken(headers: IncomingHttpHeaders, name: string): string | undefined {
  const start = `${name}=`;
  const found = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  const [only, ...others] = found;
  const token = only?.slice(start.length);
  return others.length === 0 && token !== undefined && /^[\w-]{43}$/.test(token) ? token : undefined;
}

/** A `Set-Cookie` that scripts cannot read and other sites do not send. */
export function setCookie(name: string, value: string, maxAge: number, { publicUrl }: Site): string {
  return stringifySetCookie({
    name,
    value,
    maxAge,
    path: "/",
    httpOnly: true,
    secure: isSecure(publicUrl),
    sameSite: "strict",
  });
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith("https:");
}

import type { IncomingHttpHeaders } from "node:http";
import { stringifySetCookie } from "cookie";
import type { ControlSettings } from "../../platform/context.ts";

/** The scope of a cookie. */
export type Site = Pick<ControlSettings, "environment" | "publicUrl">;

/**
 * Cookies do not distinguish ports (RFC 6265, section 8.5), so each environment has its own name. `__Host-` prevents
 * subdomains from setting it (RFC 6265bis, section 4.1.3.2); browsers accept it only over https.
 */
export function nameOnSite(name: string, { environment, publicUrl }: Site): string {
  const own = environment === "production" ? name : `${name}_sandbox`;
  return isSecure(publicUrl) ? `__Host-${own}` : own;
}

/**
 * @returns the token in a cookie; `undefined` also if there are two cookies of that name, because one may be an
 *   attacker's
 */
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

/** A `Set-Cookie` that scripts cannot read and that is not sent with requests from other sites. */
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

import { compileClaims } from "../../../src/identity/claims.ts";
import { isObject, parseJson } from "../../../src/json/index.ts";

const DEPTH = 64;

/** The caller that a token's claims describe by the default mapping; `undefined` if it is not a token. Nothing is verified. */
export function callerOfToken(
  token: string,
): { readonly user: string; readonly customer: string } | undefined {
  const [, payload] = /^(?:bearer\s+)?[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(token.trim()) ?? [];
  if (payload === undefined) return undefined;
  try {
    const binary = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const { value } = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), { depth: DEPTH });
    if (!isObject(value)) return undefined;
    const reading = compileClaims({})(value);
    if (!reading.ok) return undefined;
    const { user, customer } = reading.attributes;
    return {
      user: JSON.stringify(user, null, 2),
      customer: customer === undefined ? "" : JSON.stringify(customer, null, 2),
    };
  } catch {
    return undefined;
  }
}

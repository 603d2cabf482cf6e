/** Stands in `identity.sign_in_url` for where to come back to. */
export const SIGN_IN_PLACEHOLDER = "{return_to}";

/** What may stand in a link and be sent on by every sign-in page. */
const MAX_RETURN = 2_000;
const PRINTABLE = /^[\x21-\x7e]*$/;

/** @returns what is wrong with an address to sign in at; `undefined` where nothing is */
export function signInProblem(url: string): string | undefined {
  const [before = "", ...others] = url.split(SIGN_IN_PLACEHOLDER);
  const plain = before + others.join("");
  const here = url.startsWith("/") && !/^\/[/\\]/.test(url);
  const protocol = here ? "" : URL.parse(plain)?.protocol;
  if (!PRINTABLE.test(url) || (!here && protocol !== "https:" && protocol !== "http:"))
    return "must be an http or https URL, or a path of the gateway such as `/login`";
  if (/[{}]/.test(plain)) return "must hold no other braces than `{return_to}`";
  if (others.length > 1) return "must hold `{return_to}` once";
  return others.length === 1 && !/[?#]/.test(before)
    ? "must hold `{return_to}` in its query, such as `/login?next={return_to}`"
    : undefined;
}

/** The page that somebody wanted. */
export interface WantedPage {
  readonly method: string;
  /** Canonical path, percent-encoded. */
  readonly path: string;
  /** The request target as received; latin1. */
  readonly target: string;
}

/**
 * @param url - as {@link signInProblem} has nothing against
 * @returns where to sign in and come back from. The way back is a path of this gateway and nothing else, whatever the
 * request looks like; what was no GET cannot be opened again, and leads to `/`.
 */
export function signInLink(url: string, wanted: WantedPage): string {
  // a function: in a text, `$&` would mean something
  return url.replace(SIGN_IN_PLACEHOLDER, () => encodeURIComponent(returnPath(wanted)));
}

function returnPath({ method, path, target }: WantedPage): string {
  // `//host` and `/\host` are addresses of another site to a browser
  const isPath = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path);
  if (method !== "GET" || !isPath || path.length > MAX_RETURN) return "/";
  const mark = target.indexOf("?");
  const query = mark < 0 ? "" : target.slice(mark);
  return PRINTABLE.test(query) && path.length + query.length <= MAX_RETURN ? `${path}${query}` : path;
}

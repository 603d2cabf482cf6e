/** The placeholder in `identity.sign_in_url` for the page to return to. */
export const SIGN_IN_PLACEHOLDER = "{return_to}";

/** The longest link that every sign-in page can pass on. */
const MAX_RETURN = 2_000;
const PRINTABLE = /^[\x21-\x7e]*$/;

/** @returns what is wrong with a sign-in address; `undefined` if nothing is */
export function signInProblem(url: string): string | undefined {
  const [before = "", ...others] = url.split(SIGN_IN_PLACEHOLDER);
  const plain = before + others.join("");
  const here = url.startsWith("/") && !/^\/[/\\]/.test(url);
  const protocol = here ? "" : URL.parse(plain)?.protocol;
  if (!PRINTABLE.test(url) || (!here && protocol !== "https:" && protocol !== "http:"))
    return "must be an http or https URL, or a path on the gateway such as `/login`";
  if (/[{}]/.test(plain)) return "must not contain braces other than `{return_to}`";
  if (others.length > 1) return "must contain `{return_to}` only once";
  return others.length === 1 && !/[?#]/.test(before)
    ? "must contain `{return_to}` in its query, such as `/login?next={return_to}`"
    : undefined;
}

/** The requested page. */
export interface WantedPage {
  readonly method: string;
  /** Canonical path, percent-encoded. */
  readonly path: string;
  /** The request target as received; latin1. */
  readonly target: string;
}

/**
 * @param url - an address that {@link signInProblem} accepts
 * @returns the link to the sign-in page. For any request, the return address is only a path on this gateway; a request other
 * than GET cannot be repeated and returns to `/`.
 */
export function signInLink(url: string, wanted: WantedPage): string {
  // a function, because `$&` has a meaning in a replacement text
  return url.replace(SIGN_IN_PLACEHOLDER, () => encodeURIComponent(returnPath(wanted)));
}

function returnPath({ method, path, target }: WantedPage): string {
  // browsers read `//host` and `/\host` as addresses of another site
  const isPath = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path);
  if (method !== "GET" || !isPath || path.length > MAX_RETURN) return "/";
  const mark = target.indexOf("?");
  const query = mark < 0 ? "" : target.slice(mark);
  return PRINTABLE.test(query) && path.length + query.length <= MAX_RETURN ? `${path}${query}` : path;
}

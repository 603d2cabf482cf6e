import type { RawRequest } from "./types.ts";

/** The parts of a request target (RFC 9112, section 3.2). */
export interface SplitTarget {
  /** `none`: it has no path, or no recognizable one. */
  readonly form: "origin" | "absolute" | "none";
  readonly authority: string | undefined;
  /** Everything up to the first `?`, undecoded. */
  readonly path: string;
  /** What follows the first `?`, undecoded; empty if there is none. */
  readonly query: string;
}

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\]*)(?:(\/.*)|(\?.*))?$/is;
const NO_PATH: SplitTarget = { form: "none", authority: undefined, path: "/", query: "" };

/** Splits the target. `*` counts as origin-form if the method is OPTIONS. */
export function splitTarget({ method, target }: RawRequest): SplitTarget {
  if (target.startsWith("/") || (target === "*" && method === "OPTIONS")) {
    return splitQuery("origin", undefined, target);
  }
  const absolute = ABSOLUTE_FORM.exec(target);
  if (absolute === null) return NO_PATH;
  const [, authority, fromPath, fromQuery = ""] = absolute;
  return splitQuery("absolute", authority, fromPath ?? `/${fromQuery}`);
}

function splitQuery(
  form: SplitTarget["form"],
  authority: string | undefined,
  pathAndQuery: string,
): SplitTarget {
  const mark = pathAndQuery.indexOf("?");
  return mark < 0
    ? { form, authority, path: pathAndQuery, query: "" }
    : { form, authority, path: pathAndQuery.slice(0, mark), query: pathAndQuery.slice(mark + 1) };
}

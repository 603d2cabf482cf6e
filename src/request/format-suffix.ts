import { encodePath } from "./encode-path.ts";
import type { CanonicalRequest } from "./types.ts";

/** Formats that frameworks take from the end of a path. */
const FORMATS: ReadonlySet<string> = new Set(
  "json xml html htm csv txt js yaml yml rss atom pdf xls xlsx ics md".split(" "),
);
const LONGEST = 4;

/**
 * Rails, Django REST framework, Spring and others serve `/export.json` by what they have for `/export`.
 *
 * @returns the request for the path without the format at its end; `undefined` where there is none
 */
export function withoutFormat(request: CanonicalRequest): CanonicalRequest | undefined {
  const { segments, path } = request;
  const last = segments.at(-1) ?? "";
  const dot = last.lastIndexOf(".");
  if (dot < 1 || last.length - dot - 1 > LONGEST || last.includes(";")) return undefined;
  if (!FORMATS.has(last.slice(dot + 1).toLowerCase())) return undefined;
  const bare = [...segments.slice(0, -1), last.slice(0, dot)];
  return { ...request, segments: bare, path: encodePath(bare, path.endsWith("/")) };
}

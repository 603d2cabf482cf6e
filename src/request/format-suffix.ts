import { encodePath } from "./encode-path.ts";
import type { CanonicalRequest } from "./types.ts";

/**
 * Rails, Django REST framework, Spring and others serve `/export.json` from the handler of `/export`; some do so
 * whatever follows the last full stop.
 *
 * @returns the request for the path without its format suffix; `undefined` if it has none
 */
export function withoutFormat(request: CanonicalRequest): CanonicalRequest | undefined {
  const { segments, path } = request;
  const last = segments.at(-1) ?? "";
  const dot = last.lastIndexOf(".");
  // for a parameter after `;` there is a reading without it
  if (dot < 1 || last.includes(";")) return undefined;
  const bare = [...segments.slice(0, -1), last.slice(0, dot)];
  return { ...request, segments: bare, path: encodePath(bare, path.endsWith("/")) };
}

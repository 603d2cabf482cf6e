import { ApiError } from "../errors.ts";

/**
 * Compares a resource with `If-Match` (RFC 9110, section 13.1.1): any of the listed tags, compared strongly; `*` for whatever is
 * there.
 *
 * @param etag - `undefined` if there is no such resource
 * @throws ApiError 412 if the header names another one
 */
export function requireMatch(header: string | undefined, etag: string | undefined): void {
  if (header === undefined) return;
  if (etag === undefined)
    throw new ApiError("PRECONDITION_FAILED", {
      message: "the resource does not exist: omit `If-Match` to create it",
    });
  if (!isAny(header) && !listed(header).includes(etag))
    throw new ApiError("PRECONDITION_FAILED", { details: { etag } });
}

/** Whether `If-None-Match` names the resource (RFC 9110, section 13.1.2): tags are compared weakly. */
export function hasCurrent(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return isAny(header) || listed(header).some((tag) => tag.replace(/^W\//, "") === etag);
}

function isAny(header: string): boolean {
  return header.trim() === "*";
}

function listed(header: string): readonly string[] {
  return header.split(",").map((tag) => tag.trim());
}

/** @returns the code of an error: a system code such as `ENOENT`, an `ERR_...` of Node.js, an SQLSTATE of PostgreSQL */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

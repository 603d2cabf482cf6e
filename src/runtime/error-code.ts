/** @returns the code of an error: `ENOENT` of the system, `ERR_...` of Node, the SQLSTATE of PostgreSQL */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

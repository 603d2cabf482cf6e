import { ApiError } from "../errors.ts";

/** RFC 9110, section 11.4: a scheme, whose case does not matter, at least one space, and one token68. */
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

/**
 * Reads the credentials of a request (RFC 6750, section 2.1).
 *
 * @param values - of each `Authorization` header, as received
 * @returns the token; an error for an ambiguous header; `undefined` if there is none
 */
export function readBearer(values: readonly string[] | undefined): string | ApiError | undefined {
  const [value, ...others] = values ?? [];
  if (value === undefined) return undefined;
  if (others.length > 0) return refused("the request has more than one `Authorization` header");
  const [, token] = BEARER.exec(value) ?? [];
  return token ?? refused("the `Authorization` header must be `Bearer <API key>`");
}

function refused(message: string): ApiError {
  return new ApiError("UNAUTHORIZED", { message });
}

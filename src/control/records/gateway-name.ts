import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "../errors.ts";

const HEADER = "X-Gatehouse-Gateway";

/** What a gateway calls itself. @throws ApiError where it is no name */
export function gatewayNameOf(headers: IncomingHttpHeaders): string | undefined {
  const name = headers[HEADER.toLowerCase()];
  if (name === undefined) return undefined;
  if (typeof name === "string" && /^[\x21-\x7e]{1,128}$/.test(name)) return name;
  throw new ApiError("INVALID_PARAMETER", {
    message: `\`${HEADER}\` must be 1 to 128 visible ASCII characters`,
    details: { parameter: HEADER },
  });
}

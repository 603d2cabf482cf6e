import type { IncomingHttpHeaders } from "node:http";
import { GATEWAY_NAME_HEADER, isGatewayName } from "../../../protocol/index.ts";
import { ApiError } from "../../platform/errors.ts";

/** The gateway's name for itself. @throws ApiError if it is not valid */
export function gatewayNameOf(headers: IncomingHttpHeaders): string | undefined {
  const name = headers[GATEWAY_NAME_HEADER.toLowerCase()];
  if (name === undefined) return undefined;
  if (typeof name === "string" && isGatewayName(name)) return name;
  throw new ApiError("INVALID_PARAMETER", {
    message: `\`${GATEWAY_NAME_HEADER}\` must be 1 to 128 visible ASCII characters`,
    details: { parameter: GATEWAY_NAME_HEADER },
  });
}

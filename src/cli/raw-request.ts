import { createRawRequest, wireText } from "../decision/explain/index.ts";
import type { RawRequest } from "../request/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";

/**
 * Builds a request from command-line options.
 *
 * @param line - `METHOD /path?query`
 * @param headers - `name: value`
 * @throws ExitError if a line does not have that form
 */
export function rawRequest(line: string, headers: readonly string[], body: string | undefined): RawRequest {
  const space = line.indexOf(" ");
  if (space < 1)
    throw new ExitError(`\`${line}\` is not a method and a path such as "GET /api/orders"`, EXIT_USAGE);
  const pairs = headers.map((header) => {
    const colon = header.indexOf(":");
    if (colon < 1) throw new ExitError(`\`${header}\` is not a header such as "x-tier: gold"`, EXIT_USAGE);
    return [header.slice(0, colon).trim().toLowerCase(), wireText(header.slice(colon + 1).trim())] as const;
  });
  return createRawRequest({
    method: line.slice(0, space),
    target: line.slice(space + 1).trim(),
    headers: pairs,
    body,
  });
}

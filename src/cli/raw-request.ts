import { NO_BODY, type RawRequest } from "../request/index.ts";
import { EXIT_USAGE, ExitError } from "./exit.ts";

/** UTF-8 text as a door receives it: one latin1 character per byte. */
export function wireText(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

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

/** An HTTP/1.1 request to a host that no rule names, with a JSON body if there is one. */
export function createRawRequest(input: {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}): RawRequest {
  const hosts = input.headers.filter(([name]) => name === "host").map(([, value]) => value);
  const headers = input.headers.filter(([name]) => name !== "host");
  const base = {
    method: input.method,
    target: wireText(input.target),
    scheme: "http",
    // a repeated header is joined into one, as doors receive it
    host: hosts.length === 0 ? "gateway.local" : hosts.join(","),
    protocol: "HTTP/1.1",
  };
  if (input.body === undefined) return { ...base, headers, body: NO_BODY };
  const typed = headers.some(([name]) => name === "content-type");
  return {
    ...base,
    headers: typed ? headers : [...headers, ["content-type", "application/json"]],
    body: { bytes: new TextEncoder().encode(input.body), complete: true },
  };
}

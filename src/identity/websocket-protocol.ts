import { ENCODED_PREFIX } from "./token-sources.ts";
import { trimBlanks } from "./trim-blanks.ts";

/** What a handshake offers besides the token. */
export interface OfferedProtocols {
  /** Still encoded. */
  readonly tokens: readonly string[];
  readonly others: readonly string[];
}

/** Separates the subprotocols that carry a token from those that are offered to the application. */
export function readProtocols(values: readonly string[], prefix: string): OfferedProtocols {
  const offered = values.flatMap((value) => value.split(",")).map(trimBlanks);
  return {
    tokens: offered
      .filter((protocol) => protocol.startsWith(prefix))
      .map((protocol) => protocol.slice(prefix.length)),
    others: offered.filter((protocol) => !protocol.startsWith(prefix) && protocol !== ""),
  };
}

/** @returns the token; `undefined` if it is not in the form that the prefix requires */
export function decodeProtocolToken(encoded: string, prefix: string): string | undefined {
  if (!prefix.startsWith(ENCODED_PREFIX)) return encoded;
  const bytes = Buffer.from(encoded, "base64url");
  return bytes.toString("base64url") === encoded ? bytes.toString("latin1") : undefined;
}

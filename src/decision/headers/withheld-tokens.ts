import { PROTOCOL_HEADER, tokenHeaders, type TokenSources } from "../../identity/token-sources.ts";
import { readProtocols } from "../../identity/websocket-protocol.ts";
import type { RawRequest, Readings } from "../../request/types.ts";
import { withHeaders } from "./changed-readings.ts";

/**
 * Removes headers that only carry a token, and the subprotocol that does, from what rules read: the application does not
 * get them either.
 *
 * @returns the readings, and whether a subprotocol was removed
 */
export function readingsWithoutTokens(
  readings: Readings,
  sources: TokenSources,
): { readonly readings: Readings; readonly protocolWithheld: boolean } {
  const { headers } = readings.request;
  const others = protocolsLeft(headers[PROTOCOL_HEADER] ?? [], sources);
  const found = withheldHeaders(sources, (name) => headers[name] ?? []);
  if (found.length === 0 && others === undefined) return { readings, protocolWithheld: false };
  const changes = {
    ...Object.fromEntries(found.map((name) => [name, undefined])),
    ...(others !== undefined && { [PROTOCOL_HEADER]: [others] }),
  };
  return { readings: withHeaders(readings, changes), protocolWithheld: others !== undefined };
}

/** Headers to remove because they carry nothing but a token, or an API key that the application must not get. */
export function withheldHeaders(
  sources: TokenSources,
  valuesOf: (name: string) => readonly string[],
): readonly string[] {
  const present = tokenHeaders(sources).filter((name) => valuesOf(name).length > 0);
  return sources.apiKeys === "accept" && valuesOf(AUTHORIZATION).some(isKey)
    ? [...present, AUTHORIZATION]
    : present;
}

const AUTHORIZATION = "authorization";

/** Also one that is refused, or could not be looked up. */
function isKey(credentials: string): boolean {
  return /\bgh_(?:live|test)_/.test(credentials);
}

/** @returns the subprotocols for the application, as a header to set */
export function otherProtocols(
  headers: RawRequest["headers"],
  sources: TokenSources,
): readonly (readonly [name: string, value: string])[] {
  const values = headers.filter(([name]) => name === PROTOCOL_HEADER).map(([, value]) => value);
  const others = protocolsLeft(values, sources);
  return others === undefined ? [] : [[PROTOCOL_HEADER, others]];
}

/** @returns `undefined` if none of them carries a token */
function protocolsLeft(
  values: readonly string[],
  { websocketProtocol: prefix }: TokenSources,
): string | undefined {
  if (prefix === undefined || values.length === 0) return undefined;
  const { tokens, others } = readProtocols(values, prefix);
  return tokens.length === 0 ? undefined : others.join(", ");
}

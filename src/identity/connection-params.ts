import { isObject, JsonError, MAX_VALUES, parseJson, type JsonValue } from "../json/index.ts";
import { memberNames, similarMember } from "../names/index.ts";
import { fromCredentials, type ExtractedToken } from "./extract-token.ts";
import { isForeignToken } from "./foreign-token.ts";
import type { TokenSources } from "./token-sources.ts";

/** As deep as messages of GraphQL clients may be (envoy/lua/gatehouse/graphql_payload.lua). */
const MAX_DEPTH = 200;

/**
 * Finds the token in the first message of a GraphQL connection: in the configured members of its `payload`. The
 * application reads the same message, so whatever it could read in another way is malformed: repeated members, another
 * spelling of a configured name, members with different tokens.
 *
 * @param text - the message, `connection_init`
 */
export function tokenOfConnection(text: string, sources: TokenSources): ExtractedToken {
  const { connectionParams: paths = [], foreignTo } = sources;
  const payload = payloadOf(text);
  if (payload === undefined)
    return malformed("`connection_init` is not a message that every parser reads alike");
  if (similarMember(payload, memberNames(paths)) !== undefined)
    return malformed(
      "`connection_init` has a member that could be read as one of `identity.connection_params`",
    );
  const [first, ...others] = paths
    .map((path) => tokenOf(valueAt(payload, path)))
    .filter(({ kind }) => kind !== "none");
  if (first === undefined) return { kind: "none" };
  const all = [first, ...others];
  const bad = all.find(({ kind }) => kind === "malformed");
  if (bad !== undefined) return bad;
  if (!all.every((one) => "token" in one && "token" in first && one.token === first.token))
    return malformed("`connection_init` carries several different tokens");
  const isForeign = foreignTo !== undefined && "token" in first && isForeignToken(first.token, foreignTo);
  return isForeign ? { kind: "foreign" } : first;
}

/** @returns `null` if the message has none; `undefined` if it is not such a message, or ambiguous */
function payloadOf(text: string): JsonValue | undefined {
  try {
    const { value, duplicateMember } = parseJson(text, { depth: MAX_DEPTH, values: MAX_VALUES });
    if (duplicateMember || !isObject(value) || value["type"] !== "connection_init") return undefined;
    return value["payload"] ?? null;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function valueAt(payload: JsonValue, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = payload;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Clients without a token commonly send `null` or an empty text. */
function tokenOf(value: JsonValue | undefined): ExtractedToken {
  if (value === undefined || value === null || value === "") return { kind: "none" };
  return typeof value === "string"
    ? fromCredentials(value, "`connection_init`", "connection")
    : malformed("the token in `connection_init` is not a text");
}

function malformed(detail: string): ExtractedToken {
  return { kind: "malformed", detail };
}

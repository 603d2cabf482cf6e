import type { UnknownParts } from "../../decision/point/index.ts";
import type { MethodArn } from "./arn.ts";
import type { Named, RequestEvent } from "./event.ts";

/** RFC 3986, section 3.3: everything that needs an encoding in a path, and `%` itself. */
const ENCODED_IN_PATH = /[^A-Za-z0-9\-._~!$&'()*+,;=:@/]+/gu;

/** JSON cannot hold bytes that are not UTF-8; whoever wrote the event has put this character in their place. */
const REPLACED = "\uFFFD";

/**
 * A path that API Gateway has decoded, encoded again, so that the rules see its segments and nothing is decoded twice. How it
 * was sent is lost: `%2F` is a slash now.
 */
export function encodeDecoded(path: string): string {
  return path
    .split(REPLACED)
    .map((part) => part.replace(ENCODED_IN_PATH, encodeURIComponent))
    .join("%FF");
}

/**
 * Removes the stage or the base path of a custom domain from an event's path: the ARN has the path without them.
 *
 * @throws Error if what comes before the ARN's path is neither
 */
export function pathWithin(
  { path, stage }: Pick<RequestEvent, "path" | "stage">,
  arn: MethodArn,
  basePaths: readonly string[],
): string {
  const bases = ["", ...basePaths];
  for (const prefix of bases.flatMap((base) => [base, `${base}/${stage}`])) {
    if (!path.startsWith(prefix)) continue;
    const rest = path.slice(prefix.length) || "/";
    if (rest.startsWith("/") && isSame(rest, arn.path)) return rest;
  }
  throw new Error(
    "the event's path is not that of its ARN, after the stage or one of the base paths in `authz.aws.base_paths`",
  );
}

/** API Gateway decodes the two differently, and leaves out a slash at the end of the ARN. */
function isSame(path: string, ofArn: string): boolean {
  const [one, other] = [withoutSlash(path), withoutSlash(ofArn)];
  return one === other || decoded(one) === other || one === decoded(other);
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)\/$/s, "");
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The query as sent, as far as it is known, and what is not. */
export interface AwsQuery {
  /** Empty, or with its `?`. */
  readonly text: string;
  readonly unknown?: UnknownParts["query"];
}

export function queryOf(query: RequestEvent["query"]): AwsQuery {
  if ("decoded" in query) return fromDecoded(query.decoded);
  if (query.raw === "") return query.joined.length === 0 ? { text: "" } : { text: "", unknown: "all" };
  const text = `?${Buffer.from(query.raw).toString("latin1")}`;
  return isJoined(query.raw, query.joined) ? { text } : { text, unknown: "all" };
}

/**
 * Format 1.0 has decoded parameters. A `%` or `+` in one may be left of what was sent, in which case the application would
 * decode it again.
 */
function fromDecoded(named: Named): AwsQuery {
  const text = named.flatMap(([name, values]) =>
    values.map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
  );
  const unclear = named.filter(([, values]) => values.some(isUnclear)).map(([name]) => name);
  const unknown = named.some(([name]) => isUnclear(name)) ? "all" : new Set(unclear);
  return {
    text: text.length === 0 ? "" : `?${text.join("&")}`,
    ...((unknown === "all" || unknown.size > 0) && { unknown }),
  };
}

function isUnclear(text: string): boolean {
  return /[%+\uFFFD]/.test(text);
}

/** Whether API Gateway, which has joined equal names with commas, has read the query as everybody does. */
function isJoined(raw: string, joined: Named): boolean {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(raw)) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  return values.size === joined.length && joined.every(([name, [value]]) => values.get(name) === value);
}

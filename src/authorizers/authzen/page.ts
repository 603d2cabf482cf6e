import { createHash } from "node:crypto";
import { isObject, type JsonObject, type JsonValue } from "../../json/index.ts";
import { BadRequest, objectIn } from "./tuple.ts";

/** What a page of a search goes on from. */
export interface PageState {
  /** Changes whenever the candidates or their order could have changed. */
  readonly version: string;
  /** Everything that was asked, but for the page. */
  readonly question: JsonValue;
}

/** The page that a request asks for. */
export interface Page {
  /** The number of the first candidate. */
  readonly from: number;
  /** The most results. */
  readonly limit: number;
  /** @returns the token of the page that begins with this candidate */
  readonly tokenAt: (candidate: number) => string;
}

/**
 * Reads `page` of a search. A token says for which candidates and which question it was given: with others, its number would
 * be of somebody else.
 *
 * @throws BadRequest
 */
export function readPage(body: JsonObject, state: PageState): Page {
  const {
    token,
    limit,
    next_token: misnamed,
  } = body["page"] === undefined ? {} : objectIn(body["page"], "page");
  // it would begin again and again
  if (misnamed !== undefined)
    throw new BadRequest("`page.next_token` of an answer is `page.token` of the next request");
  const [version, question] = [digestOf(state.version), digestOf(state.question)];
  const most = limitIn(limit);
  const page = (from: number, at: string): Page => ({
    from,
    limit: at === "" ? Number.POSITIVE_INFINITY : Number(at),
    tokenAt: (candidate) => Buffer.from([version, question, at, candidate].join(".")).toString("base64url"),
  });
  if (token === undefined || token === "") return page(0, most ?? "");
  const given = typeof token === "string" ? partsOf(token) : undefined;
  if (given === undefined) throw new BadRequest("`page.token` is not one of this service");
  if (given.version !== version)
    throw new BadRequest(
      "the candidates have changed since `page.token` was given: search again from the first page",
    );
  if (given.question !== question || (most !== undefined && most !== given.limit))
    throw new BadRequest(
      "`page.token` was given for another question: repeat the request, with nothing changed but the token",
    );
  return page(given.from, given.limit);
}

function limitIn(limit: JsonValue | undefined): string | undefined {
  if (limit === undefined) return undefined;
  if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 0)
    throw new BadRequest("`page.limit` must be a whole number, 0 or greater");
  return String(limit);
}

function partsOf(token: string) {
  const [, version = "", question = "", limit = "", from] =
    /^([0-9a-f]{12})\.([0-9a-f]{12})\.([0-9]{0,16})\.([0-9]{1,9})$/.exec(
      Buffer.from(token, "base64url").toString("latin1"),
    ) ?? [];
  return from === undefined ? undefined : { version, question, limit, from: Number(from) };
}

/** The same whatever the order of members: a caller may build its request again. */
function digestOf(value: JsonValue): string {
  const text = JSON.stringify(value, (_key, inner: JsonValue) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

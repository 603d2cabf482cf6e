import { quotedAscii, redactTarget } from "../../text/index.ts";
import type { TargetPart, Reading } from "../reading.ts";
import type { RefusalCheck } from "../types.ts";

/** One thing that makes a request ambiguous. */
export interface Check {
  readonly check: RefusalCheck;
  /**
   * `unusual targets`: the check cannot find anything in a plain target (see `reading.ts`), so it is skipped for those.
   */
  readonly on: "all requests" | "unusual targets";
  readonly find: Finder;
}

/** What was found, for the detail of the refusal: printable ASCII without secrets. */
export type Finding = string | InQuery;

/** A finding that is not about the path. */
export interface InQuery {
  readonly in: "query";
  readonly detail: string;
}

export type Finder = (reading: Reading) => Finding | undefined;

/** @returns the first faulty part, with its position and what is wrong with it; values are not quoted */
export function findPart(
  reading: Reading,
  isWrong: (part: TargetPart) => boolean,
  what: string,
): Finding | undefined {
  const part = reading.decoded().parts.find(isWrong);
  if (part === undefined) return undefined;
  switch (part.kind) {
    case "segment":
      return `path segment ${part.position}, ${quotedAscii(redactTarget(part.raw))}, ${what}`;
    case "name":
    case "value":
      return inQuery(`the ${part.kind} of query parameter ${part.position} ${what}`);
  }
}

export function inQuery(detail: string): InQuery {
  return { in: "query", detail };
}

/** {@link findPart} among the segments of the path. */
export function findSegment(
  reading: Reading,
  isWrong: (segment: TargetPart) => boolean,
  what: string,
): Finding | undefined {
  return findPart(reading, (part) => part.kind === "segment" && isWrong(part), what);
}

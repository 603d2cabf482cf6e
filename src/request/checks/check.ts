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

/** @returns what was found, for the detail of the refusal, or `undefined`; printable ASCII without secrets */
export type Finder = (reading: Reading) => string | undefined;

/** @returns the first faulty part, with its position and what is wrong with it; values are not quoted */
export function findPart(
  reading: Reading,
  isWrong: (part: TargetPart) => boolean,
  what: string,
): string | undefined {
  const part = reading.decoded().parts.find(isWrong);
  if (part === undefined) return undefined;
  switch (part.kind) {
    case "segment":
      return `path segment ${part.position}, ${quotedAscii(redactTarget(part.raw))}, ${what}`;
    case "name":
      return `the name of query parameter ${part.position} ${what}`;
    case "value":
      return `the value of query parameter ${part.position} ${what}`;
  }
}

/** {@link findPart} among the segments of the path. */
export function findSegment(
  reading: Reading,
  isWrong: (segment: TargetPart) => boolean,
  what: string,
): string | undefined {
  return findPart(reading, (part) => part.kind === "segment" && isWrong(part), what);
}

import { decodePercent } from "./decode.ts";
import { SEMICOLON_LIKE } from "./look-alikes.ts";
import { OF_PATHS } from "./other-readings.ts";
import { pathReadings } from "./other-paths.ts";
import type { Reading } from "./reading.ts";
import {
  STATED_READINGS,
  type AcceptedUnder,
  type ReadOptions,
  type RefusalCheck,
  type StatedReading,
  type Switch,
} from "./types.ts";

/** What is accepted of one request, and how its path is read. */
export interface Acceptance {
  readonly switchedOff: ReadonlySet<Switch>;
  /** Undecoded segments to those that rules see. */
  readonly segmentsOf: (rawSegments: readonly string[]) => readonly string[];
  readonly stated?: StatedReading;
  /** Checks about which there is nothing more to read, because the operator states the reading. */
  readonly settled: ReadonlySet<RefusalCheck>;
}

const NO_SWITCHES: ReadonlySet<Switch> = new Set();
const NO_CHECKS: ReadonlySet<RefusalCheck> = new Set();

/** Whether some setting accepts what a check finds, for some path. */
export function isAcceptable({ switchedOff, under }: ReadOptions, check: RefusalCheck): boolean {
  return switchedOff?.has(check) === true || under?.some(({ checks }) => checks.has(check)) === true;
}

/**
 * Decides what is accepted of a request.
 *
 * A reading that the operator states for some paths counts only if it is stated for everything that was found in this
 * path, and no other reading is. Otherwise the application may read the path in every way, and what is accepted below a
 * path must be below it in all of them.
 *
 * @param found - the checks that found something
 */
export function acceptanceOf(
  reading: Reading,
  found: readonly RefusalCheck[],
  { switchedOff = NO_SWITCHES, under = [] }: ReadOptions,
): Acceptance {
  const everywhere = { switchedOff, segmentsOf: decoded, settled: NO_CHECKS };
  if (under.length === 0) return everywhere;
  const ofPath = found.filter((check) => OF_PATHS.includes(check));
  const [stated, contradiction] = readingsStated(reading, ofPath, under);
  if (stated !== undefined && contradiction === undefined) {
    const covering = under.filter(({ covers }) => covers(stated.segmentsOf(reading.rawSegments)));
    const settled = found.filter((check) => isStated(check, stated.stated, covering));
    return { ...stated, switchedOff: joined(switchedOff, covering), settled: new Set(settled) };
  }
  const paths = everyPath(reading, ofPath);
  if (paths === undefined) return everywhere;
  const covering = under.filter(({ covers }) => paths.every(covers));
  return covering.length === 0
    ? everywhere
    : { ...everywhere, switchedOff: joined(switchedOff, covering), settled: settledInQuery(found, covering) };
}

/** Every path that the application may read, given what was found; `undefined` if there are too many. */
function everyPath(
  { decoded: decode, rawSegments }: Reading,
  ofPath: readonly RefusalCheck[],
): readonly (readonly string[])[] | undefined {
  const { segments } = decode();
  if (ofPath.length === 0) return [segments];
  const others = pathReadings(rawSegments, ofPath.includes("encoded_unreserved"));
  return others && [segments, ...others.map((other) => other.segments)];
}

/** The readings that are stated for everything that was found in the path. */
function readingsStated(
  { rawSegments }: Reading,
  ofPath: readonly RefusalCheck[],
  under: readonly AcceptedUnder[],
) {
  if (ofPath.length === 0) return [];
  const ways = [
    { stated: "kept", segmentsOf: decoded },
    { stated: "resolved", segmentsOf: resolver(ofPath) },
  ] as const;
  return ways.filter(({ stated, segmentsOf }) => {
    const segments = segmentsOf(rawSegments);
    if (stated === "resolved" && isOpen(rawSegments, segments, ofPath)) return false;
    const covering = under.filter(({ covers }) => covers(segments));
    return ofPath.every((check) => isStated(check, stated, covering));
  });
}

function isStated(check: RefusalCheck, reading: StatedReading, covering: readonly AcceptedUnder[]): boolean {
  const meaningful: readonly RefusalCheck[] = STATED_READINGS[reading];
  return (
    meaningful.includes(check) && covering.some((one) => one.reading === reading && one.checks.has(check))
  );
}

/** What is stated about the query does not depend on how the path is read. */
function settledInQuery(
  found: readonly RefusalCheck[],
  covering: readonly AcceptedUnder[],
): ReadonlySet<RefusalCheck> {
  return new Set(found.filter((check) => !OF_PATHS.includes(check) && isStated(check, "kept", covering)));
}

function joined(switchedOff: ReadonlySet<Switch>, more: readonly AcceptedUnder[]): ReadonlySet<Switch> {
  return new Set([switchedOff, ...more.map(({ checks }) => checks)].flatMap((checks) => [...checks]));
}

function decoded(rawSegments: readonly string[]): readonly string[] {
  return rawSegments.map((raw) => decodePercent(raw).text);
}

function resolver(found: readonly RefusalCheck[]): Acceptance["segmentsOf"] {
  return (rawSegments) => {
    let segments = cutAndSplit(rawSegments, found);
    if (found.includes("empty_segment")) segments = segments.filter((segment) => segment !== "");
    // a trailing slash is the same resource (decision 0001)
    return decoded(withoutTrailing(segments));
  };
}

function cutAndSplit(rawSegments: readonly string[], found: readonly RefusalCheck[]): readonly string[] {
  const cut = found.includes("path_parameter")
    ? rawSegments.map((segment) => segment.split(";", 1).join(""))
    : rawSegments;
  return found.includes("encoded_slash") ? cut.flatMap((segment) => segment.split(/%2f/i)) : cut;
}

function withoutTrailing(segments: readonly string[]): readonly string[] {
  return segments.at(-1) === "" ? segments.slice(0, -1) : segments;
}

/**
 * Whether something is left that an application which resolves some things might resolve, too: `%3b`, which some decode
 * before they cut at `;`; a `%2f` after a `;`, which some split before they cut; and empty segments that appear where
 * something was cut or split, which some drop.
 */
function isOpen(
  rawSegments: readonly string[],
  segments: readonly string[],
  found: readonly RefusalCheck[],
): boolean {
  const empty = (all: readonly string[]) => withoutTrailing(all).filter((segment) => segment === "").length;
  return (
    rawSegments.some((segment) => /%2f/i.test(segment.split(";").slice(1).join(";"))) ||
    segments.some((segment) => segment === "" || SEMICOLON_LIKE.test(segment)) ||
    empty(cutAndSplit(rawSegments, found)) > empty(rawSegments)
  );
}

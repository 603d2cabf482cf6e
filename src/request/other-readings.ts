import { methodOverrides } from "./checks/overrides.ts";
import { encodePath } from "./encode-path.ts";
import {
  DECODERS,
  MAX_CHARACTERS,
  MAX_READINGS,
  pathReadings,
  untilControl,
  withoutControls,
} from "./other-paths.ts";
import type { Reading } from "./reading.ts";
import type { CanonicalRequest, RefusalCheck } from "./types.ts";

/** Checks whose findings allow other readings, in the path and in query values. */
const OF_VALUES: readonly RefusalCheck[] = [
  "control_character",
  "malformed_percent_encoding",
  "invalid_utf8",
];
export const OF_PATHS: readonly RefusalCheck[] = [
  ...OF_VALUES,
  "encoded_slash",
  "slash_like",
  "double_encoding",
  "dot_segment",
  "path_parameter",
  "file_stream",
  "encoded_delimiter",
  "empty_segment",
  "encoded_unreserved",
];

/**
 * The other readings of a request that is ambiguous but accepted: other paths, queries and methods that an application
 * may use.
 *
 * @returns `undefined` if there are too many to evaluate
 */
export function otherReadings(
  request: CanonicalRequest,
  reading: Reading,
  accepted: readonly RefusalCheck[],
): readonly CanonicalRequest[] | undefined {
  const paths = accepted.some((check) => OF_PATHS.includes(check))
    ? pathReadings(reading.rawSegments, accepted.includes("encoded_unreserved"))
    : [];
  if (paths === undefined) return undefined;
  const methods = accepted.includes("method_override") ? methodOverrides(reading) : [];
  const queries = queryReadings(reading, accepted);
  if (queries === undefined) return undefined;
  if (methods.length > MAX_READINGS) return undefined;
  const readings = new Map<string, CanonicalRequest>();
  const add = (one: CanonicalRequest) =>
    readings.set(JSON.stringify([one.method, one.segments, Object.entries(one.query)]), one);
  add(request);
  for (const method of [request.method, ...methods]) {
    for (const query of [request.query, ...queries]) {
      add({ ...request, method, query });
      for (const path of paths) {
        if (readings.size > MAX_READINGS) return undefined;
        const { segments } = path;
        const more = path.query === "" ? query : joined(query, toQuery(splitParameters(path.query, "&")));
        add({ ...request, method, query: more, segments, path: pathOf(request, segments) });
      }
    }
  }
  return readings.size > MAX_READINGS ? undefined : [...readings.values()].slice(1);
}

/** The unchanged path, for readings that differ elsewhere. */
function pathOf(request: CanonicalRequest, segments: readonly string[]): string {
  const same = JSON.stringify(segments) === JSON.stringify(request.segments);
  return same ? request.path : encodePath(segments, false);
}

type Query = CanonicalRequest["query"];
type Parameter = readonly [name: string, value: string];

/**
 * Every reading of the query: split at `;` or not, and decoded in different ways.
 *
 * @returns `undefined` if producing them would take too long
 */
function queryReadings(
  { rawQuery }: Reading,
  accepted: readonly RefusalCheck[],
): readonly Query[] | undefined {
  const separators = accepted.includes("query_separator") ? ["&", /[&;]/] : ["&"];
  const ways = accepted.some((check) => OF_VALUES.includes(check)) ? DECODERS : DECODERS.slice(0, 1);
  if (separators.length === 1 && ways.length === 1) return [];
  if (ways.length > 1 && rawQuery.length > MAX_CHARACTERS) return undefined;
  return separators.flatMap((separator) => {
    const parameters = splitParameters(rawQuery.replaceAll("+", " "), separator);
    return ways.flatMap((way) => {
      // each is decoded once, then read in every way of treating control characters
      const decoded = parameters.map(([name, value]): Parameter => [way(name), way(value)]);
      return CONTROLS.map((change) => toQuery(decoded.map(([name, value]) => [change(name), change(value)])));
    });
  });
}

/** Other control characters are text in a value, see `checks/target.ts`. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
const whereControl = (change: (text: string) => string) => (text: string) =>
  CONTROL.test(text) ? change(text) : text;

const CONTROLS: readonly ((text: string) => string)[] = [
  (text) => text,
  whereControl(withoutControls),
  whereControl(untilControl),
];

function splitParameters(query: string, separator: string | RegExp): readonly Parameter[] {
  return query
    .split(separator)
    .filter((parameter) => parameter !== "")
    .map((parameter) => {
      const equals = parameter.indexOf("=");
      return equals < 0 ? [parameter, ""] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
    });
}

/** Repeated parameters become lists. Null prototype. */
export function toQuery(parameters: readonly Parameter[]): Query {
  const query = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of parameters) {
    const values = query[name];
    if (values === undefined) query[name] = [value];
    else values.push(value);
  }
  return query;
}

function joined(one: Query, other: Query): Query {
  const parameters = [one, other].flatMap((query) =>
    Object.entries(query).flatMap(([name, values]) => values.map((value): Parameter => [name, value])),
  );
  return toQuery(parameters);
}

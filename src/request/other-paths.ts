import { decodeUtf8 } from "../text/index.ts";
import { FILE_STREAM, foldDots, SEMICOLON_LIKE, SLASH_LIKE } from "./look-alikes.ts";

/** A path that an application may read. */
export interface PathReading {
  readonly segments: readonly string[];
  /** The part that became a query because the path ends before it; decoded. */
  readonly query: string;
}

/** An intermediate reading. Which of the steps below an application takes, and in which order, is not known. */
interface State extends PathReading {
  /** True if it has been percent-decoded at least once. */
  readonly decoded: boolean;
}

/** Limits the length: each reading is produced by scanning the whole path, sometimes a hundred times. */
export const MAX_CHARACTERS = 2048;
const MAX_SEGMENTS = 64;
const MAX_STATES = 400;
/** Limits the number of readings: each of them is matched against the rules. */
export const MAX_READINGS = 16;

/**
 * Every reading of a path that results from the steps below, each taken or not, in any order: an application decodes
 * once or twice, splits at `%2f` or not, drops or keeps `;x=1`, and resolves `..` before or after that.
 *
 * @param rawSegments - undecoded, without the empty one of a trailing slash
 * @param undecoded - whether the path as sent is also a reading
 * @returns `undefined` if there are too many, or producing them would take too long
 */
export function pathReadings(
  rawSegments: readonly string[],
  undecoded = false,
): readonly PathReading[] | undefined {
  const length = rawSegments.reduce((sum, segment) => sum + segment.length + 1, 0);
  if (rawSegments.length > MAX_SEGMENTS || length > MAX_CHARACTERS) return undefined;
  const seen = new Set<string>();
  const states: State[] = [];
  const readings = new Map<string, PathReading>();
  const add = (state: State) => {
    const last = state.segments.length - 1;
    // a trailing slash is the same resource (decision 0001)
    const segments = state.segments[last] === "" ? state.segments.slice(0, last) : state.segments;
    const key = JSON.stringify([segments, state.query]);
    const known = `${state.decoded} ${key}`;
    if (seen.has(known)) return;
    seen.add(known);
    states.push({ ...state, segments });
    if (state.decoded || undecoded) readings.set(key, { segments, query: state.query });
  };
  add({ segments: rawSegments, query: "", decoded: false });
  // readings that a step adds are visited later
  for (const state of states) {
    if (states.length > MAX_STATES || readings.size > MAX_READINGS) return undefined;
    for (const step of STEPS) step(state).forEach(add);
  }
  return readings.size > MAX_READINGS ? undefined : [...readings.values()];
}

type Step = (state: State) => readonly State[];

const STEPS: readonly Step[] = [
  decode,
  changing(splitAt("/")),
  changing(splitAt("\\")),
  changing(splitAt(SLASH_LIKE)),
  changing((segments) => segments.map((segment) => segment.split(SEMICOLON_LIKE, 1).join(""))),
  changing((segments) => segments.map(withoutStream)),
  changing((segments) => segments.filter((segment) => segment !== "")),
  changing(withoutAuthority),
  changing(resolveDots),
  changing((segments) => segments.map(plainDots)),
  changing((segments) => segments.map(withoutControls)),
  changing(cutAtControl),
  cutAtDelimiter,
];

/** A step that changes only the segments. */
function changing(change: (segments: readonly string[]) => readonly string[]): Step {
  return (state) => [{ ...state, segments: change(state.segments) }];
}

function splitAt(separator: string | RegExp): (segments: readonly string[]) => readonly string[] {
  return (segments) => segments.flatMap((segment) => segment.split(separator));
}

/**
 * `//host/path` is a reference with an authority (RFC 3986, section 4.2); browsers' URL parsers skip further slashes.
 */
function withoutAuthority(segments: readonly string[]): readonly string[] {
  if (segments[0] !== "") return segments;
  const host = segments.findIndex((segment) => segment !== "");
  return host < 0 ? segments : segments.slice(host + 1);
}

/** RFC 3986, section 5.2.4. */
function resolveDots(segments: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  }
  return kept;
}

const DOTS = /^ *(\.{1,2}) *$/;

/** Characters that some stacks turn into dots, and trailing blanks, which Windows drops. */
function plainDots(segment: string): string {
  return DOTS.exec(foldDots(segment))?.[1] ?? segment;
}

function withoutStream(segment: string): string {
  return FILE_STREAM.test(segment) ? segment.split(":", 1).join("") : segment;
}

const CONTROLS = /[\0-\x1f\x7f-\x9f]/g;
const CONTROL = /[\0-\x1f\x7f-\x9f]/;

/** Browsers' URL parsers drop tabs and line breaks. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, "");
}

/** In C a string ends at NUL, and in line protocols at the end of the line. */
export function untilControl(text: string): string {
  return text.split(CONTROL, 1).join("");
}

function cutAtControl(segments: readonly string[]): readonly string[] {
  const index = segments.findIndex((segment) => CONTROL.test(segment));
  return index < 0 ? segments : [...segments.slice(0, index), untilControl(segments[index] ?? "")];
}

function cutAtDelimiter(state: State): readonly State[] {
  const { segments, decoded, query } = state;
  const index = !decoded ? -1 : segments.findIndex((segment) => /[?#]/.test(segment));
  const segment = segments[index];
  if (segment === undefined) return [];
  const mark = segment.search(/[?#]/);
  const rest = [segment.slice(mark + 1), ...segments.slice(index + 1)].join("/");
  const further = segment[mark] === "?" ? rest : "";
  return [
    {
      decoded,
      segments: [...segments.slice(0, index), segment.slice(0, mark)],
      query: [query, further].filter((part) => part !== "").join("&"),
    },
  ];
}

/** Decodes once for certain, and again only if something is left to decode. */
function decode(state: State): readonly State[] {
  const { segments, decoded } = state;
  if (decoded && !segments.some((segment) => ENCODED.test(segment))) return [];
  return DECODERS.map((decoder) => ({ ...state, decoded: true, segments: segments.map(decoder) }));
}

const ENCODED = /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i;
const RUN = /(?:%[0-9a-f]{2})+/gi;
const IIS = /%u([0-9a-f]{4})/gi;

/**
 * The ways in which stacks percent-decode. They differ in invalid UTF-8 and in `%uXXXX`. The first is that of
 * `decodePercent`.
 */
export const DECODERS: readonly ((text: string) => string)[] = [
  (text) => decodeRuns(text, (_, read) => read),
  (text) => decodeRuns(text, (bytes) => String.fromCharCode(...bytes)),
  (text) => decodeRuns(text, (_, read) => read.replaceAll("\ufffd", "")),
  (text) => decodeRuns(text, overlong),
  (text) =>
    decodeRuns(
      text.replace(IIS, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
      (_, read) => read,
    ),
];

/** @param otherwise - decodes invalid UTF-8, for which there is also a reading with U+FFFD */
function decodeRuns(text: string, otherwise: (bytes: Uint8Array, read: string) => string): string {
  return text.replace(RUN, (run) => {
    const bytes = Uint8Array.from(run.slice(1).split("%"), (hex) => parseInt(hex, 16));
    const { text: read, valid } = decodeUtf8(bytes);
    return valid ? read : otherwise(bytes, read);
  });
}

function utf8(bytes: Uint8Array): string {
  return decodeUtf8(bytes).text;
}

/** Old decoders read `c0 af`, `e0 80 af` and `f0 80 80 af` as `/`. */
function overlong(bytes: Uint8Array): string {
  let text = "";
  let rest = 0;
  while (rest < bytes.length) {
    const lead = bytes[rest] ?? 0;
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    const sequence = bytes.subarray(rest, rest + length);
    const code = sequence.reduce(
      (sum, byte, index) => (index === 0 ? lead & (0x7f >> length) : (sum << 6) | (byte & 0x3f)),
      0,
    );
    text +=
      length > 1 && sequence.length === length && code < 0x80 ? String.fromCharCode(code) : utf8(sequence);
    rest += length;
  }
  return text;
}

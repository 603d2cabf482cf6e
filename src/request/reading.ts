import { decodePercent, type Decoded } from "./decode.ts";
import { readHeaders, type HeaderReading } from "./read-headers.ts";
import { readHost, type HostReading } from "./read-host.ts";
import { splitTarget } from "./split-target.ts";
import type { RawRequest } from "./types.ts";

/** A part of the target, raw and decoded. */
export interface TargetPart extends Decoded {
  readonly kind: "segment" | "name" | "value";
  /** Counted from 1. A value has the number of its name. */
  readonly position: number;
  readonly raw: string;
}

/** A target after percent-decoding. */
export interface DecodedTarget {
  readonly segments: readonly string[];
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** Every segment, parameter name and parameter value, unless the target is plain. */
  readonly parts: readonly TargetPart[];
}

/**
 * The most lenient reading of a request: its meaning if every check is switched off. Creating it never fails; the
 * checks examine it for problems.
 */
export interface Reading {
  readonly raw: RawRequest;
  /** False if the target has no path at all: no option makes such a request readable. */
  readonly readable: boolean;
  readonly originForm: boolean;
  /** The authority of an absolute-form target. */
  readonly targetAuthority: string | undefined;
  /** The target's characters and form are such that all stacks read it alike; `parts` is then empty. */
  readonly plain: boolean;
  readonly rawPath: string;
  readonly rawQuery: string;
  /** Undecoded, without the empty one of a trailing slash. */
  readonly rawSegments: readonly string[];
  readonly trailingSlash: boolean;
  /** Undecoded, without empty ones. */
  readonly rawParameters: readonly string[];
  /** The decoded target. Computed on first use, so that a target with too many parts costs no more. */
  readonly decoded: () => DecodedTarget;
  readonly headers: HeaderReading;
  readonly host: HostReading;
}

/**
 * A path of non-empty segments that do not begin with a full stop and do not contain `:$`, and a query, both of
 * characters that need no decoding. Each repetition begins with a distinct character, so that matching is linear.
 */
const PLAIN_TARGET =
  /^(?=\/)(?![^?]*:\$)(?:\/[\w\-~!$&'()*+,=:@][\w\-.~!$&'()*+,=:@]*)*\/?(?:\?[\w\-.~!$&'()*,=:@/?]*)?$/;

/** Reads a request as leniently as possible. */
export function read(raw: RawRequest): Reading {
  const plain = PLAIN_TARGET.test(raw.target);
  const { form, authority, path, query } = splitTarget(raw);
  const rawSegments = path === "*" ? [] : path.split("/").slice(1);
  const trailingSlash = rawSegments.at(-1) === "";
  if (trailingSlash) rawSegments.pop();
  const rawParameters = query === "" ? [] : query.split("&").filter((parameter) => parameter !== "");

  let decoded: DecodedTarget | undefined;
  return {
    raw,
    readable: form !== "none",
    originForm: form === "origin",
    targetAuthority: authority,
    plain,
    rawPath: path,
    rawQuery: query,
    rawSegments,
    trailingSlash,
    rawParameters,
    decoded: () =>
      (decoded ??= plain ? asItIs(rawSegments, rawParameters) : decode(rawSegments, rawParameters)),
    headers: readHeaders(raw.headers),
    host: readHost(authority ?? raw.host),
  };
}

const NO_PARTS: readonly TargetPart[] = [];

function asItIs(segments: readonly string[], rawParameters: readonly string[]): DecodedTarget {
  return { segments, parameters: rawParameters.map(splitParameter), parts: NO_PARTS };
}

function decode(rawSegments: readonly string[], rawParameters: readonly string[]): DecodedTarget {
  const parts: TargetPart[] = [];
  const decodePart = (kind: TargetPart["kind"], position: number, raw: string): string => {
    const decoded = decodePercent(raw);
    parts.push({ kind, position, raw, ...decoded });
    return decoded.text;
  };
  const segments = rawSegments.map((raw, index) => decodePart("segment", index + 1, raw));
  const parameters = rawParameters.map((raw, index) => {
    // application/x-www-form-urlencoded, as every server reads a query: `+` is a space
    const [name, value] = splitParameter(raw.replaceAll("+", " "));
    return [decodePart("name", index + 1, name), decodePart("value", index + 1, value)] as const;
  });
  return { segments, parameters, parts };
}

function splitParameter(parameter: string): readonly [name: string, value: string] {
  const equals = parameter.indexOf("=");
  return equals < 0 ? [parameter, ""] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
}

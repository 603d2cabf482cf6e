import { FILE_STREAM, foldDots, SEMICOLON_LIKE, SLASH_LIKE } from "../look-alikes.ts";
import { findSegment, type Finder } from "./check.ts";

/** A slash within a segment (`%2f`): the application may split there. If switched off, it is a character of its segment. */
export const encodedSlash: Finder = (reading) =>
  findSegment(reading, ({ text }) => text.includes("/"), "contains an encoded slash");

/** The same for `\`, `%5c`, and characters that some stack turns into a slash or backslash. */
export const slashLike: Finder = (reading) =>
  findSegment(
    reading,
    ({ text }) => SLASH_LIKE.test(text.replaceAll("/", "")),
    "contains a character that may become a slash",
  );

/** IIS and old JavaScript also decode `%uXXXX`. */
const STILL_ENCODED = /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i;

/**
 * A segment that can be decoded a second time (`100%25` cannot). Checked only in the path: queries often contain whole
 * URIs.
 */
export const doubleEncoding: Finder = (reading) =>
  findSegment(reading, ({ text }) => STILL_ENCODED.test(text), "is percent-encoded twice");

/** Windows drops spaces at the end of a name. */
const DOTS = /^ *\.{1,2} *$/;

/**
 * `.` and `..` (RFC 3986, section 5.2.4) in every spelling: encoded, before a `;` that is cut off later, or next to an
 * encoded slash. Envoy removes plain dot segments first, so the ones that arrive were disguised on purpose. If switched
 * off, they are ordinary segments.
 */
export const dotSegment: Finder = (reading) =>
  findSegment(reading, ({ text }) => isDotSegment(text), "is a dot segment");

function isDotSegment(text: string): boolean {
  const pieces = foldDots(text).split(SLASH_LIKE);
  return pieces.some((piece) => DOTS.test(piece.split(SEMICOLON_LIKE, 1).join("")));
}

/** `;`, raw or encoded: path parameters (RFC 3986, section 3.3), which Java servers cut off and others keep. */
export const pathParameter: Finder = (reading) =>
  findSegment(reading, ({ text }) => SEMICOLON_LIKE.test(text), "holds a `;`");

/**
 * On NTFS, `a.txt::$DATA` is the file `a.txt` and `a:$i30:$INDEX_ALLOCATION` is the folder `a`: a name, a stream and
 * its type. If switched off, it is part of the segment.
 */
export const fileStream: Finder = (reading) =>
  findSegment(reading, ({ text }) => FILE_STREAM.test(text), "names an NTFS file stream");

/** `%3f` and `%23`: if decoded too early, the rest becomes query or fragment. */
export const encodedDelimiter: Finder = (reading) =>
  findSegment(reading, ({ raw }) => /%(?:3f|23)/i.test(raw), "contains an encoded `?` or `#`");

/**
 * Letters, digits, `-`, `.` and `_`, encoded (RFC 3986, section 2.3). Not `~`: RFC 1738 told clients to encode it, and many
 * still do, so `%7E` is one of the variants.
 */
const ENCODED_UNRESERVED = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/i;

/**
 * `%61` for `a`: the same URI (RFC 3986, section 6.2.2.2), but routers that match the undecoded path see a different
 * one. A literal in a rule here may be a parameter of a route there.
 */
export const encodedUnreserved: Finder = (reading) =>
  findSegment(
    reading,
    // dot segments have a check of their own
    ({ raw, text }) => ENCODED_UNRESERVED.test(isDotSegment(text) ? raw.replaceAll(/%2e/gi, "") : raw),
    "has a percent-encoded unreserved character",
  );

/** `//` anywhere but at the end of the path: some stacks merge it, for others it is an empty segment. */
export const emptySegment: Finder = (reading) => findSegment(reading, ({ text }) => text === "", "is empty");

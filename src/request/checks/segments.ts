import { FILE_STREAM, foldDots, SEMICOLON_LIKE, SLASH_LIKE } from "../look-alikes.ts";
import { findSegment, type Finder } from "./check.ts";

/**
 * A slash or backslash within a segment (`%2f`, `\`, `%5c`), or what becomes one: the next stack may split there.
 * Switched off, it is a character of its segment.
 */
export const encodedSlash: Finder = (reading) =>
  findSegment(reading, ({ text }) => SLASH_LIKE.test(text), "holds a slash or backslash");

/** `%uXXXX` is what IIS and old JavaScript also decode. */
const STILL_ENCODED = /%(?:[0-9a-f]{2}|u[0-9a-f]{4})/i;

/** A segment that can be decoded once more. `100%25` cannot. Only in the path: queries often carry whole URIs. */
export const doubleEncoding: Finder = (reading) =>
  findSegment(reading, ({ text }) => STILL_ENCODED.test(text), "is encoded twice");

/** Windows drops spaces at the end of a name. */
const DOTS = /^ *\.{1,2} *$/;

/**
 * `.` and `..` (RFC 3986, section 5.2.4) in every spelling: encoded, before a `;` that is cut off later, or beside a
 * slash that an application has taken for granted. Envoy removes the plain ones before; what arrives is meant to get
 * through. Switched off, they are segments like others.
 */
export const dotSegment: Finder = (reading) =>
  findSegment(reading, ({ text }) => isDotSegment(text), "is a dot segment");

function isDotSegment(text: string): boolean {
  const pieces = foldDots(text).split(SLASH_LIKE);
  return pieces.some((piece) => DOTS.test(piece.split(SEMICOLON_LIKE, 1).join("")));
}

/** `;`, raw or encoded: parameters of RFC 3986 section 3.3, which Java servers cut off and others keep. */
export const pathParameter: Finder = (reading) =>
  findSegment(reading, ({ text }) => SEMICOLON_LIKE.test(text), "holds a `;`");

/**
 * `a.txt::$DATA` is `a.txt` for NTFS, and `a:$i30:$INDEX_ALLOCATION` the folder `a`: a name, a stream, its type. Switched off, it
 * is part of the segment.
 */
export const fileStream: Finder = (reading) =>
  findSegment(reading, ({ text }) => FILE_STREAM.test(text), "names a stream of a file");

/** `%3f` and `%23`: decoded too early, what follows is query or fragment. */
export const encodedDelimiter: Finder = (reading) =>
  findSegment(reading, ({ raw }) => /%(?:3f|23)/i.test(raw), "holds an encoded `?` or `#`");

/** Letters, digits, `-`, `.`, `_` and `~`, encoded (RFC 3986, section 2.3). */
const ENCODED_UNRESERVED = /%(?:2[de]|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/i;

/**
 * `%61` for `a`: the same URI (RFC 3986, section 6.2.2.2), and yet routers that match the path undecoded take it for another one:
 * what is a rule's name here is anybody's parameter there.
 */
export const encodedUnreserved: Finder = (reading) =>
  findSegment(
    reading,
    // the dots of a dot segment have a check of their own
    ({ raw, text }) => ENCODED_UNRESERVED.test(isDotSegment(text) ? raw.replaceAll(/%2e/gi, "") : raw),
    "encodes what needs no encoding",
  );

/** `//` anywhere but at the end of the path is merged by some and a segment for others. */
export const emptySegment: Finder = (reading) => findSegment(reading, ({ text }) => text === "", "is empty");

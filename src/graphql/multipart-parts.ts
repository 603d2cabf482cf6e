import { malformed } from "./types.ts";

/** One part of `multipart/form-data` (RFC 7578). */
export interface MultipartPart {
  readonly name: string;
  /** A part that has one is a file. */
  readonly filename: string | undefined;
  /** Empty if there is none. */
  readonly type: string;
  readonly content: Uint8Array;
}

/** RFC 2046, section 5.1.1, except characters that need quoting, which are never used. */
const CONTENT_TYPE =
  /^multipart\/form-data[ \t]*;[ \t]*boundary=(?:([0-9A-Za-z'+_.-]{1,70})|"([0-9A-Za-z'()+_,./:=?-]{1,70})")$/i;

const MAX_PARTS = 100;
/** Maximum size of a part's headers, in bytes. */
const MAX_HEAD = 4096;

/**
 * Splits a body by its boundary, strictly as in RFC 2046, section 5.1.1: no preamble, epilogue or padding, and only
 * CRLF. A boundary anywhere else is refused, because lenient parsers accept `LF--boundary`.
 *
 * @throws GraphqlRefusal
 */
export function readParts(contentType: string, body: Uint8Array): MultipartPart[] {
  const [, token, quoted] = CONTENT_TYPE.exec(contentType) ?? [];
  const boundary =
    token ?? quoted ?? malformed("the content type must have `boundary` as its only parameter");
  // files may be long: only the heads become text
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = `--${boundary}`;
  const pieces: Buffer[] = [];
  let [start, at] = [0, bytes.indexOf(delimiter)];
  if (at !== 0) malformed("the body must begin with the boundary");
  for (;;) {
    start = at + delimiter.length;
    at = bytes.indexOf(delimiter, start);
    if (at < 0) break;
    if (pieces.length === MAX_PARTS) malformed(`more than ${MAX_PARTS} parts`);
    pieces.push(bytes.subarray(start, at));
  }
  const end = bytes.length - start > 4 ? "" : bytes.toString("latin1", start);
  const closed = end === "--" || end === "--\r\n";
  if (!closed || pieces.length === 0) malformed("the body must end with the boundary");
  return pieces.map(readPart);
}

const EMPTY_LINE = "\r\n\r\n";

/** CRLF, headers, an empty line, the content, CRLF. */
function readPart(piece: Buffer): MultipartPart {
  const head = piece.toString("latin1", 0, MAX_HEAD);
  const length = head.indexOf(EMPTY_LINE);
  const start = length + EMPTY_LINE.length;
  const framed = head.startsWith("\r\n") && piece.toString("latin1", piece.length - 2) === "\r\n";
  if (length < 0 || start > piece.length - 2 || !framed) return malformed("a part is not well-formed");
  const headers = readHeaders(head.slice(2, length));
  const [, name = "", filename] = DISPOSITION.exec(headers.get("content-disposition") ?? "") ?? [];
  if (name === "") return malformed("a part has no name");
  const content = piece.subarray(start, -2);
  return { name, filename, type: headers.get("content-type") ?? "", content };
}

/** RFC 7578, section 4.2: `filename*` is not allowed. Text that needs escapes is read in several ways. */
const DISPOSITION =
  /^form-data; ?name="([^"\\\0-\x1f\x7f]{1,200})"(?:; ?filename="([^"\\\0-\x1f\x7f]{0,1000})")?$/i;
const HEADER = /^(content-disposition|content-type):[ \t]*((?:[^\0-\x20\x7f][^\0-\x1f\x7f]*)?)$/i;

function readHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const [, name = "", value = ""] = HEADER.exec(line) ?? [];
    if (name === "" || headers.has(name.toLowerCase()))
      malformed("a part has headers that are not allowed in form data");
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

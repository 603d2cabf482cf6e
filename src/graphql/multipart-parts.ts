import { malformed } from "./types.ts";

/** One part of `multipart/form-data` (RFC 7578). */
export interface MultipartPart {
  readonly name: string;
  /** True if it has a file name and is therefore a file. */
  readonly filename: boolean;
  /** Empty if there is none. */
  readonly type: string;
  /** latin1: one character per byte. */
  readonly content: string;
}

/** RFC 2046, section 5.1.1, except characters that need quoting, which are never used. */
const CONTENT_TYPE =
  /^multipart\/form-data[ \t]*;[ \t]*boundary=(?:([0-9A-Za-z'+_.-]{1,70})|"([0-9A-Za-z'()+_,./:=?-]{1,70})")$/i;

const MAX_PARTS = 100;

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
  const [preamble, ...pieces] = latin1(body).split(`--${boundary}`);
  const end = pieces.pop();
  const closed = end === "--" || end === "--\r\n";
  if (preamble !== "" || !closed || pieces.length === 0)
    malformed("the body must begin and end with the boundary");
  if (pieces.length > MAX_PARTS) malformed(`more than ${MAX_PARTS} parts`);
  return pieces.map(readPart);
}

/** CRLF, headers, an empty line, the content, CRLF. */
function readPart(piece: string): MultipartPart {
  const head = piece.indexOf("\r\n\r\n");
  if (!piece.startsWith("\r\n") || head < 0 || head + 4 > piece.length - 2 || !piece.endsWith("\r\n")) {
    return malformed("a part is not well-formed");
  }
  const headers = readHeaders(piece.slice(2, head));
  const [, name = "", filename] = DISPOSITION.exec(headers.get("content-disposition") ?? "") ?? [];
  if (name === "") return malformed("a part has no name");
  const content = piece.slice(head + 4, -2);
  return { name, filename: filename !== undefined, type: headers.get("content-type") ?? "", content };
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

/** A number of arguments that a call can always take. */
const CHUNK = 8192;

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}

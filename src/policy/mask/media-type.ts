/**
 * How a response can be read: JSON, JSON lines, or events. `undefined` for everything else, and for ambiguous types.
 * Equivalent to `envoy/lua/gatehouse/media_type.lua`.
 */
export function mediaKind(value: string | undefined): "json" | "lines" | "events" | undefined {
  const type = singleType(value, (charset) => UTF8.has(charset));
  if (type === undefined) return undefined;
  if (JSON_TYPES.has(type) || /^application\/[^/]+\+json$/.test(type)) return "json";
  if (LINE_TYPES.has(type)) return "lines";
  return type === "text/event-stream" ? "events" : undefined;
}

/** A type that may pass if the rules allow it: JSON is never served under it, except to mislead. */
export type OtherKind = "markup" | "data";

/**
 * @returns the kind of a type that may pass; `undefined` for all others, including `text/plain` and similar types,
 *   which may be anything
 */
export function otherKind(value: string | undefined): OtherKind | undefined {
  const type = singleType(value, isLikeAscii);
  if (type === undefined || type.includes("json")) return undefined;
  if (MARKUP_TYPES.has(type) || /^application\/[a-z0-9_.-]+\+xml$/.test(type)) return "markup";
  return DATA_TYPES.has(type) || DATA_FAMILIES.some((family) => family.test(type)) ? "data" : undefined;
}

const JSON_TYPES = new Set(["application/json", "text/json"]);
const LINE_TYPES = new Set(
  // the last is Spring's name for it
  ["x-ndjson", "ndjson", "jsonl", "x-jsonlines", "json-lines", "stream+json"].map(
    (name) => `application/${name}`,
  ),
);
const MARKUP_TYPES = new Set(["text/html", "text/xml", "application/xml", "image/svg+xml"]);
const DATA_TYPES = new Set([
  ...["text/csv", "text/tab-separated-values", "text/css", "text/calendar", "text/vcard"],
  ...["application/pdf", "application/zip", "application/epub+zip", "application/rtf", "application/msword"],
  ...["application/vnd.ms-excel", "application/vnd.ms-powerpoint", "application/wasm"],
]);
const DATA_FAMILIES = [
  /^(?:image|audio|video|font)\/[a-z0-9.-]+$/,
  /^application\/vnd\.(?:openxmlformats-officedocument|oasis\.opendocument)\.[a-z0-9.-]+$/,
];

const UTF8 = new Set(["utf-8", "utf8", "us-ascii"]);
const LIKE_ASCII = new Set([
  ...[...UTF8, "utf-16", "utf-16le", "utf-16be", "shift_jis", "euc-jp", "euc-kr"],
  ...["gb2312", "gbk", "gb18030", "big5", "koi8-r"],
]);
const isLikeAscii = (charset: string) =>
  LIKE_ASCII.has(charset) || /^(?:iso-8859-\d\d?|windows-125\d)$/.test(charset);

const LONGEST = 256;
const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+";
const TYPE = new RegExp(`^[ \\t]*(${TOKEN}/${TOKEN})`);
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(${TOKEN})=(?:(${TOKEN})|"([^"\\\\]*)")`, "y");
const END = /[ \t]*;?[ \t]*$/y;

/** @returns the single type of a Content-Type with valid parameters, in lower case */
function singleType(value: string | undefined, isGood: (charset: string) => boolean): string | undefined {
  if (value === undefined || value.length > LONGEST) return undefined;
  const text = value.toLowerCase();
  const [start = "", type] = TYPE.exec(text) ?? [];
  if (type === undefined) return undefined;
  const seen = new Set<string>();
  let at = start.length;
  for (;;) {
    END.lastIndex = at;
    if (END.test(text)) return type;
    PARAMETER.lastIndex = at;
    const [whole = "", name = "", plain, quoted] = PARAMETER.exec(text) ?? [];
    if (name === "" || seen.has(name)) return undefined;
    if (name.startsWith("charset") && !(name === "charset" && isGood(plain ?? quoted ?? "")))
      return undefined;
    seen.add(name);
    at += whole.length;
  }
}

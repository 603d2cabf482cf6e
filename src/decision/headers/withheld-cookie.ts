import { isUtf8 } from "node:buffer";
import type { RawRequest, Readings } from "../../request/types.ts";
import { withHeaders } from "./changed-readings.ts";

/** The cookies for the application, as headers to set or remove. */
export interface OtherCookies {
  readonly set: readonly (readonly [name: string, value: string])[];
  readonly remove: readonly string[];
}

/**
 * A cookie that must not count for a request is also withheld from the application, which might read it. All other
 * cookies are kept.
 *
 * @param name - of the cookie
 */
export function withoutCookie(headers: RawRequest["headers"], name: string): OtherCookies {
  const others = headers
    .filter(([header]) => header === "cookie")
    .flatMap(([, value]) => value.split(";"))
    .map((pair) => pair.replace(/^[ \t]+/, ""))
    .filter((pair) => pair !== "" && !isOf(name, pair))
    .join("; ");
  const bytes = Buffer.from(others, "latin1");
  // a value that is not text cannot be set, so the whole header is removed
  return others === "" || !isUtf8(bytes)
    ? { set: [], remove: ["cookie"] }
    : { set: [["cookie", bytes.toString("utf8")]], remove: [] };
}

/** Parsers ignore white space around the name, and some ignore its letter case. */
function isOf(name: string, pair: string): boolean {
  const [written = ""] = pair.split("=", 1);
  return written.trim().toLowerCase() === name.toLowerCase();
}

/** Every reading of a request without a cookie: rules must not read what the application does not get. */
export function readingsWithoutCookie(
  readings: Readings,
  raw: RawRequest["headers"],
  name: string,
): Readings {
  const [left] = withoutCookie(raw, name).set;
  return withHeaders(readings, { cookie: left === undefined ? undefined : [left[1]] });
}

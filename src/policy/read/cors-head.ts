import { quoted } from "../../text/index.ts";
import type { Reporter } from "../diagnostics/reporter.ts";
import type { CorsIR } from "../ir.ts";
import { METHODS } from "../pattern/methods.ts";
import { placeOf } from "../syntax/place-of.ts";
import type { ScalarNode, YamlNode } from "../syntax/tree.ts";
import { CORS_KEYS } from "./keys.ts";
import { readFields, readFlag, readInteger, readItems, readString } from "./reader.ts";

const DEFAULTS = {
  credentials: false,
  methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
  headers: ["authorization", "content-type"],
  /** Seconds. */
  maxAge: 600,
} as const satisfies Omit<CorsIR, "origins">;

/** A day; browsers keep the answer to a preflight for two hours at most, or a day. */
const MAX_AGE = 86_400;

/** As browsers write an origin (RFC 6454, section 6.2): in lower case, and without a path. */
const ORIGIN =
  /^([a-z][a-z0-9+.-]{0,31}):\/\/(?:[a-z0-9_](?:[a-z0-9._-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::([1-9]\d{0,4}))?$/;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };
/** RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/i;

/** Origins that any site can have. */
const ANY = ["*", "null"];

/** Reads the `cors` head. */
export function readCorsHead(report: Reporter, node: YamlNode): CorsIR | undefined {
  const fields = readFields(report, node, "`cors`", CORS_KEYS);
  if (fields === undefined) return undefined;
  const origins = fields.require("origins");
  const [credentials, methods] = [fields.get("credentials"), fields.get("methods")];
  const [headers, maxAge] = [fields.get("headers"), fields.get("max_age")];
  const withCredentials =
    credentials === undefined ? DEFAULTS.credentials : readFlag(report, credentials, "`credentials`");
  return {
    origins: origins === undefined ? [] : readOrigins(report, origins, withCredentials),
    credentials: withCredentials,
    methods: methods === undefined ? DEFAULTS.methods : readMethods(report, methods),
    headers: headers === undefined ? DEFAULTS.headers : readHeaderNames(report, headers),
    maxAge: (maxAge && readInteger(report, maxAge, "`max_age`", [0, MAX_AGE])) ?? DEFAULTS.maxAge,
  };
}

function readOrigins(report: Reporter, node: YamlNode, credentials: boolean): readonly string[] {
  const texts = readTexts(report, node, "`origins`", "an origin", (scalar) => {
    const { text } = scalar;
    if (credentials && ANY.includes(text)) {
      const hint = "list the origins, or delete `credentials`";
      invalid(
        report,
        scalar,
        `${quoted(text)} cannot be used with \`credentials\`: it stands for every site`,
        hint,
      );
      return undefined;
    }
    if (ANY.includes(text)) return text;
    const [, scheme = "", port] = ORIGIN.exec(text) ?? [];
    if (scheme !== "" && (port === undefined || (port !== DEFAULT_PORTS[scheme] && Number(port) <= 65_535)))
      return text;
    const hint =
      "write scheme, host and port as browsers do, e.g. `https://app.example.com`: in lower case, without the default port and without a path";
    invalid(report, scalar, `${quoted(text)} is not a valid origin`, hint);
    return undefined;
  });
  if (node.kind === "sequence" && node.items.length === 0)
    report.error(placeOf(node), "empty-value", "`origins` must not be empty");
  return texts;
}

function readMethods(report: Reporter, node: YamlNode): readonly string[] {
  return readTexts(report, node, "`methods`", "a method", (scalar) => {
    if (METHODS.includes(scalar.text)) return scalar.text;
    invalid(report, scalar, `${quoted(scalar.text)} is not an HTTP method`, "write methods in upper case");
    return undefined;
  });
}

function readHeaderNames(report: Reporter, node: YamlNode): readonly string[] {
  return readTexts(report, node, "`headers`", "a header", (scalar) => {
    // a browser takes `*` for every header but `authorization`, and only without credentials
    if (scalar.text !== "*" && HEADER_NAME.test(scalar.text)) return scalar.text.toLowerCase();
    invalid(
      report,
      scalar,
      `${quoted(scalar.text)} is not a valid header name`,
      "list each header by its name",
    );
    return undefined;
  });
}

/** @returns the texts of a list that `read` accepts, each once */
function readTexts(
  report: Reporter,
  node: YamlNode,
  what: string,
  each: string,
  read: (scalar: ScalarNode) => string | undefined,
): readonly string[] {
  const texts = readItems(report, node, what).flatMap((item) => {
    const scalar = readString(report, item, each);
    return (scalar && read(scalar)) ?? [];
  });
  return [...new Set(texts)];
}

function invalid(report: Reporter, scalar: ScalarNode, message: string, hint: string): void {
  report.error(placeOf(scalar), "invalid-value", message, hint);
}

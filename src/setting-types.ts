import ipaddr from "ipaddr.js";
import * as z from "zod";
import { inBackticks } from "./text/index.ts";

/** The name of a value type in messages and in the reference, and its form in an environment variable. */
export interface ValueType {
  readonly name: string;
  readonly form: "text" | "number" | "boolean" | "list" | "json";
  /** What a JSON Schema says of it, where the Zod schema does not. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** A list of these, or a single one: gives the schema of an entry. */
  each?(): unknown;
  /** The value with every path in it made absolute. Absent: the value contains no paths. */
  absolute?(value: unknown, resolve: (path: string) => string): unknown;
}

/** The purpose of a key. `fallback` is the default as written in the file. */
export interface KeyInfo {
  readonly description: string;
  readonly fallback?: unknown;
  readonly required?: true;
}

export const valueTypes = z.registry<ValueType>();
export const keyInfo = z.registry<KeyInfo>();

function named<S extends z.ZodType>(
  schema: S,
  form: ValueType["form"],
  name: string,
  json?: ValueType["json"],
): S {
  valueTypes.add(schema, { name, form, ...(json && { json }) });
  return schema;
}

/** A value that may be a path or contain paths: `absolute` resolves them. */
export function holdsPaths<S extends z.ZodType>(
  schema: S,
  absolute: (value: z.output<S>, resolve: (path: string) => string) => z.output<S>,
): S {
  const type = valueTypes.get(schema);
  if (type === undefined) throw new Error("the value has no type");
  // a registry does not know which schema a value belongs to
  valueTypes.add(schema, { ...type, absolute: (value, resolve) => absolute(value as z.output<S>, resolve) });
  return schema;
}

/** A key with a default. */
export function setting<S extends z.ZodType>(schema: S, fallback: z.input<S>, description: string) {
  const key = schema.prefault(fallback as never);
  keyInfo.add(key, { description, fallback });
  return key;
}

/** A key that may be absent, which has its own meaning. */
export function optional<S extends z.ZodType>(schema: S, description: string) {
  const key = schema.optional();
  keyInfo.add(key, { description });
  return key;
}

/** A key that must be present. */
export function required<S extends z.ZodType>(schema: S, description: string) {
  keyInfo.add(schema, { description, required: true });
  return schema;
}

const expected = (name: string) => ({
  error: (issue: { input?: unknown }) => (issue.input === undefined ? "is missing" : `must be ${name}`),
});

export function text() {
  return named(z.string(expected("text")).min(1, "must not be empty"), "text", "text");
}

export function flag() {
  return named(z.boolean(expected("`true` or `false`")), "boolean", "true or false");
}

export function choice<const T extends string>(...values: readonly T[]) {
  const names = inBackticks(values);
  return named(z.enum(values, expected(values.length === 1 ? names : `one of ${names}`)), "text", names);
}

export function wholeNumber(min: number, max: number) {
  const name = `a whole number from ${String(min)} to ${String(max)}`;
  return named(
    z.number(expected(name)).refine((n) => Number.isInteger(n) && n >= min && n <= max, `must be ${name}`),
    "number",
    name,
    { type: "integer", minimum: min, maximum: max },
  );
}

export function ratio() {
  const name = "a number from 0 to 1";
  return named(
    z.number(expected(name)).refine((n) => n >= 0 && n <= 1, `must be ${name}`),
    "number",
    name,
    { minimum: 0, maximum: 1 },
  );
}

const DURATION = /^(\d{1,12})(ms|s|m|h)$/;
const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `250ms`, `30s`, `5m`, `1h`; parsed to milliseconds. */
export function duration(min: string, max: string) {
  const [least, most] = [parseDuration(min) ?? 0, parseDuration(max) ?? 0];
  const name = "a duration such as `250ms`, `30s`, `5m` or `1h`";
  return named(
    z.string(expected(name)).transform((value, context) => {
      const ms = parseDuration(value);
      if (ms === undefined) context.addIssue(`must be ${name}`);
      else if (ms < least || ms > most) context.addIssue(`must be from \`${min}\` to \`${max}\``);
      return ms ?? 0;
    }),
    "text",
    `a duration from ${min} to ${max}`,
    { pattern: DURATION.source },
  );
}

function parseDuration(value: string): number | undefined {
  const [, digits, unit] = DURATION.exec(value) ?? [];
  const factor = DURATION_UNITS[unit ?? ""];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** `10MB` is 10,000,000 and `10MiB` 10,485,760 bytes; a number alone counts bytes. */
export function size(min: number, max: number) {
  const name = "a size such as `10MB` or `10MiB`";
  return named(
    z.union([z.string(), z.number()], expected(name)).transform((value, context) => {
      const [, digits, unit] = /^(\d{1,15})([KMG]i?B|B|)$/.exec(String(value)) ?? [];
      const bytes = Number(digits ?? Number.NaN) * (SIZE_UNITS[unit ?? ""] ?? Number.NaN);
      if (Number.isNaN(bytes)) context.addIssue(`must be ${name}`);
      else if (bytes < min || bytes > max) {
        context.addIssue(`must be from ${String(min)} to ${String(max)} bytes`);
      }
      return bytes;
    }),
    "text",
    "a size such as 10MB (10^6 bytes each) or 10MiB (2^20)",
  );
}

/** YAML parses an unquoted 1.3 as a number, which is accepted, too. */
export function tlsVersion() {
  const name = '`"1.2"` or `"1.3"`';
  return named(
    z
      .union([z.literal("1.2"), z.literal("1.3"), z.literal(1.2), z.literal(1.3)], expected(name))
      .transform((value) => (Number(value) === 1.2 ? ("1.2" as const) : ("1.3" as const))),
    "text",
    "1.2 or 1.3",
  );
}

/** A file or folder, relative to the folder of gateway.yaml (to the working directory if there is no file). */
export function path() {
  const schema = named(z.string(expected("a path")).min(1, "must not be empty"), "text", "a path");
  return holdsPaths(schema, (value, resolve) => resolve(value));
}

export function url() {
  const name = "an http or https URL";
  return named(
    z.string(expected(name)).refine((value) => isUrl(value, ["http:", "https:"]), `must be ${name}`),
    "text",
    name,
  );
}

/** The address of an application: scheme, host and port; the path comes from the request. */
export function backendUrl() {
  const name = "a URL of scheme, host and port such as `http://127.0.0.1:3000`";
  return named(
    z.string(expected(name)).refine((value) => {
      if (!isUrl(value, ["http:", "https:", "h2c:"])) return false;
      const { pathname, search, hash, username, password } = new URL(value);
      return ["", "/"].includes(pathname) && `${search}${hash}${username}${password}` === "";
    }, `must be ${name}`),
    "text",
    "a URL of scheme (http, https, h2c), host and port",
  );
}

function isUrl(value: string, schemes: readonly string[]): boolean {
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  return (
    parsed !== undefined &&
    schemes.includes(parsed.protocol) &&
    parsed.hostname !== "" &&
    !/[\s#]/.test(value)
  );
}

export function ipAddress() {
  const name = "an IP address";
  return named(
    z
      .string(expected(name))
      .refine((value) => ipaddr.isValid(value) && !value.includes("%"), `must be ${name}`),
    "text",
    name,
  );
}

/** An address or a network; its user parses it. */
export function cidr() {
  const name = "an IP address or a network such as `10.0.0.0/8`";
  return named(
    z
      .string(expected(name))
      .refine(
        (value) => (value.includes("/") ? ipaddr.isValidCIDR(value) : ipaddr.isValid(value)),
        `must be ${name}`,
      ),
    "text",
    name,
  );
}

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** Parses `127.0.0.1:9191` or `[::1]:9191`; undefined if the text has another form. */
export function parseSocketAddress(value: string): SocketAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(value) ?? [];
  const address = bracketed ?? plain ?? "";
  const port = Number(digits);
  if (!ipaddr.isValid(address) || port > 65535 || (bracketed !== undefined && !address.includes(":")))
    return undefined;
  return { address, port };
}

/** @param wanted - what a message asks for if the value is not a list */
export function list<S extends z.ZodType>(item: S, wanted = "a list") {
  const name = `a list; each entry is ${valueTypes.get(item)?.name ?? "a value"}`;
  return named(z.array(item, expected(wanted)), "list", name);
}

/** A list of maps. */
export function maps<S extends z.ZodType>(item: S, name: string) {
  return named(z.array(item, expected(`a list of ${name}`)), "json", `a list of ${name}`);
}

/** A list, or a single entry. */
export function oneOrMore<S extends z.ZodType>(item: S) {
  const name = `${valueTypes.get(item)?.name ?? "a value"}, or a list of them`;
  const schema = z
    .preprocess((value) => (Array.isArray(value) || value === undefined ? value : [value]), z.array(item))
    .refine((items) => items.length > 0, "must not be empty");
  valueTypes.add(schema, { name, form: "list", each: () => item });
  return schema;
}

export function map<K extends z.core.$ZodRecordKey, S extends z.ZodType>(key: K, value: S, name: string) {
  return named(z.record(key, value, expected(`a map, ${name}`)), "json", `a map, ${name}`);
}

/** A map that may have some of these keys, and no other. */
export function mapOf<const T extends string, S extends z.ZodType>(
  keys: readonly T[],
  value: S,
  name: string,
) {
  const what = `a map of ${inBackticks(keys)}, ${name}`;
  return named(z.partialRecord(z.enum(keys), value, expected(what)), "json", what);
}
